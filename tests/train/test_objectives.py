"""Comparisons are made by the objective of what is played."""

from __future__ import annotations

from typing import Any

import pytest

from memenvs.envs.memorization.rules import Rules
from memenvs.materials.generator.tiers import TIERS
from memenvs.train.compare import compare
from memenvs.train.experiment import Experiment
from memenvs.train.optima import Optima


def summaries(**options: Any) -> dict[str, dict[str, Any]]:
    found = compare(Experiment.model_validate(options))
    return {record["policy"]: record for record in found.summary}


def test_at_level_0_the_one_that_retrieves_is_first_and_regrets_nothing() -> None:
    policies = ["clairvoyant", "optimal", "fifo"]
    found = summaries(env="memenvs/SingleQuery-v0", materials=12, policy=policies)
    assert found["clairvoyant"]["objective"] == "precision of the asked query"
    assert found["clairvoyant"]["share"] == pytest.approx(1.0)
    assert found["clairvoyant"]["regret"] == pytest.approx(0.0)
    assert found["clairvoyant"]["avoidable_regret"] == pytest.approx(0.0)
    assert found["clairvoyant"]["utility"] > found["fifo"]["utility"]


@pytest.mark.parametrize("tier", ["hidden", "probe", "conflicting"])
def test_the_best_course_attains_what_the_order_of_arrival_leaves(tier: str) -> None:
    policies = ["optimal-course", "clairvoyant", "fifo", "optimal"]
    found = summaries(material=[tier], materials=12, policy=policies)
    assert found["optimal-course"]["avoidable_regret"] == pytest.approx(0.0, abs=1e-9)
    assert found["optimal-course"]["order_regret"] > 0.5
    assert found["clairvoyant"]["avoidable_regret"] < 0.01  # it looks no claim ahead
    for record in found.values():
        assert record["avoidable_regret"] >= -1e-9


def test_end_to_end_environments_are_compared_end_to_end() -> None:
    options = {"env": "memenvs/EndToEnd-v0", "materials": 4, "policy": ["fifo", "reservoir"]}
    for row in compare(Experiment.model_validate(options)).rows:
        assert row["objective"] == "end-to-end"
        assert row["utility"] <= row["precision"] + 1e-12
        assert row["share"] == pytest.approx(row["utility"] / row["frontier_at_capacity"])


def test_a_reader_of_one_item_makes_everything_a_poor_memory() -> None:
    found = summaries(env="memenvs/OdysseyRead1-v0", policy=["optimal"], episodes=2)
    assert found["optimal"]["utility"] == pytest.approx(0.60)
    assert found["optimal"]["full_context"] == pytest.approx(0.40)
    assert found["optimal"]["share"] == pytest.approx(1.0)


def test_the_best_without_a_limit_leaves_out_what_misleads() -> None:
    """End-to-end a memory of everything is worth less than the best one of a few claims."""
    rules = Rules(capacity=4, utility="end-to-end")
    for material in TIERS["end-to-end"].split("train")[:3]:
        found = Optima().reference(material, rules, 4.0)
        assert found.saturated >= found.at_capacity.value > found.full
