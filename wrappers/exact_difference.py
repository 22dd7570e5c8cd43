"""Privileged shaping by the exact utility difference of each write."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from memenvs.envs.memorization.episode import Episode
from memenvs.material.incidence import BoolArray
from memenvs.wrappers.difference import DifferenceShaping
from memenvs.wrappers.episodes import expected_utilities


class ExactDifferenceShaping(DifferenceShaping):
    """Add the exact utility difference of each write: u(M') - u(M) under truth and p_D.

    u is the utility that the environment pays. The differences are those of a potential, so over an
    episode they sum to ``weight`` times the utility of the final memory. PRIVILEGED: truth and p_D
    reach the agent through the reward; report it apart from what was trained on settlements.
    """

    def __init__(self, env: gym.Env[Any, Any], weight: float = 1.0) -> None:
        super().__init__(env, weight)

    def difference(self, episode: Episode, before: BoolArray, after: BoolArray) -> float:
        """Difference of the exact utilities."""
        first, second = expected_utilities(episode, np.stack([before, after]))
        return float(second - first)
