"""The memorization environment for a batch of episodes, stepped in array operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.envs.family import MEMORIZATION
from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.buffers import Part
from memenvs.envs.memorization.batch.shadows import Shadows
from memenvs.envs.memorization.batch.state import Batch
from memenvs.envs.memorization.env import MemorizationEnv, Observation
from memenvs.envs.memorization.keys import Keys, reset_mask
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.render.renderer import RenderMode
from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.materials.library import Source

Infos = dict[str, Any]


class MemorizationVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """``num_envs`` episodes of ``MemorizationEnv``, each as the scalar environment plays it.

    Args:
        material, settings: as for ``MemorizationEnv``.
        num_envs: number of episodes.
        autoreset_mode: ``"SameStep"``, ``"NextStep"`` (default) or ``"Disabled"``, also written as
            the members of ``AutoresetMode`` are; with the meaning that Gymnasium gives them.
        max_episode_steps: steps after which an episode is truncated, unless it ends with them.
        render_mode: ``"ansi"`` or ``"rgb_array"``; every episode is then played twice.

    ``reset(seed=s)`` seeds episode i with s + i; lists of seeds are allowed. Options:
    ``"material"`` is one for all, or a sequence of one for each; ``"reset_mask"`` ``(num_envs,)``
    resets some.
    ``infos`` hold arrays ``(num_envs, ...)`` with masks of the same name after an underscore.
    """

    family = MEMORIZATION

    def __init__(
        self,
        material: Source | Sequence[Material],
        *,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: RenderMode | None = None,
        **settings: Any,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not a positive integer")
        if max_episode_steps is not None and max_episode_steps < 1:
            raise ValueError(f"max_episode_steps={max_episode_steps!r} is not a positive integer")
        single = MemorizationEnv(material, **settings)
        self.num_envs = num_envs
        self.autoreset_mode = as_mode(autoreset_mode)
        self.metadata = {**MemorizationEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.materials, self.rules = single.materials, single.rules
        self.layout, self.actions = single.layout, single.actions
        self.single_action_space = single.action_space
        self.single_observation_space = single.observation_space
        self.action_space = batch_space(single.action_space, num_envs)
        self.observation_space = batch_space(single.observation_space, num_envs)
        self.render_mode = render_mode
        self._shadows = Shadows(render_mode, self.rules, self.actions, self.layout, num_envs)
        self._bank = Bank(self.materials, self.layout, self.rules.disclosure, num_envs)
        self._keys = Keys(num_envs)
        self._batch: Batch | None = None
        self._limit = max_episode_steps
        self._elapsed = np.zeros(num_envs, dtype=np.int64)
        self._done = np.zeros(num_envs, dtype=bool)  # episodes that are over and not yet reset

    def action_masks(self) -> BoolArray:
        """Legal actions ``(num_envs, n)``; never all False."""
        return self._running.buffers.mask[:, :-1].astype(bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, Infos]:
        """Begin an episode in every environment, or in those of ``options["reset_mask"]``."""
        options = options or {}
        chosen = self._chosen(options.get("reset_mask"))
        self._keys.seed(seed, chosen)
        if self._batch is None and not chosen.all():
            raise RuntimeError("no episode has begun; call reset() for all first")
        part = Part.of(np.flatnonzero(chosen), self.num_envs)
        self._begin(part, self._wanted(options.get("material"), part))
        batch = self._running
        observation = batch.observer.copy(batch.all)
        mask = self._spread(observation["action_mask"][part.at], part)
        illegal = self._spread(batch.illegal[part.at], part)
        return observation, self._infos(mask, illegal, chosen)

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, FloatArray, BoolArray, BoolArray, Infos]:
        """Take one decision in every environment; rewards ``(num_envs,)`` are what was settled."""
        batch, waiting = self._running, self._done
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions have shape {actions.shape}, not {self.action_space.shape}")
        part, resetting = batch.all, waiting.nonzero()[0]
        if len(resetting):
            if self.autoreset_mode == AutoresetMode.DISABLED:
                raise RuntimeError("an episode is over; call reset() with options['reset_mask']")
            part = batch.part((~waiting).nonzero()[0])
        rewards = np.zeros(self.num_envs)
        if part.size:
            self._shadows.decide(part, actions)
            rewards[part.at] = batch.decide(part, actions[part.at])
        if len(resetting):
            self._begin(batch.part(resetting))
        terminated = batch.is_over()
        truncated = np.zeros(self.num_envs, dtype=bool)
        if self._limit is not None:
            self._elapsed[part.at] += 1
            truncated = (self._elapsed >= self._limit) & ~terminated
        self._done = terminated | truncated
        ended = self._done.nonzero()[0]
        infos: Infos = {}
        if len(ended):
            infos = self._finals(terminated)
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                infos = self._final_infos(batch.part(ended), infos)
                self._begin(batch.part(ended))
        observation = batch.observer.copy(batch.all)
        infos |= self._infos(observation["action_mask"], batch.illegal.copy())
        return observation, rewards, terminated, truncated, infos

    def privileged_views(self) -> list[Privileged]:
        """Give what oracles may know of each episode."""
        batch = self._running
        claims = batch.memory.claims.T
        slots = np.where(claims == batch.never, EMPTY, claims)
        return [
            Privileged(
                self._bank.numbers[row],
                None if claim == batch.never else claim,
                slots[i],
                partial(self._bank.material, row),
            )
            for i, (row, claim) in enumerate(
                zip(batch.account.row.tolist(), batch.considered.tolist(), strict=True)
            )
        ]

    def expected_utilities(self) -> FloatArray:
        """Exact utilities ``(num_envs,)`` of the memories; for shaping and analysis, not agents."""
        return self._running.masses(self._running.all).utility

    def render(self) -> tuple[Any, ...] | None:
        """Give a frame of every episode."""
        if self.render_mode is None:
            gym.logger.warn("render() shows nothing without a render_mode: give one to make_vec()")
            return None
        return self._shadows.render()

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Generators of the episodes; they are ahead of the episodes by a few keys."""
        return self._keys.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seeds of the generators."""
        return self._keys.seeds

    @property
    def _running(self) -> Batch:
        if self._batch is None:
            raise RuntimeError("no episode has begun; call reset()")
        return self._batch

    def _begin(self, part: Part, wanted: Sequence[int | Material] | None = None) -> None:
        """Begin episodes with fresh keys, and with materials that they draw or that are given."""
        keys = self._keys.take(part)
        if self._batch is None:
            busy = np.zeros(0, dtype=np.int64)
        else:
            busy = np.delete(self._batch.account.row, part.numbers)
        rows = self._bank.draw(keys, busy) if wanted is None else self._bank.give(wanted, busy)
        if self._batch is None:  # the first material says how large the arrays are
            self._batch = Batch(self.rules, self.actions, self.layout, self._bank, self.num_envs)
        self._batch.begin(part, rows, keys)
        self._elapsed[part.at] = 0
        self._done[part.at] = False
        self._shadows.begin(part, keys, self._bank, rows, self.materials)

    def _chosen(self, given: Any) -> BoolArray:
        if given is None:
            return np.ones(self.num_envs, dtype=bool)
        return reset_mask(given, self.num_envs)

    def _wanted(self, material: Any, part: Part) -> list[int | Material] | None:
        """Give the material of each episode that is to begin, None where they are drawn."""
        if material is None:
            return None
        if isinstance(material, Material | str) or np.ndim(material) == 0:
            return [self._material(material)] * part.size
        if len(material) != self.num_envs:
            raise ValueError(
                f"{len(material)} materials were given for {self.num_envs} environments"
            )
        return [self._material(material[number]) for number in part.numbers.tolist()]

    def _material(self, given: Any) -> int | Material:
        return given if isinstance(given, Material) else self.materials.place(given)

    def _infos(
        self, mask: NDArray[np.int8], illegal: IntArray, where: BoolArray | None = None
    ) -> Infos:
        if where is None:
            where = np.ones(self.num_envs, dtype=bool)
        return with_mask({"action_mask": mask.copy(), "illegal_action": illegal}, where)

    def _finals(self, over: BoolArray) -> Infos:
        """Utilities of the final memories, whatever the rewards were: ``(num_envs,)`` each."""
        if not over.any():
            return {}
        batch = self._running
        part = batch.part(np.flatnonzero(over))
        masses = batch.masses(part)
        values = {
            "coverage": masses.coverage,
            "precision": masses.precision,
            "water_inflation": masses.coverage - masses.precision,
            "size": batch.memory.count[part.at],
            "utility": masses.utility,
            "settled": batch.earned[part.at],
        }
        return with_mask({k: self._spread(v, part) for k, v in values.items()}, over)

    def _final_infos(self, part: Part, finals: Infos) -> Infos:
        """Give what the episodes of a part end with, before they are reset."""
        batch = self._running
        observation = batch.observer.copy(part)
        last = np.full(self.num_envs, None, dtype=object)
        rows = zip(*observation.values(), strict=True)
        for number, row in zip(part.numbers.tolist(), rows, strict=True):
            last[number] = dict(zip(observation, row, strict=True))
        mask = self._spread(observation["action_mask"], part)
        illegal = self._spread(batch.illegal[part.at], part)
        infos = self._infos(mask, illegal, self._done) | finals
        return with_mask({"final_obs": last, "final_info": infos}, self._done)

    def _spread(self, values: NDArray[Any], part: Part) -> NDArray[Any]:
        """Put the values of a part ``(n, ...)`` where their environments stand, zeros elsewhere."""
        spread = np.zeros((self.num_envs, *values.shape[1:]), dtype=values.dtype)
        spread[part.at] = values
        return spread


def as_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Read an autoreset mode, however it is written."""
    for known in AutoresetMode:
        if mode in (known, known.name, known.value):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ValueError(f"autoreset_mode={mode!r} is unknown; choose from {names}")


def with_mask(values: Infos, where: BoolArray) -> Infos:
    """Add to each array the mask of the environments that have a value there."""
    return values | {f"_{name}": where.copy() for name in values}
