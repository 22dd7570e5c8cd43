"""The table of scores: written as rows finish, gone on with, and enough for every figure."""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from commands import answer, memenvs_cli
from memenvs.material.files import save_materials
from memenvs.materials.odyssey import odyssey
from memenvs.train import playing
from memenvs.train.scores import read_scores

RECOMPUTE = Path(__file__).parents[2] / "docs" / "examples" / "recompute.py"
SIXTH = "failing:Sixth"  # fails in the sixth episode
COMMON = ("compare", "--material", "odyssey", "--capacity", "3", "--policy", "fifo")


@pytest.fixture
def played(monkeypatch):
    """Count the units that are played."""
    found = []

    def play(env, policy, units, layer):
        found.extend(units)
        return original(env, policy, units, layer)

    original = playing.play
    monkeypatch.setattr(playing, "play", play)
    return found


def plain_rows(folder):
    with (folder / "scores.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_row_has_what_it_is_of_and_what_it_reached(tmp_path):
    answer(*COMMON, "--episodes", "2", "--out", str(tmp_path))
    rows = [row for row in plain_rows(tmp_path) if row["policy"] == "fifo"]
    # fifo keeps e4, e5, e6: q6 .20, q5 .05, q7 .05; three claims reach .80 at best.
    assert len(rows) == 2
    for episode, row in enumerate(rows):
        assert row["family"] == "memorization"
        assert (row["instance"], row["episode"], row["capacity"]) == ("odyssey", str(episode), "3")
        assert (row["size"], row["illegal"], row["status"], row["reason"]) == ("3", "0", "ok", "")
        assert float(row["precision"]) == pytest.approx(0.30)
        assert float(row["frontier"]) == float(row["frontier_at_capacity"]) == pytest.approx(0.80)
        assert float(row["full_context"]) == pytest.approx(1.0)
        assert row["proved"] == "true"
        # six decisions, one query after each second of them but the last, then fifteen
        assert row["settlements"] == "17"
    assert rows[0]["seed"] != rows[1]["seed"]
    about = json.loads((tmp_path / "scores.json").read_text())
    assert about["settings"]["material"] == ["odyssey"]
    assert {"command", "versions", "commit", "device", "columns"} <= set(about)


def test_the_same_command_goes_on_where_it_stopped(tmp_path, played):
    options = (*COMMON, "--policy", "reservoir", "--episodes", "4", "--out", str(tmp_path))
    whole = answer(*options)
    before = plain_rows(tmp_path)
    assert len(played) == len(before) == 3 * 4  # the random policy is the zero of a scale
    table = tmp_path / "scores.csv"
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join(lines[:8]) + lines[8][:20])  # killed while it wrote
    played.clear()
    assert answer(*options) == whole
    assert len(played) == 12 - 7
    assert sorted(map(str, plain_rows(tmp_path))) == sorted(map(str, before))
    played.clear()
    assert answer(*options, "--policy", "longest")["summary"][:2] == whole["summary"]
    assert len(played) == 4


def test_a_name_is_no_formula_to_a_spreadsheet_and_is_read_as_it_was(tmp_path, played):
    save_materials([replace(odyssey(), name="=1+1")], tmp_path / "m.jsonl")
    options = ("compare", "--material", str(tmp_path / "m.jsonl"), "--policy", "fifo")
    answer(*options, "--out", str(tmp_path / "out"))
    for table in (tmp_path / "out").glob("*.csv"):
        with table.open(newline="") as stream:
            assert not [c for line in csv.reader(stream) for c in line if c.startswith("=")]
    assert {row["instance"] for row in read_scores(tmp_path / "out" / "scores.csv")} == {"=1+1"}
    played.clear()
    answer(*options, "--out", str(tmp_path / "out"))
    assert played == []


def test_other_settings_in_a_folder_are_refused_in_one_line(tmp_path):
    options = (*COMMON, "--episodes", "2", "--out", str(tmp_path))
    answer(*options)
    before = (tmp_path / "scores.csv").read_bytes()
    result = memenvs_cli(*options, "--seed", "7")
    assert result.exit_code == 2
    assert "holds scores of other settings: seed was 0 and now is 7" in result.stderr
    assert result.stderr.count("\n") == 1
    assert (tmp_path / "scores.csv").read_bytes() == before


