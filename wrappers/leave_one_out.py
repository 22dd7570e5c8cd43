"""Privileged credit: what each stored claim is worth to the memory it is part of."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from memenvs.envs.memorization.episode import Episode
from memenvs.material.incidence import FloatArray
from memenvs.wrappers.episodes import check_memorization, episode_of, expected_utilities


class LeaveOneOutCredit(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Say after each settlement what would be lost without each stored claim.

    ``info["leave_one_out"]`` ``(S,)`` is u(M) - u(M without the slot's claim) under truth and p_D,
    in the order of the observation's ``memory``; 0 for an empty slot, negative where a claim does
    harm. PRIVILEGED: for credit assignment in training and for analysis.
    """

    privileged: ClassVar[bool] = True

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        check_memorization(env, "LeaveOneOutCredit")
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one decision, and assign the credit where something was settled."""
        episode = episode_of(self)
        observation, reward, terminated, truncated, info = self.env.step(action)
        if episode.fresh:
            info = info | {"leave_one_out": leave_one_out(episode)}
        return observation, reward, terminated, truncated, info


def leave_one_out(episode: Episode) -> FloatArray:
    """Utility lost without the claim of each slot: ``(S,)``."""
    held = np.flatnonzero(episode.slots.occupied)
    memories = np.repeat(episode.memory[None], len(held) + 1, axis=0)
    memories[np.arange(len(held)), episode.slots.claims[held]] = False
    utilities = expected_utilities(episode, memories)
    lost = np.zeros(len(episode.slots.claims))
    lost[held] = utilities[-1] - utilities[:-1]
    return lost
