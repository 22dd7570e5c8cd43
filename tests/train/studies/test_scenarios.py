"""`memenvs scenarios`: a row for each policy and scenario, by what the policy itself holds."""

import json

import pytest
from click.testing import CliRunner

from memenvs.materials.scenarios import SCENARIOS
from memenvs.train.cli import main
from memenvs.train.studies.scenarios import run_scenarios, verdict


def kept_by(*policies):
    return {
        (row["policy"], row["scenario"]): row["kept"] for row in run_scenarios(policies, episodes=2)
    }


def test_the_optimal_memory_keeps_everything_and_first_in_first_out_what_was_told_last():
    kept = kept_by("optimal", "fifo", "mem0", "mem0:legacy", "graphiti")
    assert all(kept["optimal", scenario.name] == 1 for scenario in SCENARIOS)
    # Worked out by hand: with S = 2 the last two of lisbon, piano, berlin; all three of compatible.
    fifo = {name for policy, name in kept if policy == "fifo" and kept[policy, name]}
    assert fifo == {"contradiction", "compatible"}
    assert kept["mem0", "duplicate"] == 1
    # The reported failure: what is contradicted goes, and what contradicts it is not added.
    assert kept["mem0:legacy", "contradiction"] == 0
    assert kept["graphiti", "contradiction"] == kept["graphiti", "late-old-fact"] == 1
    assert kept["graphiti", "compatible"] == 0  # its stand-in takes them for a contradiction


def test_command():
    arguments = ["scenarios", "--policy", "fifo", "--policy", "letta", "--episodes", "1"]
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert len(document["scenarios"]) == 10
    assert len(document["rows"]) == 20
    table = CliRunner().invoke(main, arguments).stdout
    assert [line.split()[0] for line in table.splitlines()[2:4]] == ["fifo", "letta"]
    assert "thirteen-wordings: Holds one wording of each." in table


def test_bad_input_is_one_line():
    result = CliRunner().invoke(main, ["scenarios", "--policy", "lifo"])
    assert result.exit_code == 2
    assert "no policy is named 'lifo'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_verdicts():
    assert [verdict(share) for share in (0.0, 0.35, 1.0)] == ["lost", "35%", "kept"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_compare_plays_them(scenario):
    name = f"scenario-{scenario.name}"
    capacity = str(scenario.capacity)
    arguments = ["compare", "--material", name, "--capacity", capacity, "--policy", "optimal"]
    result = CliRunner().invoke(main, [*arguments, "--episodes", "1", "--json"])
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)["rows"]
    assert row["precision"] == pytest.approx(row["frontier_at_capacity"])
