"""The reward: which queries are settled, what an answer earns, and which claims it credits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memenvs.counter import QUERY, TRUTH, uniforms
from memenvs.envs.memorization.prepared import Prepared
from memenvs.material.incidence import BoolArray
from memenvs.objective import Objective
from memenvs.reading.answers import read_claims, read_items, reader_of


@dataclass(frozen=True)
class Settled:
    """One query, settled."""

    query: int
    answered: bool  # by the utility of the episode
    claims: frozenset[int]  # credited if answered, else debited
    covered: bool  # some stored support entails an answer
    known: bool  # some stored support of true claims does
    read: frozenset[int] = frozenset()  # claims behind what a limited reader read


class Account:
    """Draws the queries of one episode and settles them against a memory."""

    def __init__(self, prepared: Prepared, objective: Objective, key: np.uint64) -> None:
        self.prepared = prepared
        self.objective = objective
        self.key = key
        self.drawn = 0

    def draw(self, count: int) -> list[int]:
        """Draw the next ``count`` queries from p_D."""
        at = uniforms(self.key, QUERY, np.arange(self.drawn, self.drawn + count))
        self.drawn += count
        found = np.searchsorted(self.prepared.cumulative, at, side="right")
        return [int(query) for query in found]

    def settle(self, query: int, stored: frozenset[int]) -> Settled:
        """Answer ``query`` from the ``stored`` claims.

        Every stored claim in a satisfied support of an item that answers is credited or debited;
        under end-to-end utility, of the item that is named alone: the best match. A limited reader
        finds no other items than those it reads.
        """
        routes = [
            route
            for route in self.prepared.routes(query)
            if route.support <= stored and not route.conflicts & stored
        ]
        behind: frozenset[int] = frozenset()
        if self.objective.limited:
            items, behind = self._read(query, stored)
            routes = [route for route in routes if items[route.item]]
        covered = bool(routes)
        answered = known = any(route.support <= self._true for route in routes)
        if self.objective.utility == "coverage":
            answered = covered
        elif self.objective.utility == "end-to-end":
            routes = [route for route in routes if route.item == routes[0].item]
            answered = any(route.support <= self._true for route in routes)
        claims = frozenset().union(*(route.support for route in routes))
        return Settled(query, answered, claims, covered, known, behind)

    def expected(self, stored: BoolArray) -> float:
        """Exact utility of a memory ``(E,)`` by the episode's objective."""
        return float(self.objective.expected(self.prepared.material, stored))

    def _read(self, query: int, stored: frozenset[int]) -> tuple[BoolArray, frozenset[int]]:
        """Items that are read for a query ``(N,)``, and the stored claims behind them."""
        material = self.prepared.material
        memory = np.zeros(len(material.claims), dtype=bool)
        memory[list(stored)] = True
        spanned = material.incidence.span(memory)
        reader = reader_of(self.objective.reader)
        read = read_items(material, spanned, reader, np.array([query]))
        claims = read_claims(material, memory, read)[0]
        return read[0], frozenset(np.flatnonzero(claims).tolist())

    @cached_property
    def _true(self) -> frozenset[int]:
        """Claims that are true in this episode: truths between 0 and 1 are drawn once."""
        truth = self.prepared.material.incidence.truth
        drawn = uniforms(self.key, TRUTH, np.arange(len(truth))) < truth
        return frozenset(np.flatnonzero(drawn).tolist())
