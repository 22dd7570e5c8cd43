"""Policies on the scenarios in which memories are reported to fail: kept or lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memenvs.envs.levels import LEVELS
from memenvs.materials.scenarios import SCENARIOS
from memenvs.policies import policy_class
from memenvs.policies.published import TODAY
from memenvs.policies.published.judge import stand_in_alone
from memenvs.train.places import Instance, Place
from memenvs.train.play import units
from memenvs.train.playing import Playing

EPISODES = 20  # the queries settled on the way are drawn
DEFAULT_POLICIES = ("fifo", *TODAY, "trust", "optimal")


@stand_in_alone()
def run_scenarios(
    policies: Sequence[str] = DEFAULT_POLICIES, *, episodes: int = EPISODES, seed: int = 0
) -> list[dict[str, Any]]:
    """Play every scenario at level 1b, at its own capacity; a row for each policy and scenario.

    ``kept`` is the share of episodes that ended with what a good memory holds, in what the policy
    itself holds valid. No model is asked, whatever is configured: the observable stand-in judges.
    Raises ``ValueError`` for an unknown policy before anything is played.
    """
    for name in policies:
        policy_class(name)
    rows = []
    for scenario in SCENARIOS:
        material = scenario.material()
        arguments = {"material": material, "capacity": scenario.capacity, **LEVELS["1b"]}
        place = Place("", arguments, (Instance(material.name, material),))
        playing = Playing(place, episodes=episodes, seed=seed)
        for name in policies:
            kept = 0
            for ended in playing.all(name, units(place.instances, episodes, seed)):
                own = zip(material.claim_ids, ended.own, strict=True)
                kept += scenario.kept([id for id, stored in own if stored])
            rows.append({"policy": name, "scenario": scenario.name, "kept": kept / episodes})
    return rows


def verdict(kept: float) -> str:
    """Say it in a word; a share where the episodes differ."""
    if kept in (0.0, 1.0):
        return "kept" if kept else "lost"
    return f"{kept:.0%}"
