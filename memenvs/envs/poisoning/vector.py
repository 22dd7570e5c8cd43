"""The poisoning environment for a batch of episodes, stepped in array operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.envs.family import POISONING
from memenvs.envs.memorization.batch.buffers import Part
from memenvs.envs.memorization.keys import Keys, reset_mask
from memenvs.envs.poisoning.env import BUDGET, Observation, PoisoningEnv, refuse_illegal
from memenvs.envs.poisoning.rounds import Rounds
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.poisoning import Scenario

Infos = dict[str, Any]


class PoisoningVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """``num_envs`` episodes of ``PoisoningEnv``, each as the scalar environment plays it.

    Args:
        num_envs: number of episodes.
        autoreset_mode: a member of ``AutoresetMode``, or its value.
        max_episode_steps: steps after which an episode is truncated, unless it ends with them.
        split, budget, price, strict: as for ``PoisoningEnv``.

    ``reset(seed=s)`` seeds episode i with s + i; options are ``"scenario"`` (one for all, or a
    sequence of one for each) and ``"reset_mask"`` ``(num_envs,)``.
    """

    family = POISONING

    def __init__(
        self,
        *,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        split: str = "train",
        budget: int = BUDGET,
        price: float = 0.0,
        strict: bool = False,
        render_mode: None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not a positive integer")
        single = PoisoningEnv(split=split, budget=budget, price=price, strict=strict)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**PoisoningEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.layout, self.strict, self.render_mode = single.layout, strict, render_mode
        self.single_action_space = single.action_space
        self.single_observation_space = single.observation_space
        self.action_space = batch_space(single.action_space, num_envs)
        self.observation_space = batch_space(single.observation_space, num_envs)
        self._keys = Keys(num_envs)
        self._rounds = Rounds(split, budget, price, num_envs)
        self._begun = False
        self._limit = max_episode_steps
        self._elapsed = np.zeros(num_envs, dtype=np.int64)
        self._done = np.zeros(num_envs, dtype=bool)  # episodes that are over and not yet reset

    def action_masks(self) -> BoolArray:
        """Legal actions ``(num_envs, 1 + E)``; never all False."""
        return self._running.masks()

    def true_answers(self) -> BoolArray:
        """Entries that answer the prompt's question truly ``(num_envs, E)``; for oracles alone."""
        return self._running.true_answers()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, Infos]:
        """Begin an episode in every environment, or in those of ``options["reset_mask"]``."""
        options = options or {}
        everyone = np.ones(self.num_envs, dtype=bool)
        mask = reset_mask(options.get("reset_mask", everyone), self.num_envs)
        if not (self._begun or mask.all()):
            raise RuntimeError("no episode has begun; call reset() for all first")
        self._keys.seed(seed, mask)
        given = options.get("scenario")
        if given is None or isinstance(given, Scenario | int | np.integer):
            given = [given] * self.num_envs
        rows = mask.nonzero()[0]
        self._begun = True
        self._begin(rows, [given[row] for row in rows.tolist()])
        observation = self._rounds.observe()
        masked = observation["action_mask"] * mask[:, None]
        return observation, _masked(
            {"action_mask": masked.astype(np.int8), "illegal_action": self._rounds.illegal * mask},
            mask,
        )

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, FloatArray, BoolArray, BoolArray, Infos]:
        """Take one decision in every environment."""
        rounds, waiting = self._running, self._done
        actions = np.asarray(actions).astype(np.int64)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {actions.shape}, not {(self.num_envs,)}")
        if waiting.any() and self.autoreset_mode == AutoresetMode.DISABLED:
            raise RuntimeError("an episode is over; call reset() with options['reset_mask']")
        rows, resetting = (~waiting).nonzero()[0], waiting.nonzero()[0]
        if self.strict:
            for row, mask in zip(rows.tolist(), rounds.masks()[rows], strict=True):
                refuse_illegal(int(actions[row]), mask)
        rewards = np.zeros(self.num_envs)
        if len(rows):
            rewards[rows] = rounds.step(rows, actions[rows])
        self._begin(resetting, [None] * len(resetting))
        terminated = rounds.is_over()
        truncated = np.zeros(self.num_envs, dtype=bool)
        if self._limit is not None:
            self._elapsed[rows] += 1
            truncated = (self._elapsed >= self._limit) & ~terminated
        self._done = terminated | truncated
        ended = self._done.nonzero()[0]
        infos: Infos = {}
        if len(ended):
            infos = self._finals(terminated)
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                infos = self._final_infos(infos)
                self._begin(ended, [None] * len(ended))
        observation = rounds.observe()
        everyone = np.ones(self.num_envs, dtype=bool)
        infos |= _masked(
            {
                "action_mask": observation["action_mask"].copy(),
                "illegal_action": rounds.illegal.copy(),
            },
            everyone,
        )
        return observation, rewards, terminated, truncated, infos

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Generators of the episodes; they are ahead of the episodes by a few keys."""
        return self._keys.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seeds of the generators."""
        return self._keys.seeds

    @property
    def _running(self) -> Rounds:
        if not self._begun:
            raise RuntimeError("no episode has begun; call reset()")
        return self._rounds

    def _begin(self, rows: IntArray, given: Sequence[Any]) -> None:
        if len(rows):
            keys = self._keys.take(Part.of(rows, self.num_envs))
            self._rounds.begin(rows, keys, given)
            self._elapsed[rows] = 0
            self._done[rows] = False

    def _finals(self, over: BoolArray) -> Infos:
        """What the finished episodes ended with: ``(num_envs,)`` each, zeros for the others."""
        if not over.any():
            return {}
        rows = over.nonzero()[0]
        spread: Infos = {}
        for name, values in self._rounds.finals(rows).items():
            spread[name] = np.zeros(self.num_envs, dtype=values.dtype)
            spread[name][rows] = values
        return _masked(spread, over)

    def _final_infos(self, finals: Infos) -> Infos:
        """Give what the ended episodes showed last, before they are reset."""
        observation = self._rounds.observe()
        last = np.full(self.num_envs, None, dtype=object)
        for row in self._done.nonzero()[0].tolist():
            last[row] = {name: array[row].copy() for name, array in observation.items()}
        mask = (observation["action_mask"] * self._done[:, None]).astype(np.int8)
        infos = _masked(
            {"action_mask": mask, "illegal_action": self._rounds.illegal * self._done}, self._done
        )
        return _masked({"final_obs": last, "final_info": infos | finals}, self._done)


def _masked(values: Infos, where: BoolArray) -> Infos:
    """Add to each array the mask of the environments that have a value there."""
    return values | {f"_{name}": where.copy() for name in values}
