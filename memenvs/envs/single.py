"""One episode as Gymnasium's environment: what the scalar environments of all families share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from memenvs.counter import episode_key
from memenvs.envs.arguments import check_render_mode, read_actions, read_options
from memenvs.envs.family import Family

Observation = dict[str, Any]  # of arrays; a layout names their columns


class SingleEnv(gym.Env[Observation, Any], ABC):
    """One episode of a family.

    Arguments of a reset that are refused leave the episode as it was; where beginning one fails
    later there is no episode, and ``step`` asks for a reset. ``info`` has the same keys from the
    reset to the end: what an episode ends with is zero before, and ``info["final"]`` says whether
    it is there. Gymnasium's ``TimeLimit`` ends an episode from outside: put
    ``memenvs.wrappers.FinalInfo`` around it.
    """

    family: ClassVar[Family]

    def open(self, render_mode: str | None) -> None:
        """Check the render mode; no episode has begun."""
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._begun = False

    @property
    @abstractmethod
    def illegal(self) -> int:
        """Illegal actions of the episode so far."""

    @abstractmethod
    def begin(self, key: np.uint64, wanted: Any) -> None:
        """Begin an episode by its key, in the instance that is ``wanted``, or (None) drawn by it.

        Only ``None`` and what ``check_instance`` gave is wanted.
        """

    @abstractmethod
    def check_instance(self, given: Any) -> Any:
        """Give an instance that can be played; raises an error that says why this one cannot."""

    @abstractmethod
    def act(self, action: Any) -> float:
        """Take one decision; gives the reward."""

    @abstractmethod
    def over(self) -> tuple[bool, bool]:
        """Say whether the episode came to its end, or to the family's own limit of steps."""

    @abstractmethod
    def observe(self) -> Observation:
        """Give the observation, in arrays that are the caller's."""

    @abstractmethod
    def finals(self) -> dict[str, Any]:
        """Give what the episode would end with now, by the names of ``family.finals``."""

    @abstractmethod
    def frame(self) -> Any:
        """Render the episode in ``render_mode``."""

    def extras(self) -> dict[str, Any]:
        """Give what else ``info`` holds, in every step."""
        return {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; ``options`` may name the instance that it plays."""
        wanted = read_options(options, (self.family.instance,)).get(self.family.instance)
        if wanted is not None:
            wanted = self.check_instance(wanted)
        super().reset(seed=seed)
        self._begun = False  # where the next line fails there is no episode
        self.begin(episode_key(self.np_random), wanted)
        self._begun = True
        if self.render_mode == "human":
            self.render()
        return self._outcome()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one decision.

        Raises ``ValueError`` for an action of another shape or type, ``RuntimeError`` outside of an
        episode.
        """
        self.check_begun()
        if any(self.over()):
            raise RuntimeError("the episode is over; call reset()")
        reward = self.act(read_actions(action, self.action_space))
        observation, info = self._outcome()
        terminated, truncated = self.over()
        if terminated or truncated:
            info |= self.finals() | {"final": True}
        if self.render_mode == "human":
            self.render()
        return observation, reward, terminated, truncated and not terminated, info

    def render(self) -> Any:
        """Render the episode in ``render_mode``."""
        if self.render_mode is None:
            gym.logger.warn("render() shows nothing without a render_mode: give one to gym.make()")
            return None
        self.check_begun()
        return self.frame()

    def check_begun(self) -> None:
        """Raise ``RuntimeError`` where no episode has begun."""
        if not self._begun:
            raise RuntimeError("no episode has begun; call reset()")

    def _outcome(self) -> tuple[Observation, dict[str, Any]]:
        observation = self.observe()
        info = {"illegal_action": self.illegal, **self.extras()}
        if "action_mask" in observation:
            info["action_mask"] = observation["action_mask"].copy()
        return observation, info | self.family.blank() | {"final": False}
