"""Policies on the scenarios in which memories are reported to fail: kept or lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.materials.scenarios import SCENARIOS
from memenvs.policies import make, policy_class
from memenvs.policies.published import TODAY
from memenvs.policies.published.judge import stand_in_alone
from memenvs.train.own_memory import play_own
from memenvs.train.play import episode_seed

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
        env = MemorizationEnv(material, capacity=scenario.capacity, **LEVELS["1b"])
        for name in policies:
            policy = make(name, env, seed=seed)
            kept = 0
            for episode in range(episodes):
                held = play_own(env, policy, material, episode_seed(seed, material.name, episode))
                ids = [id for id, stored in zip(material.claim_ids, held, strict=True) if stored]
                kept += scenario.kept(ids)
            rows.append({"policy": name, "scenario": scenario.name, "kept": kept / episodes})
    return rows


def verdict(kept: float) -> str:
    """Say it in a word; a share where the episodes differ."""
    if kept in (0.0, 1.0):
        return "kept" if kept else "lost"
    return f"{kept:.0%}"
