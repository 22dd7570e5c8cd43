"""A batch of episodes of the memorization process: what ``Episode`` does, in array operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.arguments import refuse_first
from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.buffers import Buffers
from memenvs.envs.memorization.batch.compiled import CLAIM, sentinels, tabulates
from memenvs.envs.memorization.batch.memory import WRITTEN, BatchMemory
from memenvs.envs.memorization.batch.observation import Observer
from memenvs.envs.memorization.batch.reward import BatchAccount, Masses
from memenvs.envs.memorization.batch.settled import BatchRecords
from memenvs.envs.memorization.batch.similarity import Multiplied, Similarity, Tabulated
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import HISTORY, Actions, Rules
from memenvs.envs.rows import Rows
from memenvs.material.incidence import BoolArray, FloatArray, IntArray


class Batch:
    """B episodes, each at a step of its own."""

    def __init__(
        self, rules: Rules, actions: Actions, layout: Layout, bank: Bank, episodes: int
    ) -> None:
        self.rules = rules
        self.actions = actions
        self.bank = bank
        self.pool = layout.pool
        self.never = sentinels(layout.limits)[1]
        # After how many decisions the episode ends, and the next settlement comes.
        self.ends = np.ones((2, episodes), dtype=np.int64)  # (2, B)
        self.decision = np.ones(episodes, dtype=np.int64)  # (B,) taken so far
        self.scheduled = np.ones(episodes, dtype=np.int64)
        self.settled = np.zeros(episodes, dtype=np.int64)
        self.answered = np.zeros(episodes, dtype=np.int64)
        self.earned = np.zeros(episodes)
        self.illegal = np.zeros(episodes, dtype=np.int64)
        # Of the claim under consideration, or of none: its tags, and the decision at hand.
        self.tags = np.zeros((WRITTEN + 1, episodes), dtype=np.int64)  # (5, B)
        self.buffers = Buffers(
            layout, rules.capacity, 1 if rules.action == "priority" else actions.n, episodes
        )
        self.memory = BatchMemory(self.buffers, layout, rules.capacity, episodes)
        longest = rules.length(layout.limits.claims)
        self.account = BatchAccount(bank, rules, rules.total(longest), episodes)
        similarity: Similarity = (
            Tabulated(bank, self.memory)
            if tabulates(layout)
            else Multiplied(bank, self.memory, self.buffers, layout, episodes)
        )
        self.records = BatchRecords(
            self.buffers, layout, rules, bank, self.account, self.memory, similarity
        )
        self.observer = Observer(self, layout, similarity)
        self.all = Rows.of(np.arange(episodes), episodes)

    @property
    def considered(self) -> IntArray:
        """Claims to be decided about, or the one that is never stored: ``(B,)``."""
        claims: IntArray = self.tags[CLAIM]
        return claims

    @property
    def decisions(self) -> IntArray:
        """Decisions of the whole episodes: ``(B,)``."""
        last: IntArray = self.ends[0]
        return last

    @property
    def due(self) -> IntArray:
        """Decisions after which the next settlement comes: ``(B,)``."""
        following: IntArray = self.ends[1]
        return following

    def part(self, numbers: IntArray) -> Rows:
        """Give some of the episodes, numbered in order."""
        return Rows.of(numbers, len(self.decision))

    def is_over(self) -> BoolArray:
        """Whether every decision was taken: ``(B,)``."""
        return np.asarray(self.decision >= self.decisions)

    def begin(self, part: Rows, rows: IntArray, keys: NDArray[np.uint64]) -> None:
        """Begin episodes with materials of the bank, memories empty."""
        at = part.at
        self.decisions[at] = self.rules.length(self.bank.claims[rows])
        self.decision[at] = 0
        self.due[at] = np.minimum(self.decisions[at], self.rules.every or self.decisions[at])
        self.scheduled[at] = self.rules.total(self.decisions[at])
        for counts in (self.settled, self.answered, self.earned, self.illegal):
            counts[at] = 0
        self.memory.begin(part, self.account.begin(part, rows, keys))
        self.records.begin(part)
        self.observer.begin(part)
        self.observer.consider(part, np.full(part.size, self.never) if self.pool else None)

    def decide(self, part: Rows, actions: NDArray[Any]) -> FloatArray:
        """Take one decision in some episodes and settle what is due; gives what it earned."""
        picked, stops = self.act(part, actions)
        earned = self.advance(part, stops)
        self.observer.consider(part, picked)
        return earned

    def act(self, part: Rows, actions: NDArray[Any]) -> tuple[IntArray | None, IntArray | None]:
        """Carry out actions; in a pool, gives the claims picked and who stops."""
        if self.rules.action == "priority":
            self._prioritise(part, actions)
            return None, None
        return self._act(part, actions)

    def advance(self, part: Rows, stops: IntArray | None = None) -> FloatArray:
        """Count a decision in some episodes, and settle what is due; gives what it earned."""
        self.decision[part.at] += 1
        if stops is not None:
            self.decision[stops] = self.due[stops] = self.decisions[stops]
        due = self.decision[part.at] >= self.due[part.at]
        settling = np.count_nonzero(due)
        if settling == part.size:
            earned = self._settle(part)
        else:
            earned = np.zeros(part.size)
            if settling:
                earned[due] = self._settle(self.part(part.numbers[due]))
        return earned

    def _act(self, part: Rows, actions: NDArray[Any]) -> tuple[IntArray | None, IntArray | None]:
        """Carry out discrete actions; in a pool, gives the claims picked and who stops."""
        chosen = actions.astype(np.int64, copy=False)
        mask = self.buffers.mask
        # Read without a sign, negative numbers are the largest: the last column is never legal.
        known = np.minimum(chosen.view(np.uint64), self.actions.n).view(np.int64)
        legal = mask.reshape(-1).take(part.numbers * mask.shape[1] + known) > 0
        if np.count_nonzero(legal) < part.size:
            self._refuse(part, legal, lambda place: self.actions.name(int(chosen[place])))
            known = np.where(legal, known, self.actions.PASS)
        picked, stops = self._pick(part, known, legal) if self.pool else (None, None)
        if self.actions.clears:
            self._clear(part, known)
        self._write(part, known)
        return picked, stops

    def _pick(self, part: Rows, actions: IntArray, legal: BoolArray) -> tuple[IntArray, IntArray]:
        """Give the claims picked from pools, or none ``(n,)``, and the episodes that stop."""
        claims = self.considered[part.at]
        choosing = claims == self.never
        self.observer.mark_considered(part.numbers[~choosing], claims[~choosing])
        first = self.actions.first_consider
        stops = part.numbers[choosing & legal & (actions == self.actions.PASS)]
        return np.where(actions >= first, actions - first, self.never), stops

    def _write(self, part: Rows, actions: IntArray) -> None:
        slots = actions - self.actions.first_write
        writing = ((slots >= 0) & (slots < self.rules.capacity)).nonzero()[0]
        if len(writing):
            self.observer.put(part.numbers[writing], slots[writing])

    def _clear(self, part: Rows, actions: IntArray) -> None:
        slots = actions - self.actions.first_clear
        clearing = np.flatnonzero((slots >= 0) & (actions < self.actions.first_consider))
        if len(clearing):
            self.observer.clear(part.numbers[clearing], slots[clearing])

    def _refuse(self, part: Rows, legal: BoolArray, name: Callable[[int], str]) -> None:
        if self.rules.strict:
            refuse_first(part, legal, name)
        self.illegal[part.numbers[~legal]] += 1

    def _prioritise(self, part: Rows, actions: NDArray[Any]) -> None:
        """Keep the claims of highest priority: ties go to those that were there before."""
        values = np.asarray(actions, dtype=np.float64).reshape(part.size, -1)[:, 0]
        finite = np.isfinite(values)
        if not finite.all():
            self._refuse(part, finite, lambda place: f"the priority {values[place]}")
        value = np.clip(values, -1.0, 1.0)
        at, memory = part.at, self.memory
        occupied, written = memory.occupied[:, at].T, memory.tags[WRITTEN][:, at].T
        stored = np.where(occupied, memory.priority[at], np.inf)
        lower = stored < value[:, None]
        order = np.lexsort((written, np.where(lower, stored, np.inf)), axis=1)
        costs = np.take_along_axis(memory.costs[at], order, axis=1)
        freed = np.zeros((part.size, order.shape[1] + 1))
        np.cumsum(costs, axis=1, out=freed[:, 1:])
        # Column j: the j lowest go. Whether the claim then has a slot, and fits.
        leaving = np.arange(freed.shape[1])
        free = occupied.shape[1] - memory.count[at]
        fits = (free[:, None] + leaving > 0) & (leaving <= lower.sum(axis=1)[:, None])
        if self.rules.budget is not None:
            total = memory.costs[at].sum(axis=1) + self.observer.cost(part)
            fits &= total[:, None] - freed <= self.rules.allowance
        count = np.where(fits.any(axis=1) & finite, fits.argmax(axis=1), -1)
        episode, place = np.nonzero(np.arange(order.shape[1]) < count[:, None])
        if len(episode):
            self.observer.clear(part.numbers[episode], order[episode, place])
        first = np.where(count > 0, order[:, 0], occupied.argmin(axis=1))
        writing = np.flatnonzero(count >= 0)
        if len(writing):
            self.observer.put(part.numbers[writing], first[writing], priority=value[writing])

    def _settle(self, part: Rows) -> FloatArray:
        """Settle what is due in some episodes; gives the utility ``(n,)``."""
        closing = self.decision[part.at] >= self.decisions[part.at]
        ending = np.count_nonzero(closing)
        if ending in (0, part.size):
            return self.settle_queries(part, self.rules.closing if ending else self.rules.queries)
        earned = np.zeros(part.size)
        for chosen in (closing, ~closing):
            earned[chosen] = self._settle(self.part(part.numbers[chosen]))
        return earned

    def settle_queries(self, part: Rows, count: int) -> FloatArray:
        """Settle the next ``count`` queries."""
        rules, at = self.rules, part.at
        right = np.zeros(part.size, dtype=np.int64)
        for start in range(0, count, HISTORY):  # more would not be seen
            answers = self.account.settle(part, min(HISTORY, count - start), self.memory.bitmap)
            right += answers.answered.sum(axis=1)
            self.records.settle(part, answers)
        earned = right.astype(np.float64)
        if rules.settlement == "expected" and rules.disclosure != "one":
            earned = count * self.masses(part).utility
        self.settled[at] += count
        self.answered[at] += right
        self.earned[at] += earned
        self.due[at] = np.minimum(self.due[at] + (rules.every or 0), self.decisions[at])
        self.observer.tell_settled(part)
        return earned

    def masses(self, part: Rows) -> Masses:
        """Give the exact utilities of the memories of some episodes."""
        return self.account.masses(part, self.memory.bitmap[part.at])

    def finals(self, part: Rows) -> dict[str, NDArray[Any]]:
        """Give what some episodes would end with now: ``(n,)`` each."""
        masses, at = self.masses(part), part.at
        return {
            "coverage": masses.coverage,
            "precision": masses.precision,
            "water_inflation": masses.coverage - masses.precision,
            "size": self.memory.count[at],
            "utility": masses.utility,
            "settled": self.earned[at],
        }