def test_a_table_of_something_else_is_refused(tmp_path):
    (tmp_path / "scores.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a table of scores"):
        read_scores(tmp_path / "scores.csv")


def test_an_episode_that_fails_costs_its_own_row(tmp_path):
    options = (*COMMON, "--policy", SIXTH, "--episodes", "7", "--out", str(tmp_path), "--json")
    result = memenvs_cli(*options)
    assert result.exit_code == 1
    assert f"{SIXTH} at S = 3 failed in 1 episode, first in episode 5 of odyssey" in result.stderr
    found = {record["policy"]: record for record in json.loads(result.stdout)["summary"]}
    assert found[SIXTH]["precision"] == found["fifo"]["precision"]
    rows = [row for row in plain_rows(tmp_path) if row["policy"] == SIXTH]
    assert [row["status"] for row in rows] == ["ok"] * 5 + ["failed", "ok"]
    assert rows[5]["reason"] == "OSError: the connection is lost"
    assert rows[5]["precision"] == rows[5]["settled"] == ""
    assert all(row["status"] == "ok" for row in plain_rows(tmp_path) if row["policy"] != SIXTH)


def test_what_failed_is_tried_again(tmp_path, monkeypatch):
    options = (*COMMON, "--policy", SIXTH, "--episodes", "7", "--out", str(tmp_path))
    assert memenvs_cli(*options).exit_code == 1
    monkeypatch.setattr("failing.SIXTH", -1)
    assert memenvs_cli(*options).exit_code == 0
    assert {row["status"] for row in plain_rows(tmp_path)} == {"ok"}
    assert len(plain_rows(tmp_path)) == 3 * 7


@pytest.mark.parametrize(
    "place",
    [
        ("--material", "odyssey-noisy", "--capacity", "2", "--capacity", "3", "--episodes", "6"),
        ("--material", "hidden", "--materials", "5", "--seed", "3"),
    ],
)
def test_the_summary_follows_from_the_table_alone(tmp_path, place):
    policies = ("--policy", "fifo", "--policy", "reservoir", "--policy", "random")
    found = answer("compare", *place, *policies, "--out", str(tmp_path))
    printed = subprocess.run(
        [sys.executable, str(RECOMPUTE), str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    again = {(r["policy"], r["capacity"]): r for r in map(json.loads, printed.splitlines())}
    assert len(again) == len(found["summary"])
    for record in found["summary"]:
        computed = again[record["policy"], record["capacity"]]
        for name, value in computed.items():
            assert record[name] == pytest.approx(value, abs=1e-12), name


class Corridor(gym.Env):
    """Walk to the right end of a corridor; a wall on the left cannot be walked into."""

    def __init__(self, length=4):
        self.length = length
        self.observation_space = gym.spaces.Discrete(length + 1)
        self.action_space = gym.spaces.Discrete(2)

    def action_masks(self):
        return np.array([self.place > 0, True])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.steps = 0
        return 0, {}

    def step(self, action):
        assert self.action_masks()[action]
        self.place, self.steps = self.place + (1 if action else -1), self.steps + 1
        return self.place, -1.0, self.place == self.length, self.steps == 50, {}


def test_an_environment_that_a_user_registered_is_compared_by_its_return(tmp_path):
    gym.register("tests/Corridor-v0", Corridor)
    try:
        found = answer("compare", "--env", "tests/Corridor-v0", "--out", str(tmp_path))
    finally:
        gym.registry.pop("tests/Corridor-v0")
    (record,) = found["summary"]
    assert (record["policy"], record["episodes"]) == ("random", 20)
    assert -50 <= record["return"] <= -4
    assert record["return"] == -record["length"]
    assert record["low"] < record["return"] < record["high"]
    assert {row["family"] for row in plain_rows(tmp_path)} == {""}


def test_the_script_says_in_one_sentence_what_it_cannot_compute(tmp_path):
    found = subprocess.run([sys.executable, RECOMPUTE, tmp_path], capture_output=True, text=True)
    assert found.returncode == 2
    assert "there is no scores.json" in found.stderr
    assert "Traceback" not in found.stderr
