"""Every Python block of the README and the documentation runs, and every command line parses."""

import json
import shlex
from pathlib import Path

import click
import pytest
from sybil import Sybil
from sybil.example import SybilFailure
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

import memenvs
from memenvs.train.cli import main as command_line
from registrations import forgotten

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if page.parent.name not in ("parts", "notes")
    and not page.stem.startswith("tutorial-")  # their commands run, too: test_tutorials.py
)
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def save_material(example):
    """A JSON block is a material: it is read, and stands in a file of its name for what follows."""
    file = Path(f"{json.loads(example.parsed)['name']}.json")
    file.write_text(example.parsed)
    memenvs.load_material(file)


def parse_commands(example):
    """A block of commands names commands and options that exist."""
    for line in example.parsed.splitlines():
        program, *words = shlex.split(line.removeprefix("$"), comments=True)
        assert line.startswith("$ ")
        if program == "memenvs":
            if words[0] == "--import":  # the one option before a command
                words = words[2:]
            command = command_line.commands[words[0]]
            if words[0] == "study":
                words = words[1:]
                command = command.commands[words[0]]
            with command.make_context(words[0], words[1:]):
                pass


BLOCKS = Sybil(
    parsers=[
        PythonCodeBlockParser(),
        CodeBlockParser(language="json", evaluator=save_material),
        CodeBlockParser(language="console", evaluator=parse_commands),
    ]
)


@pytest.fixture(autouse=True)
def _own_folder_and_registrations(tmp_path, monkeypatch):
    """Run in an empty folder, and forget what was registered."""
    monkeypatch.chdir(tmp_path)
    with forgotten():
        yield


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_blocks_run(page):
    for example in BLOCKS.parse(page).examples():
        example.evaluate()


def test_what_is_wrong_in_a_block_shows(tmp_path):
    faults = {
        "```python\nassert 1 == 2\n```\n": AssertionError,
        "```python\n>>> 1 + 1\n3\n```\n": SybilFailure,
        '```json\n{"format": "memenvs.material/1", "name": "n"}\n```\n': memenvs.MaterialError,
        "```console\n$ memenvs fly\n```\n": KeyError,
        "```console\n$ memenvs envs --colour\n```\n": click.NoSuchOption,
    }
    for text, error in faults.items():
        page = tmp_path / "page.md"
        page.write_text(text)
        (example,) = BLOCKS.parse(page).examples()
        with pytest.raises(error):
            example.evaluate()


def test_every_page_has_a_block_that_is_found():
    without = {"index", "theory", "contributing", "command-line", "api", "headroom", "memories"}
    without |= {"architecture", "datasets"}
    for page in PAGES:
        if page.stem not in without:
            assert list(BLOCKS.parse(page).examples()), page
