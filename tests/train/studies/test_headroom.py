"""The headroom table: what is measured, and how it is written."""

import json
import subprocess
import sys

import pytest

from memenvs.policies import make
from memenvs.train.places import place_of_id
from memenvs.train.play import play
from memenvs.train.studies.headroom import REFERENCES, find_rows, headroom
from memenvs.train.studies.headroom_report import as_markdown
from memenvs.train.units import units as units_of

IDS = ["memenvs/Hidden-v0", "memenvs/OdysseyNoisy-v0", "memenvs/SingleQuery-v0"]


@pytest.fixture(scope="module")
def table():
    return headroom(find_rows(IDS), split="validation", count=6)


def test_rows_hold_every_reference(table):
    for row, (identifier, units) in zip(
        table, zip(IDS, ("materials", "episodes", "materials"), strict=True), strict=True
    ):
        assert (row.id, row.units, row.count) == (identifier, units, 6)
        assert set(row.cells) == {*REFERENCES, "optimum"}
        assert row.proved
        optimum = row.cells["optimum"]
        assert optimum.share == 1
        for name in REFERENCES:
            cell = row.cells[name]
            assert 0 <= cell.mean <= optimum.mean + 1e-12
            assert cell.share == pytest.approx(cell.mean / optimum.mean)
            assert cell.interval[0] <= cell.mean <= cell.interval[1]
        assert row.cells["clairvoyant"].mean > row.cells["random"].mean


def test_a_fixed_material_has_one_optimum(table):
    optimum = table[1].cells["optimum"]
    assert optimum.mean == pytest.approx(0.8)
    assert optimum.interval == pytest.approx((0.8, 0.8))


def test_it_is_regenerated_alike_by_more_processes(table):
    again = headroom(find_rows(IDS[:2]), split="validation", count=6, jobs=2)
    assert again == table[:2]
    assert as_markdown(again, "validation") == as_markdown(table[:2], "validation")


def test_the_page(table):
    page = as_markdown(table, "validation")
    assert page.count("| `memenvs/Hidden-v0` | materials |") == 2
    assert "| `memenvs/OdysseyNoisy-v0` | episodes |" in page
    assert "6 materials of the validation split" in page
    assert all(len(line) < 400 for line in page.splitlines())


def test_a_last_batch_that_is_not_full_counts_once():
    place = place_of_id("memenvs/Hidden-v0", split="validation", count=5)
    ended = [
        play(env, make("fifo", env), units_of(place.instances)) for env in map(place.batch, (5, 3))
    ]
    assert [each.values for each in ended[0]] == [each.values for each in ended[1]]


def test_a_split_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="has 512 materials, not 513"):
        headroom(find_rows(["memenvs/Hidden-v0"]), split="validation", count=513)


def test_the_command(tmp_path):
    out = tmp_path / "new" / "headroom.md"
    command = [sys.executable, "-c", "from memenvs.train.cli import main; main()", "headroom"]
    options = ["--materials", "3", "--split", "validation", "--json", "--out", str(out)]
    run = subprocess.run([*command, IDS[1], *options], capture_output=True, text=True, check=True)
    document = json.loads(run.stdout)
    assert document["split"] == "validation"
    assert document["rows"][0]["optimum"]["mean"] == pytest.approx(0.8)
    assert out.read_text().startswith("# Headroom")
    run = subprocess.run([*command, "memenvs/No-v0"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "has no optimum to measure against" in run.stderr
