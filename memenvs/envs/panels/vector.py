"""Simulated pages for a batch of episodes: a step looks rows up in one table of pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.envs.family import GUI
from memenvs.envs.gui.columns import ACTIONS
from memenvs.envs.gui.env import INSTANCES, STEPS, Observation, given_instance, refusal
from memenvs.envs.memorization.batch.buffers import Part
from memenvs.envs.memorization.keys import Keys, reset_mask
from memenvs.envs.memorization.vector import as_mode, with_mask
from memenvs.envs.panels.env import PanelsEnv
from memenvs.envs.panels.table import PageTable

Infos = dict[str, Any]
BoolArray = NDArray[np.bool_]


class PanelsVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """``num_envs`` episodes of ``PanelsEnv``, each as the scalar environment plays it.

    Args:
        task, steps, instances, strict: as for ``PanelsEnv``.
        num_envs: number of episodes.
        autoreset_mode: ``"SameStep"``, ``"NextStep"`` (default) or ``"Disabled"``, also written as
            the members of ``AutoresetMode`` are; with the meaning that Gymnasium gives them.

    ``reset(seed=s)`` seeds episode i with s + i; lists of seeds are allowed. Options:
    ``"instance"`` is one for all, or a sequence of one for each; ``"reset_mask"`` ``(num_envs,)``
    resets some.
    """

    family = GUI

    def __init__(
        self,
        task: str,
        *,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        steps: int = STEPS,
        instances: int = INSTANCES,
        strict: bool = False,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not a positive integer")
        single = PanelsEnv(task, steps=steps, instances=instances, strict=strict)
        self.task, self.steps, self.instances, self.strict = task, steps, instances, strict
        self.num_envs = num_envs
        self.autoreset_mode = as_mode(autoreset_mode)
        self.metadata = {**PanelsEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self.single_action_space = single.action_space
        self.single_observation_space = single.observation_space
        self.action_space = batch_space(single.action_space, num_envs)
        self.observation_space = batch_space(single.observation_space, num_envs)
        self._table = PageTable(task)
        self._keys = Keys(num_envs)
        self._begun = False
        self._row = np.zeros(num_envs, dtype=np.int64)
        self._taken = np.zeros(num_envs, dtype=np.int64)
        self._illegal = np.zeros(num_envs, dtype=np.int64)
        self._done = np.zeros(num_envs, dtype=bool)  # over, and not yet reset
        self._everyone = np.ones(num_envs, dtype=bool)

    def action_masks(self) -> BoolArray:
        """Legal actions ``(num_envs, 64)``; never all False."""
        return self._table.mask[self._rows].astype(bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, Infos]:
        """Begin an episode in every environment, or in those of ``options["reset_mask"]``."""
        options = options or {}
        chosen = reset_mask(options.get("reset_mask", self._everyone), self.num_envs)
        if not self._begun and not chosen.all():
            raise RuntimeError("no episode has begun; call reset() for all first")
        self._keys.seed(seed, chosen)
        self._begin(np.flatnonzero(chosen), options.get("instance"))
        self._begun = True
        return self._observe(), self._infos(chosen)

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, NDArray[np.float64], BoolArray, BoolArray, Infos]:
        """Act in every environment; rewards ``(num_envs,)`` say how the episodes ended that did."""
        table, rows, waiting = self._table, self._rows, self._done
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {actions.shape}, not {(self.num_envs,)}")
        resetting = waiting.nonzero()[0]
        if len(resetting) and self.autoreset_mode == AutoresetMode.DISABLED:
            raise RuntimeError("an episode is over; call reset() with options['reset_mask']")
        inside = (actions >= 0) & (actions < ACTIONS)
        legal = inside & (table.mask[rows, np.where(inside, actions, 0)] == 1)
        refused = ~legal & ~waiting
        if refused.any():
            if self.strict:
                first = refused.argmax()
                raise ValueError(refusal(int(actions[first]), table.page[rows[first]]))
            self._illegal += refused
        acting = (legal & ~waiting).nonzero()[0]
        # An action may be unknown still: following it then adds rows to the table.
        self._row[acting] = table.follow(rows[acting], actions[acting])
        self._taken[~waiting] += 1
        if len(resetting):
            self._begin(resetting)
        rewards = self._table.reward[self._row]
        terminated = rewards != 0
        truncated = (self._taken >= self.steps) & ~terminated
        self._done = terminated | truncated
        ended = self._done.nonzero()[0]
        infos: Infos = {}
        if len(ended):
            infos = with_mask({"success": rewards > 0}, self._done)
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                infos = self._final_infos(ended, infos)
                self._begin(ended)
        return self._observe(), rewards, terminated, truncated, infos | self._infos(self._everyone)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Generators of the episodes; they are ahead of the episodes by a few keys."""
        return self._keys.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seeds of the generators."""
        return self._keys.seeds

    @property
    def _rows(self) -> NDArray[np.int64]:
        if not self._begun:
            raise RuntimeError("no episode has begun; call reset()")
        return self._row

    def _begin(self, numbers: NDArray[np.int64], wanted: Any = None) -> None:
        """Begin episodes with fresh keys, in instances that they draw or that are given."""
        keys = self._keys.take(Part.of(numbers, self.num_envs))
        drawn = (keys % np.uint64(self.instances)).astype(np.int64)
        if wanted is not None:
            each = np.broadcast_to(np.asarray(wanted), (self.num_envs,))[numbers]
            drawn = np.array([given_instance({"instance": i}, 0) for i in each], dtype=np.int64)
        self._row[numbers] = self._table.first(drawn)
        self._taken[numbers] = 0
        self._illegal[numbers] = 0
        self._done[numbers] = False

    def _observe(self, part: NDArray[np.int64] | slice = slice(None)) -> Observation:
        table, rows = self._table, self._row[part]
        left = (self.steps - self._taken[part]) / self.steps
        return {
            "elements": table.elements[rows].astype(np.float32),
            "goal": table.goal[rows].astype(np.float32),
            "context": left.astype(np.float32)[:, None],
            "action_mask": table.mask[rows],
        }

    def _infos(self, where: BoolArray) -> Infos:
        """Give what every info holds, of the environments that have just been reset or stepped."""
        table, rows = self._table, self._row
        values = {
            "page": table.page[rows],
            "action_mask": table.mask[rows],
            "illegal_action": self._illegal.copy(),
        }
        if not where.all():
            values = {name: array.copy() for name, array in values.items()}
            values["page"][~where] = None
            values["action_mask"][~where] = 0
            values["illegal_action"][~where] = 0
        return with_mask(values, where)

    def _final_infos(self, ended: NDArray[np.int64], finals: Infos) -> Infos:
        """Give what some episodes end with, before they are reset."""
        last = np.full(self.num_envs, None, dtype=object)
        observation = self._observe(ended)
        for place, number in enumerate(ended.tolist()):
            last[number] = {name: array[place] for name, array in observation.items()}
        infos = self._infos(self._done) | finals
        return with_mask({"final_obs": last, "final_info": infos}, self._done)
