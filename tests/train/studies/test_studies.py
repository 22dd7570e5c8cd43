"""The table of studies, what every one of them answers, and the older names of the commands."""

import csv
import json

import pytest

from commands import memenvs_cli
from memenvs.train.studies.catalog import STUDIES

# As little of each study as it takes.
SHORT = {
    "headroom": ["memenvs/OdysseyNoisy-v0", "--materials", "3"],
    "scenarios": ["--policy", "fifo", "--episodes", "2"],
    "tree-tasks": ["--tasks", "2"],
    "gui": ["--tasks", "tabs-2", "--systems", "guarded", "--episodes", "3", "--bases", "1"],
    "tuning": [
        *("readable", "--trials", "1", "--rounds", "0"),
        *("--materials", "2", "--final", "2"),
    ],
}


def test_every_study_is_listed_with_a_line():
    listed = memenvs_cli("study").output
    for study in STUDIES:
        (line,) = (each for each in listed.splitlines() if each.split()[:1] == [study.name])
        assert len(line.split()) > 4


@pytest.mark.parametrize("name", SHORT)
def test_a_study_writes_its_result_and_the_scores_behind_it(name, tmp_path):
    result = memenvs_cli("study", name, *SHORT[name], "--json", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert json.loads((tmp_path / f"{name}.json").read_text()) == document
    assert "|" in (tmp_path / f"{name}.md").read_text()
    about = json.loads((tmp_path / "scores.json").read_text())
    assert about["settings"]["study"] == name
    assert {"command", "versions", "commit"} <= set(about)
    with (tmp_path / "scores.csv").open(newline="") as stream:
        assert list(csv.DictReader(stream))


def test_the_figures_of_headroom_are_means_of_its_scores(tmp_path):
    words = ["study", "headroom", *SHORT["headroom"], "--json", "--out", str(tmp_path)]
    (row,) = json.loads(memenvs_cli(*words).stdout)["rows"]
    with (tmp_path / "scores.csv").open(newline="") as stream:
        scores = list(csv.DictReader(stream))
    for name in ("random", "hand", "bayes", "clairvoyant", "optimum"):
        own = [float(each["utility"]) for each in scores if each["reference"] == name]
        assert len(own) == 3
        assert row[name]["mean"] == pytest.approx(sum(own) / 3)


def test_a_seed_decides_the_episodes_of_a_fixed_material():
    def reached(*more):
        words = ["study", "headroom", *SHORT["headroom"], "--json", *more]
        return memenvs_cli(*words).stdout

    assert reached() == reached("--seed", "0")
    assert reached() != reached("--seed", "1")


@pytest.mark.parametrize("name", ["headroom", "scenarios", "tree-tasks"])
def test_an_older_name_gives_the_same_result(name, tmp_path):
    older = memenvs_cli(name, *SHORT[name], "--json")
    assert older.exit_code == 0, older.output
    assert older.stdout == memenvs_cli("study", name, *SHORT[name], "--json").stdout


@pytest.mark.parametrize(
    ("format", "begins"),
    [("markdown", "| policy |"), ("latex", r"\begin{tabular}"), ("csv", "policy,1,2")],
)
def test_a_study_is_printed_in_every_format(format, begins):
    result = memenvs_cli("study", "scenarios", *SHORT["scenarios"], "--format", format)
    assert result.stdout.startswith(begins)
    assert "fifo" in result.stdout


def test_an_unknown_study_or_tier_is_refused():
    assert "No such command 'none'" in memenvs_cli("study", "none").stderr
    result = memenvs_cli("study", "tuning", "none")
    assert result.exit_code == 2
    assert "no tier is named 'none'; choose from readable" in result.stderr
