"""The memorization environment for a batch of episodes, stepped in array operations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from memenvs.envs.family import MEMORIZATION
from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.rendered import Rendered
from memenvs.envs.memorization.batch.state import Batch
from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.render.renderer import RenderMode
from memenvs.envs.memorization.slots import EMPTY
from memenvs.envs.rows import Rows
from memenvs.envs.vector import BatchEnv, Observation
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.materials.library import Source


class MemorizationVectorEnv(BatchEnv):
    """``num_envs`` episodes of ``MemorizationEnv``, each as the scalar environment plays it.

    Args:
        material, settings: as for ``MemorizationEnv``.
        num_envs, autoreset_mode, max_episode_steps, copy: as for ``BatchEnv``.
        render_mode: ``"ansi"`` or ``"rgb_array"``; every episode is then played twice.

    ``reset`` is that of ``BatchEnv``; the option ``"material"`` is one for all, or a sequence of
    one for each.
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
        copy: bool = True,
        **settings: Any,
    ) -> None:
        single = MemorizationEnv(material, **settings)
        super().__init__(
            single,
            num_envs=num_envs,
            autoreset_mode=autoreset_mode,
            max_episode_steps=max_episode_steps,
            render_mode=render_mode,
            copy=copy,
        )
        self.materials, self.rules = single.materials, single.rules
        self.layout, self.actions = single.layout, single.actions
        self._rendered = Rendered(render_mode, self.rules, self.actions, self.layout, num_envs)
        self._bank = Bank(self.materials, self.layout, self.rules.disclosure, num_envs)
        self._batch: Batch | None = None
        self._block: Float32 | None = None  # that the caller lets us write again

    @property
    def illegal(self) -> IntArray:
        """Illegal actions of each episode so far: ``(num_envs,)``."""
        return self._running.illegal

    def action_masks(self) -> BoolArray:
        """Legal actions ``(num_envs, n)``; never all False."""
        return self._running.buffers.mask[:, :-1].astype(bool)

    def check_instance(self, given: Any) -> int | Material:
        """Give a material that fits, or the number of one."""
        if not isinstance(given, Material):
            return self.materials.place(given)
        self.materials.prepare(given, self.layout)
        return given

    def begin(self, rows: Rows, keys: NDArray[np.uint64], wanted: Sequence[Any] | None) -> None:
        """Begin episodes with materials and empty memories."""
        busy = np.zeros(0, dtype=np.int64)
        if self._batch is not None:
            busy = np.delete(self._batch.account.row, rows.numbers)
        places = self._bank.draw(keys, busy, wanted)
        if self._batch is None:  # the first material says how large the arrays are
            self._batch = Batch(self.rules, self.actions, self.layout, self._bank, self.num_envs)
        self._batch.begin(rows, places, keys)
        self._rendered.begin(rows, keys, self._bank, places, self.materials)

    def act(self, rows: Rows, actions: NDArray[Any]) -> FloatArray:
        """Take one decision in some episodes; rewards ``(n,)`` are what was settled."""
        rewards = self._running.decide(rows, actions)
        self._rendered.decide(rows, actions)
        return rewards

    def over(self) -> tuple[BoolArray, None]:
        """Say where every decision was taken."""
        return self._running.is_over(), None

    def observe(self, rows: Rows, *, reuse: bool = False) -> Observation:
        """Give the observations of some episodes."""
        batch = self._running
        if not reuse:
            return batch.observer.copy(rows)
        if self._block is None:
            self._block = batch.buffers.new_block()
        return batch.observer.copy(rows, self._block)

    def finals(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """Utilities of memories, whatever the rewards were: ``(n,)`` each."""
        return self._running.finals(rows)

    def frame(self, row: int) -> Any:
        """Render an episode."""
        return self._rendered.frame(row)

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
                int(batch.account.draws[i, 0]) if self.rules.disclosure == "one" else None,
            )
            for i, (row, claim) in enumerate(
                zip(batch.account.row.tolist(), batch.considered.tolist(), strict=True)
            )
        ]

    @property
    def settlements(self) -> IntArray:
        """Queries settled in each episode so far: ``(num_envs,)``."""
        return self._running.settled.copy()

    def expected_utilities(self) -> FloatArray:
        """Exact utilities ``(num_envs,)`` of the memories; for shaping and analysis, not agents."""
        return self._running.masses(self._running.all).utility

    @property
    def _running(self) -> Batch:
        if self._batch is None:
            raise RuntimeError("no episode has begun; call reset()")
        return self._batch
