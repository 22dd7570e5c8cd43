"""Simulated pages for a batch of episodes: a step looks rows up in one table of pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from memenvs.envs.arguments import refuse_first
from memenvs.envs.family import GUI
from memenvs.envs.gui.columns import ACTIONS
from memenvs.envs.gui.gui_env import INSTANCES, STEPS, action_name, as_text, check_number
from memenvs.envs.panels.page_table import PageTable
from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.envs.rows import Rows
from memenvs.envs.shell import Infos
from memenvs.envs.vector import BatchEnv, Observation
from memenvs.material.incidence import BoolArray, FloatArray, IntArray


class PanelsVectorEnv(BatchEnv):
    """``num_envs`` episodes of ``PanelsEnv``, each as the scalar environment plays it.

    Args:
        task, steps, instances, strict: as for ``PanelsEnv``.
        num_envs, autoreset_mode, max_episode_steps, render_mode, copy: as for ``BatchEnv``.

    ``reset`` is that of ``BatchEnv``; the option ``"instance"`` is one for all, or a sequence of
    one for each.
    """

    family = GUI

    def __init__(
        self,
        task: str,
        *,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        copy: bool = True,
        steps: int = STEPS,
        instances: int = INSTANCES,
        strict: bool = False,
    ) -> None:
        super().__init__(
            PanelsEnv(task, steps=steps, instances=instances, strict=strict),
            num_envs=num_envs,
            autoreset_mode=autoreset_mode,
            max_episode_steps=max_episode_steps,
            render_mode=render_mode,
            copy=copy,
        )
        self.task, self.steps, self.instances, self.strict = task, steps, instances, strict
        self._table = PageTable(task)
        self._row = np.zeros(num_envs, dtype=np.int64)  # (B,) in the table, of the page shown
        self._taken = np.zeros(num_envs, dtype=np.int64)
        self._illegal = np.zeros(num_envs, dtype=np.int64)

    @property
    def illegal(self) -> IntArray:
        """Illegal actions of each episode so far: ``(num_envs,)``."""
        return self._illegal

    def action_masks(self) -> BoolArray:
        """Legal actions ``(num_envs, 64)``; never all False."""
        self.check_begun()
        return self._table.mask[self._row].astype(bool)

    def check_instance(self, given: Any) -> int:
        """Give the number of an instance."""
        return check_number(given)

    def begin(self, rows: Rows, keys: NDArray[np.uint64], wanted: Sequence[Any] | None) -> None:
        """Show the first pages of instances."""
        drawn = (keys % np.uint64(self.instances)).astype(np.int64)
        for place, number in enumerate(wanted or ()):
            if number is not None:
                drawn[place] = number
        self._row[rows.at] = self._table.first(drawn)
        self._taken[rows.at] = 0
        self._illegal[rows.at] = 0

    def act(self, rows: Rows, actions: NDArray[Any]) -> FloatArray:
        """Act on some pages; rewards ``(n,)`` say how the episodes ended that did."""
        table, shown = self._table, self._row[rows.at]
        inside = (actions >= 0) & (actions < ACTIONS)
        legal = inside & (table.mask[shown, np.where(inside, actions, 0)] == 1)
        if not legal.all():
            if self.strict:
                refuse_first(rows, legal, lambda place: action_name(int(actions[place])))
            self._illegal[rows.at] += ~legal
        acting = rows.numbers[legal]
        # An action may be unknown still: following it then adds rows to the table.
        self._row[acting] = table.follow(self._row[acting], actions[legal])
        self._taken[rows.at] += 1
        rewards: FloatArray = table.reward[self._row[rows.at]]
        return rewards

    def over(self) -> tuple[BoolArray, BoolArray]:
        """Say which pages are done, and where the steps are used up."""
        return self._table.reward[self._row] != 0, self._taken >= self.steps

    def observe(self, rows: Rows, *, reuse: bool = False) -> Observation:
        """Give pages, goals and the steps left."""
        table, shown = self._table, self._row[rows.at]
        left = (self.steps - self._taken[rows.at]) / self.steps
        return {
            "elements": table.elements[shown].astype(np.float32),
            "goal": table.goal[shown].astype(np.float32),
            "context": left.astype(np.float32)[:, None],
            "action_mask": table.mask[shown],
        }

    def finals(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """Say where the goal was reached: ``(n,)``."""
        return {"success": self._table.reward[self._row[rows.at]] > 0}

    def extras(self, rows: Rows) -> Infos:
        """Give the pages in words."""
        return {"page": self._table.page[self._row[rows.at]]}

    def frame(self, row: int) -> str:
        """Give a page as text."""
        return as_text(self._table.page[self._row[row]])
