"""What an episode ends with, also where a time limit cuts it off."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from memenvs.envs.single import SingleEnv


class FinalInfo(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Puts the finals of the family into ``info`` where an episode is truncated from outside.

    For Gymnasium's ``TimeLimit``, which an environment cannot see:
    ``FinalInfo(gym.make("memenvs/Hidden-v0", max_episode_steps=20))``. The vector environments know
    their ``max_episode_steps`` and need no wrapper. Raises ``TypeError`` around an environment that
    is none of the suite's.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, SingleEnv):
            raise TypeError(f"{type(env.unwrapped).__name__} is no environment of memenvs")
        self._single = env.unwrapped

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step; at a truncation ``info`` holds what the episode ends with."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if truncated and not info["final"]:
            info = info | self._single.finals() | {"final": True}
        return observation, reward, terminated, truncated, info
