"""The observations of a batch of episodes, kept up to date column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.compiled import (
    ABSENT,
    CLAIM,
    GROUP_LABEL,
    SOURCE,
    SOURCE_LABEL,
    TAGS,
)
from memenvs.envs.memorization.batch.mask import Masks
from memenvs.envs.memorization.batch.memory import WRITTEN, present
from memenvs.envs.memorization.batch.similarity import Similarity
from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.rows import Rows
from memenvs.material.incidence import FloatArray, IntArray

if TYPE_CHECKING:
    from memenvs.envs.memorization.batch.state import Batch

LABELS = slice(SOURCE_LABEL, GROUP_LABEL + 1)


class Observer:
    """Fills the arrays of observations and action masks, once claims are under consideration."""

    def __init__(self, batch: Batch, layout: Layout, similarity: Similarity) -> None:
        self._batch = batch
        columns = layout.memory.slices
        self._column = {name: place.start for name, place in columns.items()}
        self._relations = slice(columns["similarity"].start, columns["same_group"].stop)
        self._context = {name: place.start for name, place in layout.context.slices.items()}
        self._left = slice(self._context["decisions_left"], self._context["next_settlement"] + 1)
        self._similarity = similarity
        self._masks = Masks(batch, layout)
        shape = batch.rules.capacity, len(batch.decision)
        self._to_slots: Float32 = np.full(shape, ABSENT, dtype=np.float32)
        self._places = np.zeros(shape[1], dtype=np.int64)  # (B,) considered claims, in the bank

    def copy(self, part: Rows, block: Float32 | None = None) -> dict[str, NDArray[Any]]:
        """Give the observation of some episodes, in ``block`` or in memory of its own."""
        batch = self._batch
        arrays = batch.buffers.copy(part, block)
        batch.records.show_queries(part, batch.tags[CLAIM, part.at], arrays["queries"])
        return arrays

    def begin(self, part: Rows) -> None:
        """Show that nothing was settled yet."""
        context = self._batch.buffers.context
        context[part.at] = 0.0
        context[part.at, self._context["free_budget"]] = 1.0

    def cost(self, part: Rows) -> FloatArray:
        """Cost of the considered claims: ``(n,)``."""
        cost: FloatArray = self._batch.bank.arrays["cost"].take(self._places[part.at])
        return cost

    def mark_considered(self, episodes: IntArray, claims: IntArray) -> None:
        """Show that claims of a pool were considered."""
        self._batch.buffers.claims[episodes, claims, self._column["considered"]] = 1.0

    def put(self, episodes: IntArray, slots: IntArray, priority: FloatArray | None = None) -> None:
        """Write the considered claims of some episodes into slots."""
        batch, part = self._batch, self._batch.part(episodes)
        if batch.pool:
            between = batch.bank.arrays["between"]
            places = self._places[part.at]
            similarity = between.reshape(-1, between.shape[2])[places, :-2].T
        else:
            similarity = self._to_slots.take(episodes, axis=1)
        cost = None if batch.rules.budget is None else self.cost(part)
        tags = batch.tags.take(episodes, axis=1)
        batch.memory.put(episodes, slots, tags, similarity, cost=cost, priority=priority)

    def clear(self, episodes: IntArray, slots: IntArray) -> None:
        """Empty occupied slots; an episode may stand there more than once."""
        self._batch.memory.clear(episodes, slots)
        self._to_slots[slots, episodes] = ABSENT

    def consider(self, part: Rows, picked: IntArray | None) -> None:
        """Show the claims that are next, those ``picked`` from a pool ``(n,)`` or of the stream."""
        batch, at = self._batch, part.at
        decision, over = batch.decision[at], batch.is_over()[at]
        ending = np.count_nonzero(over) > 0
        claims = decision if picked is None else picked
        if ending and picked is None:
            claims = np.where(over, batch.never, decision)
        places = batch.account.row[at] * (batch.never + 1) + claims
        self._places[at] = places
        tags = batch.bank.arrays["tags"].reshape(-1, TAGS).take(places, axis=0)
        batch.tags[:TAGS, at] = tags.T
        batch.tags[WRITTEN, at] = decision
        if batch.pool:
            self._copy_claim(part, claims)
        else:
            self._show_claim(part, places, tags)
        self._relate(part, places)
        self._tell(part, decision)
        if ending or batch.pool:
            batch.buffers.context[at, self._context["choosing"]] = claims == batch.never
        self._masks.show(part, claims, over)

    def _copy_claim(self, part: Rows, claims: IntArray) -> None:
        buffers, at = self._batch.buffers, part.at
        buffers.claim[at] = 0.0
        picked = claims != self._batch.never
        buffers.claim[part.numbers[picked]] = buffers.claims[part.numbers[picked], claims[picked]]

    def _show_claim(self, part: Rows, places: IntArray, tags: IntArray) -> None:
        """Show claims of streams: they were never stored, so they have no record of their own."""
        batch, rows, records = self._batch, self._batch.buffers.claim, self._batch.records
        features = batch.bank.arrays["features"]
        at = part.at
        rows[at] = features.reshape(-1, features.shape[2]).take(places, axis=0)
        sources = records.sources
        source = part.numbers * sources.shape[1] + tags[:, SOURCE]
        rows[at, records.source_credits] = sources.reshape(-1, 2).take(source, axis=0)
        claim = part.numbers * records.frequency.shape[1] + tags[:, CLAIM]
        rows[at, self._column["frequency"]] = records.frequency.take(claim)

    def _relate(self, part: Rows, places: IntArray) -> None:
        """Show what the considered claims have in common with the stored ones."""
        batch, column, at = self._batch, self._column, part.at
        memory = batch.buffers.memory
        found = self._similarity.to_slots(part, places)
        self._to_slots[:, at] = found
        if not batch.pool:
            largest = np.maximum.reduce(found, axis=0)
            batch.buffers.claim[at, column["redundancy"]] = present(largest)
        relations = np.empty((3, *found.shape), dtype=np.float32)
        relations[0] = present(found)
        relations[1:] = batch.memory.tags[LABELS, :, at] == batch.tags[LABELS, None, at]
        memory[at, :, self._relations] = relations.T

    def _tell(self, part: Rows, decision: IntArray) -> None:
        """Show how far the episodes are."""
        batch, column, at = self._batch, self._context, part.at
        rules, context, ends = batch.rules, batch.buffers.context, batch.ends[:, at]
        age = decision - batch.memory.tags[WRITTEN][:, at]
        age *= batch.memory.occupied[:, at]
        batch.buffers.memory[at, :, self._column["age"]] = (age / ends[0]).T
        context[at, self._left] = ((ends - decision) / ends[0]).T
        free = rules.capacity - batch.memory.count[at]
        context[at, column["free_slots"]] = free / rules.capacity
        if rules.budget is not None:
            cost = batch.memory.costs[at].sum(axis=1)
            free = np.maximum(0.0, 1 - cost / rules.budget)  # a sum may round past it
            context[at, column["free_budget"]] = free

    def tell_settled(self, part: Rows) -> None:
        """Show how much was settled, and how much of it was answered."""
        batch, column, at = self._batch, self._context, part.at
        context, settled = batch.buffers.context, batch.settled[at]
        context[at, column["settled"]] = np.minimum(settled / batch.scheduled[at], 1.0)
        if batch.rules.feedback != "none":
            context[at, column["answered"]] = batch.answered[at] / settled
