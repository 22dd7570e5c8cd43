"""What an episode has learned from settlements: records of claims and sources, and queries."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memenvs.envs.memorization.features import Float32, Seen
from memenvs.envs.memorization.layout import Layout


class Records:
    """Counts per claim and per source, the frequency of topics, and the disclosed queries."""

    def __init__(self, features: Seen, layout: Layout) -> None:
        self._features = features
        self._columns = layout.queries.slices
        claims, sources = len(features.source), int(features.source.max(initial=-1)) + 1
        self.credits = np.zeros((2, claims), dtype=np.float32)  # debits, credits
        # The last source stands for claims that name none: it keeps no record.
        self._source_credits = np.zeros((2, sources + 1), dtype=np.float32)
        self.reads = np.zeros(claims, dtype=np.float32)
        self.shows_reads = layout.reads
        self.frequency = np.zeros(claims, dtype=np.float32)
        self.disclosed_mass = 0.0
        self.queries = np.zeros((layout.query_rows, layout.queries.width), dtype=np.float32)
        self._row_of: dict[int, int] = {}  # of queries disclosed beforehand

    @property
    def source_credits(self) -> Float32:
        """Debits and credits of each claim's source: ``(2, E)``."""
        return self._source_credits[:, self._features.source]

    def disclose(self, weights: dict[int, float]) -> None:
        """Show queries before the first write, with their weight; their rows stay in place."""
        for row, (query, weight) in enumerate(weights.items()):
            self._row_of[query] = row
            self._fill(row, query, weight)
            if weight:  # nothing of no weight changes a mean
                self._observe_topic(query, weight)

    def settle(
        self, query: int, answered: bool, claims: Iterable[int], read: Iterable[int] = ()
    ) -> None:
        """Enter a settled query: its outcome, ``claims`` to be credited or debited, those read."""
        row = self._row_of.get(query, 0)
        if not self._row_of:  # newest first, the oldest drops out
            self.queries[1:] = self.queries[:-1].copy()
            self._fill(0, query, 0.0)
            self._observe_topic(query, 1.0)
        self.queries[row, self._columns["outcome"]] = 1.0 if answered else -1.0
        self.reads[list(read)] += 1
        side = int(answered)
        for claim in claims:
            self.credits[side, claim] += 1
            source = self._features.source[claim]
            if source >= 0:
                self._credit(side, int(source))

    def _credit(self, side: int, source: int) -> None:
        self._source_credits[side, source] += 1

    def _fill(self, row: int, query: int, weight: float) -> None:
        values = self.queries[row]
        values[:] = 0.0
        values[self._columns["embedding"]] = self._features.queries[query]
        values[self._columns["weight"]] = weight
        values[self._columns["valid"]] = 1.0

    def _observe_topic(self, query: int, mass: float) -> None:
        """Update each claim's mean positive similarity to the disclosed queries."""
        similarity = self._features.embedding @ self._features.queries[query]
        self.disclosed_mass += mass
        step = mass / self.disclosed_mass if self.disclosed_mass else 0.0
        self.frequency += step * (np.maximum(similarity, 0.0) - self.frequency)
