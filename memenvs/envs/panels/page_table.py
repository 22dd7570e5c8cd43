"""The pages of a task as a table of rows, filled in as they are met.

A row is a widget's state, or an end that was reached from one. What a page shows is kept in single
bytes, and what an action leads to as the number of another row, so that a batch of episodes takes a
step by looking it up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.gui.columns import (
    ACTIONS,
    ELEMENTS,
    GOAL_WIDTH,
    WIDTH,
    action_mask,
    element_rows,
    goal_row,
)
from memenvs.envs.gui.goal import read_goal
from memenvs.envs.gui.gui_env import decode
from memenvs.envs.panels.tasks import make_widget
from memenvs.envs.panels.widget import Widget

UNKNOWN = -1
Key = tuple[int, int, float]  # instance, state, and the reward of an end (0: none)


class PageTable:
    """Rows of pages: arrays of equal length, of which ``size`` rows are filled."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.size = 0
        self.elements = np.zeros((0, ELEMENTS, WIDTH), dtype=np.int8)
        self.goal = np.zeros((0, GOAL_WIDTH), dtype=np.int8)
        self.mask = np.zeros((0, ACTIONS), dtype=np.int8)
        self.reward = np.zeros(0)
        self.page = np.zeros(0, dtype=object)
        self.following = np.zeros((0, ACTIONS), dtype=np.int32)
        self._keys: list[Key] = []
        self._rows: dict[Key, int] = {}
        self._widgets: dict[int, Widget] = {}

    def first(self, instances: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the rows of the first pages of some instances: ``(n,)``."""
        return np.array(
            [self._row(i, self._widget(i).start, 0.0) for i in instances.tolist()], dtype=np.int64
        )

    def follow(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the rows that legal actions lead to: ``(n,)``."""
        found = self.following[rows, actions].astype(np.int64)
        for place in np.flatnonzero(found == UNKNOWN).tolist():
            found[place] = self._act(int(rows[place]), int(actions[place]))
        return found

    def _act(self, row: int, number: int) -> int:
        instance, state, _ = self._keys[row]
        action, widget = decode(number), self._widget(instance)
        after, reward = widget.act(state, widget.shown(state)[action.element], action.kind)
        found = self._row(instance, after, reward or 0.0)
        self.following[row, number] = found
        return found

    def _row(self, instance: int, state: int, reward: float) -> int:
        key = instance, state, reward
        if key not in self._rows:
            self._rows[key] = self._add(key)
        return self._rows[key]

    def _add(self, key: Key) -> int:
        if self.size == len(self.reward):
            self._grow()
        row, page = self.size, self._widget(key[0]).page(key[1])
        self.elements[row] = element_rows(page)
        self.goal[row] = goal_row(read_goal(page.goal))
        self.mask[row] = action_mask(page)
        self.reward[row] = key[2]
        self.page[row] = page
        self._keys.append(key)
        self.size += 1
        return row

    def _grow(self) -> None:
        length = max(256, 2 * self.size)
        for name, filling in (
            *((name, 0) for name in ("elements", "goal", "mask", "reward", "page")),
            ("following", UNKNOWN),
        ):
            old: NDArray[Any] = getattr(self, name)
            new = np.full((length, *old.shape[1:]), filling, dtype=old.dtype)
            new[: self.size] = old
            setattr(self, name, new)

    def _widget(self, instance: int) -> Widget:
        if instance not in self._widgets:
            self._widgets[instance] = make_widget(self.task, instance)
        return self._widgets[instance]
