"""The matrix of payoffs by command, against single games, and what is refused."""

import json

import pytest

from commands import memenvs_cli
from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import make
from memenvs.train.batches import episode_seeds
from memenvs.train.evaluate import play
from memenvs.train.games.payoff import run_payoffs


def test_without_attacks_it_is_what_the_writer_reaches_alone():
    tier = TIERS["hidden"]
    materials = list(tier.split("validation")[:3])
    env = MemorizationEnv(materials, **tier.preset)
    seeds = episode_seeds(3)
    alone = [
        play(env, make("trust", env), material, seed)["precision"]
        for material, seed in zip(materials, seeds, strict=True)
    ]
    rows = run_payoffs(["trust"], ["wait"], materials=3, split="validation")
    assert rows[0]["precision"] == pytest.approx(sum(alone) / 3)


def test_the_command_prints_every_pair():
    arguments = [
        "--policy",
        "fifo",
        "--policy",
        "trust",
        "--opponent",
        "wait",
        "--opponent",
        "late",
    ]
    result = memenvs_cli("payoff", *arguments, "--materials", "2", "--json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    assert [(row["policy"], row["opponent"]) for row in rows] == [
        ("fifo", "wait"),
        ("fifo", "late"),
        ("trust", "wait"),
        ("trust", "late"),
    ]
    assert all(row["precision_low"] <= row["precision"] <= row["precision_high"] for row in rows)
    asked = memenvs_cli(
        "payoff", "--policy", "fifo", "--opponent", "persistent", "--materials", "2"
    )
    assert asked.exit_code == 0, asked.stderr
    assert "persistent" in asked.stdout


@pytest.mark.parametrize(
    ("opponents", "problem"),
    [
        (["nobody"], "no opponent is named 'nobody'; choose from wait, random"),
        (["late", "honest"], "poisoners and askers play different games"),
    ],
)
def test_what_cannot_be_played_is_one_line(opponents, problem):
    arguments = [word for name in opponents for word in ("--opponent", name)]
    result = memenvs_cli("payoff", "--policy", "fifo", *arguments, "--materials", "2")
    assert result.exit_code == 2
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
