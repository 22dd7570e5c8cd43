"""Which queries were settled in this episode, and which claims answered each, for a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import IntArray
from memenvs.policies.expected_reading import items_read
from memenvs.policies.learned.networks.history import NO_CLAIM, Read
from memenvs.policies.rules.joint import scheduled
from memenvs.reading.utility import DECIMALS

ANSWERS, UNKNOWN, SILENT = 1, 0, -1


class Asked(NamedTuple):
    """The queries that were settled in B episodes, in order."""

    vectors: NDArray[np.float32]  # (B, T, d), zero where nothing was settled yet
    # (B, E, T) by the place of a claim in what was read: ANSWERS, SILENT, 0 where it is not known
    known: NDArray[np.int8]
    size: IntArray  # (B,) queries settled


class Questions:
    """Enters settled queries under a reader of the K most similar items, or of all.

    What was read of a query that was settled alone is known to answer it, or not to, down to the
    claim that was named. Raises ``ValueError`` where that is not told.
    """

    def __init__(self, layout: Layout, rules: Rules) -> None:
        if rules.feedback != "claims":
            raise ValueError(
                f"what a reader finds is learned from credited claims (feedback='claims'), not "
                f"from feedback='{rules.feedback}'"
            )
        if rules.utility != "end-to-end" or rules.disclosure != "settled":
            raise ValueError(
                "what a reader finds is learned where utility='end-to-end' and "
                f"disclosure='settled', not utility='{rules.utility}' and "
                f"disclosure='{rules.disclosure}'"
            )
        self.k = items_read(rules, layout)
        self._layout = layout
        self._scheduled = scheduled(rules, layout)
        self._vector = layout.slice("embedding", "claim")
        self._query = layout.slice("embedding", "queries")
        self._record = [layout.index(name, "claim") for name in ("credits", "debits")]
        self._settled = layout.index("settled", "context")

    def start(self, episodes: int) -> Asked:
        """Give what was asked in new episodes: nothing."""
        limits = self._layout.limits
        return Asked(
            np.zeros((episodes, self._scheduled, limits.embedding), dtype=np.float32),
            np.zeros((episodes, limits.claims, self._scheduled), dtype=np.int8),
            np.zeros(episodes, dtype=np.int64),
        )

    def enter(
        self, asked: Asked, before: Read, after: Read, observation: dict[str, NDArray[Any]]
    ) -> Asked:
        """Add what was settled between two observations, of which the second is given."""
        vectors, known, count = asked.vectors.copy(), asked.known.copy(), asked.size
        short = after.claims.shape[1] - known.shape[1]
        if short > 0:
            known = np.pad(known, ((0, 0), (0, short), (0, 0)))
        queries = observation["queries"][..., self._query]
        share = observation["context"][:, self._settled].astype(np.float64)
        fresh = np.rint(share * self._scheduled).astype(np.int64) - count
        fresh = np.clip(fresh, 0, np.minimum(queries.shape[1], vectors.shape[1] - count))
        episode, row = np.nonzero(np.arange(queries.shape[1]) < fresh[:, None])
        vectors[episode, count[episode] + fresh[episode] - 1 - row] = queries[episode, row]
        alone = np.flatnonzero(fresh == 1)
        if len(alone):
            place = count[alone]
            self._tell(known, alone, place, vectors[alone, place], before, after)
        return Asked(vectors, known, count + fresh)

    def _tell(
        self,
        known: NDArray[np.int8],
        episode: IntArray,
        place: IntArray,
        query: NDArray[np.float32],
        before: Read,
        after: Read,
    ) -> None:
        """Enter what is known of one query ``(n, d)`` in each of n episodes."""
        slots = after.slots[episode]  # (n, S)
        row = np.arange(len(episode))[:, None]
        stored = slots != NO_CLAIM
        vectors = after.claims[episode[:, None], slots][..., self._vector]
        similarity = np.round(np.einsum("nsd,nd->ns", vectors, query), DECIMALS)
        similarity[~stored] = -np.inf
        # Ties go by the order of the claims.
        order = np.lexsort((slots, -similarity), axis=1)[:, : self.k]
        read = slots[row, order]
        earlier = before.claims[episode[:, None], read][..., self._record]
        gained = after.claims[episode[:, None], read][..., self._record] - earlier
        named = gained.sum(axis=-1) > 0
        # Of what ranks below the named one nothing is said.
        below = np.cumsum(named, axis=1) - named > 0
        status = np.where(named, ANSWERS, np.where(below, UNKNOWN, SILENT))
        at = episode[:, None], read, place[:, None]
        said = stored[row, order] & (status != UNKNOWN)
        known[at] = np.where(said, status, known[at])
