"""The frontier of an objective under which more memory can hurt: a part is read, and order decides.

Likewise where the first item to answer is named and truths are uncertain. Neither greedy's promise
nor saturation at the full context holds here. Few claims: all memories are compared. Else greedy
with swaps for the value, the frontier of everything read for the bound (who reads a part answers no
more), and an integer programme where the ranking is fixed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.neighbours import Neighbours
from memenvs.reading.readers import split_name

ENUMERATED = 12  # candidate claims up to which all 2^n memories are compared
TIED = 1e-12  # of all mass: values that differ by less are equal
IMPROVED = 4  # capacities whose memory is improved by swaps, spread evenly
PASSES = 3  # through a memory, each claim tried for giving up


@dataclass
class Limited:
    """The problem of one objective, and what is known at each of C ascending capacities."""

    material: Material
    objective: Objective
    capacities: FloatArray  # (C,)
    costs: FloatArray  # (E,)
    max_claims: int
    useful: IntArray  # (U,) claims that may be worth storing
    deadline: float
    uppers: FloatArray  # (C,) no memory within the capacity exceeds it
    values: FloatArray = field(init=False)  # (C,)
    optimal: BoolArray = field(init=False)  # (C,)
    memories: list[BoolArray] = field(init=False)  # C of (E,)

    def __post_init__(self) -> None:
        """Begin with the empty memory."""
        self.values = np.zeros(len(self.capacities))
        self.optimal = np.zeros(len(self.capacities), dtype=bool)
        self.memories = [np.zeros(len(self.costs), dtype=bool)] * len(self.capacities)

    def solve(self, method: str) -> None:
        """Narrow every interval; by ``"exact"`` to nothing, until the deadline."""
        if len(self.useful) <= max(ENUMERATED, 0):
            self._enumerate()
            return
        if method != "bound":
            self._climb()
        if method == "exact":
            self._search()
        self.uppers = np.minimum.accumulate(self.uppers[::-1])[::-1]
        self.optimal |= self.uppers - self.values <= TIED

    def offer(self, memory: BoolArray, value: float) -> None:
        """Take a memory wherever it fits and is better than what is known."""
        first = int(np.searchsorted(self.capacities, self.costs[memory].sum()))
        for place in range(first, len(self.values)):
            if value > self.values[place] + TIED:
                self.values[place], self.memories[place] = value, memory

    def _enumerate(self) -> None:
        """Compare all memories of a few claims."""
        count = len(self.useful)
        memories = np.zeros((1 << count, len(self.costs)), dtype=bool)
        memories[:, self.useful] = np.arange(1 << count)[:, None] >> np.arange(count) & 1
        memories = memories[memories.sum(axis=1) <= self.max_claims]
        values = np.asarray(self.objective.expected(self.material, memories))
        spent, sizes = memories @ self.costs, memories.sum(axis=1)
        for place, capacity in enumerate(self.capacities.tolist()):
            within = np.where(spent <= capacity, values, -1.0)
            level = np.flatnonzero(within >= within.max() - TIED)
            winner = int(level[np.argmin(sizes[level])])  # of the best the smallest, the first
            self.memories[place], self.values[place] = memories[winner], values[winner]
        self.uppers = self.values.copy()
        self.optimal = np.ones(len(self.values), dtype=bool)

    def _climb(self) -> None:
        """Offer greedy memories, which stop where nothing helps; improve some of them by swaps."""
        near = Neighbours(self.material, self.objective, self.useful)
        useful, costs = self._prices
        memory, spent = np.zeros(len(self.costs), dtype=bool), 0.0
        while memory.sum() < self.max_claims and time.monotonic() < self.deadline:
            now, grown = near.values(memory)
            fits = ~memory[useful] & (spent + costs <= self.capacities[-1])
            rates = np.where(fits, grown - now, 0.0) / costs
            best = int(rates.argmax())
            if rates[best] <= TIED:
                break
            memory = memory.copy()
            memory[useful[best]] = True
            spent += float(costs[best])
            self.offer(memory, float(grown[best]))
        doubt = np.argsort(self.values - self.uppers, kind="stable")[:IMPROVED]
        for place in doubt.tolist():
            self.offer(*self._swapped(near, self.memories[place], float(self.capacities[place])))

    def _swapped(
        self, near: Neighbours, memory: BoolArray, capacity: float
    ) -> tuple[BoolArray, float]:
        """Leave each claim out in turn, for another one or none, and add to what is free."""
        useful, costs = self._prices
        value, _ = near.values(memory)
        for _ in range(PASSES):
            before = value
            for leaving in [-1, *np.flatnonzero(memory).tolist()]:  # -1: nothing, only to add
                if time.monotonic() > self.deadline:
                    return memory, value
                rest = memory.copy()
                if leaving >= 0:
                    rest[leaving] = False
                without, grown = near.values(rest)
                room = capacity - float(self.costs[rest].sum())
                fits = ~rest[useful] & (costs <= room) & (rest.sum() < self.max_claims)
                grown = np.where(fits, grown, -1.0)
                best = int(grown.argmax())
                if max(without, grown[best]) <= value + TIED:
                    continue
                if grown[best] > without:
                    rest[useful[best]] = True
                memory, value = rest, max(without, float(grown[best]))
            if value <= before + TIED:
                break
        return memory, value

    def _search(self) -> None:
        """Prove the open capacities by an integer programme, the largest first, in equal shares."""
        from memenvs.optimal.ranked import RankedProgramme

        if not RankedProgramme.holds(self.material, self.objective):
            return
        programme = RankedProgramme(
            self.material, self.objective, self.useful, self.costs, self.max_claims
        )
        places: list[int] = np.flatnonzero(self.uppers - self.values > TIED)[::-1].tolist()
        for done, place in enumerate(places):
            left = self.deadline - time.monotonic()
            if left <= 0:
                return
            if self.uppers[place] - self.values[place] <= TIED:
                continue
            memory, upper, ended = programme.search(
                float(self.capacities[place]), self.memories[place], left / (len(places) - done)
            )
            if memory is not None:
                self.offer(memory, float(self.objective.expected(self.material, memory)))
            self.uppers[: place + 1] = np.minimum(self.uppers[: place + 1], upper)
            self.uppers = np.maximum(self.uppers, self.values)
            if ended:
                self.optimal[place] = True
                self.uppers[place] = self.values[place]

    @property
    def _prices(self) -> tuple[IntArray, FloatArray]:
        """The useful claims, and what they cost."""
        return self.useful, self.costs[self.useful]


def candidates(material: Material, objective: Objective) -> IntArray:
    """Claims that may be worth storing: those of a support that can pay, and those that withdraw.

    Any other claim only adds items that take the place of others among what is read; but BM25 ranks
    by what else is stored, and there each claim that yields an item may be.
    """
    incidence = material.incidence
    if split_name(objective.reader)[0] == "bm25":
        return np.unique(np.concatenate([incidence.supports.values, incidence.conflicts.values]))
    weights = objective.weights(material)
    useful = np.zeros(len(incidence.truth), dtype=bool)
    for item in range(len(incidence.answers)):
        if weights[incidence.answers[item]].sum() > 0:
            for row in incidence.item_supports[item].tolist():
                support = incidence.supports[row]
                if objective.utility == "coverage" or (incidence.truth[support] > 0).all():
                    useful[support] = True
    useful[incidence.conflicts.values] = True
    return np.flatnonzero(useful)
