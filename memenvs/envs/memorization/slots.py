"""The memory as the agent sees it: one row a slot, kept up to date as claims come and go."""

from __future__ import annotations

import numpy as np

from memenvs.envs.memorization.features import Float32, Seen
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.settled import Records
from memenvs.material.incidence import BoolArray

EMPTY = -1


class Slots:
    """S slots over the claims of one material or stream."""

    def __init__(self, features: Seen, layout: Layout, capacity: int) -> None:
        self._features = features
        self._columns = layout.memory.slices
        self._claim_width = layout.claim.width
        self.claims = np.full(capacity, EMPTY)  # (S,) stored claim
        self.written = np.zeros(capacity)  # (S,) decision of the write
        self.priority = np.zeros(capacity)  # (S,)
        self.rows = np.zeros((capacity, layout.memory.width), dtype=np.float32)
        self._similarity = np.full((capacity, capacity), -np.inf, dtype=np.float32)

    @property
    def occupied(self) -> BoolArray:
        """Slots that hold a claim: ``(S,)``."""
        return np.asarray(self.claims != EMPTY)

    @property
    def stored(self) -> frozenset[int]:
        """Stored claims."""
        return frozenset(self.claims[self.occupied].tolist())

    @property
    def cost(self) -> float:
        """Summed cost of the stored claims, in the order of their slots."""
        return float(np.where(self.occupied, self._features.cost[self.claims], 0.0).sum())

    def put(self, slot: int, claim: int, decision: int, priority: float = 0.0) -> None:
        """Write a claim into a slot, whatever stood there."""
        self.clear(slot)
        self.claims[slot] = claim
        self.written[slot] = decision
        self.priority[slot] = priority
        self.rows[slot, : self._claim_width] = self._features.claims[claim]
        if "priority" in self._columns:
            self.rows[slot, self._columns["priority"]] = priority
        others = np.flatnonzero(self.occupied)
        others = others[others != slot]
        similarity = self._features.embedding[self.claims[others]] @ self._features.embedding[claim]
        self._similarity[slot, others] = self._similarity[others, slot] = similarity
        self._update_redundancy()

    def clear(self, slot: int) -> None:
        """Empty a slot."""
        if self.claims[slot] == EMPTY:
            return
        self.claims[slot] = EMPTY
        self.rows[slot] = 0.0
        self._similarity[slot] = self._similarity[:, slot] = -np.inf
        self._update_redundancy()

    def observe(
        self, records: Records, considered: int | None, decision: int, decisions: int
    ) -> Float32:
        """Give all rows ``(S, width)`` with records, ages, relations to the considered claim."""
        held = np.flatnonzero(self.occupied)
        claims = self.claims[held]
        columns = self._columns
        rows = self.rows.copy()
        rows[held, columns["age"].start] = (decision - self.written[held]) / decisions
        for column, values in record_columns(records).items():
            rows[held, columns[column].start] = values[claims]
        if considered is not None and len(held):
            features = self._features
            vectors = features.embedding
            rows[held, columns["similarity"].start] = vectors[claims] @ vectors[considered]
            for column, labels in (
                ("same_source", features.source),
                ("same_group", features.group),
            ):
                mine = labels[considered]
                rows[held, columns[column].start] = (labels[claims] == mine) & (mine >= 0)
        return rows

    def _update_redundancy(self) -> None:
        largest = self._similarity.max(axis=1)
        self.rows[:, self._columns["redundancy"].start] = np.where(
            np.isfinite(largest), largest, 0.0
        )


def record_columns(records: Records) -> dict[str, Float32]:
    """Columns of a claim that settlements change: each ``(E,)``."""
    debits, credits = records.credits
    source_debits, source_credits = records.source_credits
    return {
        "debits": debits,
        "credits": credits,
        "source_debits": source_debits,
        "source_credits": source_credits,
        "frequency": records.frequency,
        **({"reads": records.reads} if records.shows_reads else {}),
    }
