"""A reader that learned from settlements which of the stored items to read for a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.policies.learned.supervised import COUNTS
from memenvs.reading.utility import BEST_MATCH, DECIMALS, Reader, item_ranks
from memenvs.text.encoders import embeddings

SIMILARITY = "similarity"
READ = (*COUNTS, "age")  # what is known of a stored claim, beside its similarity to the query
REGULARISATION = 1.0  # scikit-learn's C, of standardised features
SETTLEMENTS = 8  # of each query that are learned from
WIDER = 4  # times as many items as are read, of which these are drawn


@dataclass(frozen=True)
class Memory:
    """A final memory of a material, and what is known of its claims.

    Args:
        material: of which it was made.
        claims: stored ones, by number: ``(n,)``.
        rows: their columns, as the observation shows them: ``(n, width)``.
        layout: of these columns.
    """

    material: Material
    claims: IntArray
    rows: NDArray[Any]
    layout: Layout

    @property
    def stored(self) -> BoolArray:
        """Which claims are stored: ``(E,)``."""
        mask = np.zeros(len(self.material.claims), dtype=bool)
        mask[self.claims] = True
        return mask

    def features(self) -> tuple[IntArray, FloatArray]:
        """Give the spanned items ``(n,)``, and features of each for each query ``(Q, n, f)``.

        An item has the mean columns of the stored claims of its first support that is held.
        """
        incidence, stored = self.material.incidence, self.stored
        items: IntArray = np.flatnonzero(incidence.span(stored))
        place = {claim: row for row, claim in enumerate(self.claims.tolist())}
        columns = [self.layout.index(name, "claim") for name in READ]
        known = self.rows[:, columns].astype(np.float64)
        known = np.log1p(np.maximum(known, 0.0))
        behind = np.zeros((len(items), len(READ)))
        for row, item in enumerate(items.tolist()):
            held = next(s for s in self._supports(item) if stored[s].all())
            behind[row] = known[[place[claim] for claim in held.tolist()]].mean(axis=0)
        _, vectors, queries = embeddings(self.material)
        similar = np.round(queries @ vectors[items].T, DECIMALS)
        shape = (*similar.shape, len(READ))
        return items, np.concatenate([similar[..., None], np.broadcast_to(behind, shape)], axis=-1)

    def _supports(self, item: int) -> Iterator[IntArray]:
        incidence = self.material.incidence
        return (incidence.supports[s] for s in incidence.item_supports[item].tolist())


@dataclass(frozen=True)
class Reranker:
    """Log-odds that an item answers a query rightly, linear in its features."""

    weights: FloatArray  # (f,)
    k: int  # items that are read

    @classmethod
    def fit(cls, memories: list[Memory], k: int, rng: np.random.Generator) -> Reranker:
        """Learn from settlements of each query at the end of episodes.

        ``SETTLEMENTS`` times it is answered from K items, drawn from the ``WIDER`` K most similar:
        were the K most similar read, what is named would always be the least similar of what is
        told of. A settlement tells that the named item was right, or that it was wrong; that what
        ranks above it did not answer; and nothing of what ranks below it, or was not read.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        told = [_settled(memory, k, rng) for memory in memories]
        rows, right, mass = (np.concatenate(part) for part in zip(*told, strict=True))
        if right.all() or not right.any():
            raise ValueError("the settlements are all alike: there is nothing to learn to read by")
        scaler = StandardScaler().fit(rows)
        found = LogisticRegression(C=REGULARISATION, max_iter=1000)
        found.fit(scaler.transform(rows), right, sample_weight=mass / mass.mean())
        return cls(found.coef_[0] / scaler.scale_, k)

    def reader(self, memory: Memory) -> Reader:
        """Read the K items of a memory with the highest log-odds; ties go by item order."""
        items, features = memory.features()
        order = np.argsort(-np.round(features @ self.weights, DECIMALS), axis=1, kind="stable")
        read = np.zeros((len(order), len(memory.material.items)), dtype=bool)
        np.put_along_axis(read, items[order[:, : self.k]], True, axis=1)
        return lambda _, spanned: spanned[..., None, :] & read


def _settled(
    memory: Memory, k: int, rng: np.random.Generator
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Give features ``(n, f)`` of what settlements told of, whether it was right, and p_D."""
    material, incidence = memory.material, memory.material.incidence
    items, features = memory.features()
    ranks = item_ranks(material)
    read = np.zeros((SETTLEMENTS, *ranks.shape), dtype=bool)
    near = items[np.argsort(ranks[:, items], axis=1)[:, : WIDER * k]]  # (Q, n), the best first
    drawn = rng.permuted(np.tile(near, (SETTLEMENTS, 1, 1)), axis=2)[..., :k]
    np.put_along_axis(read, drawn, True, axis=2)
    named = np.asarray(BEST_MATCH(material, read))  # (SETTLEMENTS, Q)
    place = np.take_along_axis(np.broadcast_to(ranks, read.shape), named[..., None], axis=2)
    last = np.where(named[..., None] >= 0, place, np.iinfo(np.int32).max)
    told = (read & (ranks <= last))[..., items]
    good = incidence.good_span(memory.stored)
    right = told & (items == named[..., None]) & good[items]
    mass = np.broadcast_to(incidence.probability[:, None], told.shape)
    told = told & (mass > 0)
    rows = np.broadcast_to(features, (*told.shape, features.shape[-1]))
    return rows[told], right[told], mass[told]
