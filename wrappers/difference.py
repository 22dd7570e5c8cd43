"""What the two shapings share: the utility difference that a decision made, added to its reward."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import gymnasium as gym

from memenvs.envs.memorization.episode import Episode
from memenvs.material.incidence import BoolArray
from memenvs.wrappers.episodes import check_memorization, episode_of


class DifferenceShaping(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Add ``weight`` times a difference to the reward of each decision that changes the memory.

    ``info["shaping"]`` is what was added, 0.0 where nothing changed.
    """

    privileged: ClassVar[bool] = True  # it pays by what no agent may know

    def __init__(self, env: gym.Env[Any, Any], weight: float, **recorded: Any) -> None:
        check_memorization(env, type(self).__name__)
        gym.utils.RecordConstructorArgs.__init__(self, weight=weight, **recorded)
        gym.Wrapper.__init__(self, env)
        self.weight = weight

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one decision and add what it was worth."""
        episode = episode_of(self)
        before = episode.memory
        observation, reward, terminated, truncated, info = self.env.step(action)
        after = episode.memory
        changed = bool((before != after).any())
        added = self.weight * self.difference(episode, before, after) if changed else 0.0
        info = info | {"shaping": added}
        return observation, float(reward) + added, terminated, truncated, info

    @abstractmethod
    def difference(self, episode: Episode, before: BoolArray, after: BoolArray) -> float:
        """Worth of going from one memory ``(n_claims,)`` to another."""
