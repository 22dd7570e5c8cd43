"""The memories of a batch of episodes: what stands in their slots, and how it shows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.buffers import Buffers
from memenvs.envs.memorization.batch.compiled import ABSENT, CLAIM, TAGS, sentinels
from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.rows import Rows
from memenvs.material.incidence import BoolArray, FloatArray, IntArray

WRITTEN = TAGS  # column of a slot's tags, after those of its claim: the decision of the write
NO_LABEL = -2  # of an empty slot; no claim, and no considered one, has it


class BatchMemory:
    """S slots of each of B episodes; a slot without a claim holds the one that is never stored.

    In most arrays the episodes come last: operations then run over whole rows of them.
    """

    def __init__(self, buffers: Buffers, layout: Layout, capacity: int, episodes: int) -> None:
        self._buffers = buffers
        self._columns = {name: place.start for name, place in layout.memory.slices.items()}
        self._claim_width = layout.claim.width
        self._pool = layout.pool
        self._never = sentinels(layout.limits)[1]
        empty = np.array([self._never, NO_LABEL, NO_LABEL, 0, 0])
        self._empty = empty[:, None, None]
        self.tags = np.tile(self._empty, (1, capacity, episodes))  # (5, S, B)
        self.occupied: BoolArray = np.zeros((capacity, episodes), dtype=bool)
        self.count = np.zeros(episodes, dtype=np.int64)  # (B,) of stored claims
        self.priority = np.zeros((episodes, capacity))
        self.costs = np.zeros((episodes, capacity))  # 0 where empty
        self.bitmap = np.zeros((episodes, self._never + 1), dtype=np.uint8)  # (B, L)
        self.bits = np.zeros_like(self.bitmap)  # what each claim adds to the bitmap
        # Similarity to the stored claims (S) of claims: in a pool of all, else of the stored ones.
        rows = layout.limits.claims if layout.pool else capacity
        self._near: Float32 = np.full((capacity, rows, episodes), ABSENT, dtype=np.float32)
        self._starts = np.arange(rows)[:, None] * episodes

    @property
    def claims(self) -> IntArray:
        """Stored claims: ``(S, B)``."""
        claims: IntArray = self.tags[CLAIM]
        return claims

    def begin(self, part: Rows, bits: NDArray[np.uint8]) -> None:
        """Empty the memories of new episodes, whose claims have these bits: ``(n, L)``."""
        at = part.at
        self.tags[..., at] = self._empty
        self.occupied[:, at] = False
        self.count[at] = 0
        self.costs[at] = 0.0
        self.bits[at] = bits
        self.bitmap[at] = 0
        self.bitmap[at, -2] = bits[:, -2]  # the claim that is always stored
        self._near[..., at] = ABSENT
        self._buffers.memory[at] = 0.0

    def put(
        self,
        episodes: IntArray,
        slots: IntArray,
        tags: IntArray,
        similarity: Float32,
        *,
        cost: FloatArray | None,
        priority: FloatArray | None,
    ) -> None:
        """Write considered claims into slots, one in each of the episodes ``(w,)``.

        ``tags`` are those of the claims ``(5, w)``; ``similarity`` is that to the stored claims
        ``(S, w)``, or, in a pool, of all claims to the written ones ``(E, w)``.
        """
        capacity, size = self.occupied.shape
        flat, place = episodes * capacity + slots, slots * size + episodes
        claims, leaving = tags[CLAIM], self.tags[CLAIM].reshape(-1).take(place)
        places = episodes * (self._never + 1)
        bitmap, written = self.bitmap.reshape(-1), places + claims
        bitmap[places + leaving] = 0
        bitmap[written] = self.bits.reshape(-1).take(written)
        self.tags.reshape(TAGS + 1, -1)[:, place] = tags
        self.occupied.reshape(-1)[place] = True
        self.count[episodes] += leaving == self._never
        rows = self._buffers.memory.reshape(-1, self._buffers.memory.shape[2])
        rows[flat, : self._claim_width] = self._buffers.claim.take(episodes, axis=0)
        if cost is not None:
            self.costs.reshape(-1)[flat] = cost
        if "priority" in self._columns:
            self.priority.reshape(-1)[flat] = priority
            rows[flat, self._columns["priority"]] = priority
        if self._pool:
            for column in ("stored", "considered"):
                rows[flat, self._columns[column]] = 0.0  # of a pool's claims, not of slots
            self._mark(episodes, leaving, stored=False)
            self._mark(episodes, claims, stored=True)
        else:
            similarity[slots, np.arange(len(slots))] = ABSENT  # to what had to go
            self._near.reshape(capacity, -1)[:, place] = similarity
        # As _near[slots, :, episodes], which is slow.
        first = slots * self._near[0].size + episodes
        self._near.reshape(-1)[first + self._starts] = similarity
        self._show_redundancy()

    def clear(self, episodes: IntArray, slots: IntArray) -> None:
        """Empty occupied slots; an episode may stand there more than once."""
        leaving = self.claims[slots, episodes]
        self.bitmap[episodes, leaving] = 0
        self.tags[:, slots, episodes] = self._empty[..., 0]
        self.occupied[slots, episodes] = False
        np.subtract.at(self.count, episodes, 1)
        self.costs[episodes, slots] = 0.0
        self._buffers.memory[episodes, slots] = 0.0
        if self._pool:
            self._mark(episodes, leaving, stored=False)
        else:
            self._near[:, slots, episodes] = ABSENT
        self._near[slots, :, episodes] = ABSENT
        self._show_redundancy()

    def _mark(self, episodes: IntArray, claims: IntArray, *, stored: bool) -> None:
        known = claims != self._never
        self._buffers.claims[episodes[known], claims[known], self._columns["stored"]] = stored

    def _show_redundancy(self) -> None:
        """Show the largest similarity to another stored claim, in all episodes."""
        shown = present(np.maximum.reduce(self._near, axis=0))
        column = self._columns["redundancy"]
        if self._pool:
            self._buffers.claims[..., column] = shown.T
            held = np.take_along_axis(shown, np.minimum(self.claims, len(shown) - 1), axis=0)
            shown = held * self.occupied
        self._buffers.memory[..., column] = shown.T


def present(similarity: Float32) -> Float32:
    """Give 0 where there is nothing to compare with."""
    return np.where(similarity > ABSENT, similarity, np.float32(0.0))
