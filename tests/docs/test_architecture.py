"""The page on the architecture: the files that it names are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def test_the_way_of_a_claim_takes_at_most_twelve_files_that_exist():
    steps = re.findall(r"│ (\d+) +(\S+\.py)", PAGE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert len(steps) <= 12
    for _, file in steps:
        assert (ROOT / file).is_file(), file


def test_files_and_folders_of_the_page_exist():
    named = re.findall(r"`([a-z_]+/[\w/.-]+)`", PAGE)
    assert named
    for name in named:
        assert (ROOT / name).exists(), name
