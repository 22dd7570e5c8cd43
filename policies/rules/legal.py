"""The random policy of environments of any family: legal actions by the mask alone."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.counter import uniforms
from memenvs.policies.base import State, chances
from memenvs.policies.rules.simple import nth_legal


class AnyLegal:
    """Take any legal action, all equally likely; without a mask any action of the space.

    Its chance depends on its seed, the episode and the step alone. Raises ``ValueError`` for a
    space whose elements cannot be drawn uniformly.
    """

    privileged: ClassVar[bool] = False
    knows: ClassVar[str] = ""

    def __init__(self, env: Any, seed: int = 0) -> None:
        self.seed = seed
        self._several = hasattr(env, "num_envs")
        self._space = env.single_action_space if self._several else env.action_space
        bounded = isinstance(self._space, spaces.Box) and self._space.is_bounded()
        kinds = spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary
        if not (bounded or isinstance(self._space, kinds)):
            raise ValueError(f"the policy 'random' cannot draw actions of {self._space}")

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Give the keys and counters of new episodes."""
        return chances(self.seed, episodes)

    def predict(
        self,
        observation: Any,
        state: State | None = None,
        episode_start: Any = None,
        deterministic: bool = True,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[Any], State]:
        """Give an action for one observation, or for each of a batch, and the next state.

        Masks ``(n,)`` or ``(B, n)`` are read from the observation unless given.
        """
        if action_masks is None and isinstance(observation, dict):
            action_masks = observation.get("action_mask")
        if state is None:
            first = (
                next(iter(observation.values())) if isinstance(observation, dict) else observation
            )
            state = self.start(np.arange(len(first) if self._several else 1))
        keys, step = state
        actions = self._drawn(keys, step, action_masks)
        return (actions if self._several else actions[0]), (keys, step + 1)

    def _drawn(
        self, keys: NDArray[np.uint64], step: NDArray[np.int64], masks: NDArray[Any] | None
    ) -> NDArray[Any]:
        space = self._space
        if isinstance(space, spaces.Discrete):
            drawn = uniforms(keys, 0, step)
            if masks is None:
                masks = np.ones((len(keys), int(space.n)), dtype=bool)
            return np.asarray(space.start + nth_legal(np.atleast_2d(masks).astype(bool), drawn))
        size = int(np.prod(space.shape))
        drawn = np.stack([uniforms(keys, place, step) for place in range(size)], axis=-1)
        drawn = drawn.reshape(len(keys), *space.shape)
        if isinstance(space, spaces.Box):
            return np.asarray(space.low + drawn * (space.high - space.low), dtype=space.dtype)
        if isinstance(space, spaces.MultiDiscrete):
            return np.asarray(space.start + np.floor(drawn * space.nvec), dtype=space.dtype)
        return np.asarray(drawn < 0.5, dtype=space.dtype)
