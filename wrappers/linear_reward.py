"""A reward vector made a number again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np


class LinearReward(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Pay the weighted sum of a reward vector: weight · (coverage, precision).

    ``env`` has a ``reward_space``, as ``VectorReward`` gives it; ``weight`` has one number for each
    of its entries. ``info`` keeps ``vector_reward`` and ``reward_weights``, as MO-Gymnasium's own
    ``LinearReward`` does. Raises ``TypeError`` for an environment with a scalar reward and
    ``ValueError`` for weights that do not fit.
    """

    def __init__(self, env: gym.Env[Any, Any], weight: Sequence[float]) -> None:
        given = np.array(weight, dtype=np.float64)
        gym.utils.RecordConstructorArgs.__init__(self, weight=given.tolist())
        gym.Wrapper.__init__(self, env)
        if not env.has_wrapper_attr("reward_space"):
            raise TypeError(f"{env} pays a number already; put VectorReward around it first")
        shape = env.get_wrapper_attr("reward_space").shape
        if given.shape != shape or not np.isfinite(given).all():
            raise ValueError(f"weight={weight!r} does not hold {shape[0]} finite numbers")
        self.weight = given

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; the reward is a number."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        vector = np.asarray(reward)
        info = info | {"vector_reward": vector, "reward_weights": self.weight.copy()}
        return observation, float(vector @ self.weight), terminated, truncated, info
