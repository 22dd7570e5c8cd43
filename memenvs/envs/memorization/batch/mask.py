"""The action masks of a batch of episodes, as ``Episode.mask`` gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.rows import Rows
from memenvs.material.incidence import BoolArray, IntArray

if TYPE_CHECKING:
    from memenvs.envs.memorization.batch.state import Batch


class Masks:
    """Writes which actions are legal; never none."""

    def __init__(self, batch: Batch, layout: Layout) -> None:
        self._batch = batch
        capacity, actions = batch.rules.capacity, batch.actions
        self._slots = np.arange(capacity)
        self._numbers = np.arange(layout.limits.claims)
        self._writes = slice(actions.first_write, actions.first_write + capacity)
        self._clears = slice(actions.first_clear, actions.first_clear + capacity)
        # Without clears the slots fill in order, and their number says all: row n for n stored
        # claims, the last for the end of an episode.
        self._simple = not (actions.clears or batch.pool)
        self._rows = np.zeros((capacity + 2, actions.n + 1), dtype=np.int8)
        self._rows[:, actions.PASS] = 1
        self._rows[capacity, self._writes] = 1
        self._rows[self._slots, actions.first_write + self._slots] = 1

    def show(self, part: Rows, claims: IntArray, over: BoolArray) -> None:
        """Write the masks of episodes that consider ``claims`` ``(n,)``, or none."""
        batch, at = self._batch, part.at
        if batch.rules.action == "priority":
            batch.buffers.mask[at, 0] = 1
        elif self._simple:
            batch.buffers.mask[at] = self._rows.take(batch.memory.count[at], axis=0)
            batch.buffers.mask[part.numbers[over]] = self._rows[-1]
        else:
            self._show_all(part, claims, over)

    def _show_all(self, part: Rows, claims: IntArray, over: BoolArray) -> None:
        batch, actions, at = self._batch, self._batch.actions, part.at
        mask, occupied = batch.buffers.mask, batch.memory.occupied[:, at].T
        choosing = (claims == batch.never) & ~over
        deciding = ~choosing & ~over
        mask[at, actions.PASS] = 1
        mask[at, self._writes] = self._writable(part, occupied) & deciding[:, None]
        if actions.clears:
            clearing = choosing if batch.pool else ~over
            mask[at, self._clears] = occupied & clearing[:, None]
        if batch.pool:
            free = batch.memory.bitmap[at, :-2] == 0
            free &= self._numbers < batch.bank.claims[batch.account.row[at]][:, None]
            mask[at, actions.first_consider : -1] = free & choosing[:, None]

    def _writable(self, part: Rows, occupied: BoolArray) -> BoolArray:
        """Slots that a claim may be written into: the first free one, or else any it fits."""
        batch = self._batch
        first = self._slots == occupied.argmin(axis=1)[:, None]
        full = batch.memory.count[part.at] == len(self._slots)
        if batch.rules.budget is None:
            return np.asarray(first | full[:, None])
        costs = batch.memory.costs[part.at]
        total = costs.sum(axis=1) + batch.observer.cost(part)
        elsewhere = occupied & (total[:, None] - costs <= batch.rules.allowance)
        fits = ~full & (total <= batch.rules.allowance)
        return np.asarray(np.where(fits[:, None], first, elsewhere))
