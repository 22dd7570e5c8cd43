"""A batch of episodes as Gymnasium's vector environment: what its families share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.envs.arguments import as_autoreset_mode, check_render_mode, read_actions
from memenvs.envs.rows import Rows
from memenvs.envs.seeds import Seeds
from memenvs.envs.shell import Infos, Shell, spread
from memenvs.material.incidence import BoolArray, FloatArray, IntArray

Observation = dict[str, NDArray[Any]]


class BatchEnv(Shell, VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """``num_envs`` episodes, each as the scalar environment of the family plays it.

    Args:
        single: the scalar environment, for spaces and modes.
        num_envs: number of episodes.
        autoreset_mode: ``"NEXT_STEP"`` (default), ``"SAME_STEP"`` or ``"DISABLED"``, or a member of
            ``AutoresetMode`` or its value; with the meaning that Gymnasium gives them.
        max_episode_steps: steps after which an episode is truncated, unless it ends with them.
        render_mode: one of the scalar environment's, but for ``"human"``.
        copy: whether observations are the caller's own (default). Otherwise the arrays of a step
            may be written again by the next one, which is quicker.

    ``reset(seed=s)`` seeds episode i with s + i; lists of seeds are allowed. Options: the family's
    instance, one for all or a sequence of one for each; ``"reset_mask"`` ``(num_envs,)`` resets
    some. Others raise ``ValueError``. ``infos`` have the same keys in every step: arrays
    ``(num_envs, ...)`` with masks of the same name after an underscore. What an episode ends with
    is zero before its end, and ``infos["final"]`` says where it is there.
    """

    def __init__(
        self,
        single: gym.Env[Any, Any],
        *,
        num_envs: int,
        autoreset_mode: str | AutoresetMode,
        max_episode_steps: int | None,
        render_mode: str | None,
        copy: bool,
    ) -> None:
        self.open(num_envs, max_episode_steps)
        check_render_mode(render_mode, single.metadata["render_modes"], batch=True)
        self.autoreset_mode = as_autoreset_mode(autoreset_mode)
        self.metadata = {**single.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.copy = bool(copy)
        self.single_action_space = single.action_space
        self.single_observation_space = single.observation_space
        self.action_space = batch_space(single.action_space, num_envs)
        self.observation_space = batch_space(single.observation_space, num_envs)

    @property
    @abstractmethod
    def illegal(self) -> IntArray:
        """Illegal actions of each episode so far: ``(B,)``."""

    @abstractmethod
    def act(self, rows: Rows, actions: NDArray[Any]) -> FloatArray:
        """Take one decision in some episodes; ``actions`` ``(n, ...)``, rewards ``(n,)``."""

    @abstractmethod
    def over(self) -> tuple[BoolArray, BoolArray | None]:
        """Say which episodes have come to their end, and which to the family's own limit."""

    @abstractmethod
    def observe(self, rows: Rows, *, reuse: bool = False) -> Observation:
        """Give the observations of some episodes; those of all may be told to ``reuse`` arrays."""

    @abstractmethod
    def frame(self, row: int) -> Any:
        """Render one episode in ``render_mode``."""

    def extras(self, rows: Rows) -> Infos:
        """Give what else the infos hold of some episodes, in every step: arrays ``(n, ...)``."""
        return {}

    def reset(
        self, *, seed: Seeds = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, Infos]:
        """Begin an episode in every environment, or in those of ``options["reset_mask"]``."""
        rows = self.begin_chosen(seed, options)
        observation = self.observe(self.all, reuse=not self.copy)
        mask = observation["action_mask"][rows.at] if "action_mask" in observation else None
        return observation, self._infos(rows, mask, self.blank_finals(), self._none)

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, FloatArray, BoolArray, BoolArray, Infos]:
        """Take one decision in every environment; rewards are ``(num_envs,)``.

        Raises ``ValueError`` for actions of another shape or type, ``RuntimeError`` outside of
        episodes.
        """
        self.check_begun()
        actions = read_actions(actions, self.action_space)
        rows, resetting = self.all, self.done.nonzero()[0]
        if len(resetting):
            if self.autoreset_mode == AutoresetMode.DISABLED:
                raise RuntimeError("an episode is over; call reset() with options['reset_mask']")
            rows = self.rows((~self.done).nonzero()[0])
        rewards = np.zeros(self.num_envs)
        if rows.size:
            rewards[rows.at] = self.act(rows, actions[rows.at])
            self.elapsed[rows.at] += 1
        if len(resetting):
            self.begin_rows(self.rows(resetting))
        terminated, cut = self.over()
        truncated = (self.late() if cut is None else self.late() | cut) & ~terminated
        self.done = terminated | truncated
        final = self.done.copy()
        ended = self.rows(final.nonzero()[0])
        infos: Infos = {}
        finals = self.spread_finals(ended)
        if ended.size and self.autoreset_mode == AutoresetMode.SAME_STEP:
            infos = self._last(ended, finals, final)
            self.begin_rows(ended)
            finals, final = self.blank_finals(), self._none
        observation = self.observe(self.all, reuse=not self.copy)
        infos |= self._infos(self.all, observation.get("action_mask"), finals, final)
        return observation, rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Give a frame of every episode."""
        if self.render_mode is None:
            gym.logger.warn("render() shows nothing without a render_mode: give one to make_vec()")
            return None
        self.check_begun()
        return tuple(self.frame(row) for row in range(self.num_envs))

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Generators of the episodes; they are ahead of the episodes by a few keys."""
        return self._keys.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seeds of the generators."""
        return self._keys.seeds

    @property
    def _none(self) -> BoolArray:
        return np.zeros(self.num_envs, dtype=bool)

    def _infos(
        self, rows: Rows, mask: NDArray[Any] | None, finals: Infos, final: BoolArray
    ) -> Infos:
        """Give the infos of some rows, whose masks are ``(n, ...)``; zeros for the others."""
        held = {"illegal_action": self.illegal[rows.at], **self.extras(rows)}
        if mask is not None:
            held["action_mask"] = mask
        values = {name: spread(array, rows, self.num_envs) for name, array in held.items()}
        return with_masks(values | finals | {"final": final}, rows, self.num_envs)

    def _last(self, ended: Rows, finals: Infos, final: BoolArray) -> Infos:
        """Give what episodes that ended showed last, before they are reset."""
        observation = self.observe(ended)
        last = np.full(self.num_envs, None, dtype=object)
        each = zip(*observation.values(), strict=True)
        for number, arrays in zip(ended.numbers.tolist(), each, strict=True):
            last[number] = dict(zip(observation, arrays, strict=True))
        told = self._infos(ended, observation.get("action_mask"), finals, final)
        return with_masks({"final_obs": last, "final_info": told}, ended, self.num_envs)


def with_masks(values: Infos, rows: Rows, num_envs: int) -> Infos:
    """Add to each array, under its name after an underscore, which rows have a value there."""
    mask = np.zeros(num_envs, dtype=bool)
    mask[rows.at] = True
    return values | dict.fromkeys([f"_{name}" for name in values], mask)
