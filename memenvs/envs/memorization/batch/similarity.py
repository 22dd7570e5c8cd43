"""Similarities in a batch of episodes: looked up where materials are small, else multiplied out."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.buffers import Buffers
from memenvs.envs.memorization.batch.compiled import ABSENT
from memenvs.envs.memorization.batch.memory import BatchMemory
from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.rows import Rows
from memenvs.material.incidence import IntArray


class Similarity(ABC):
    """What considered claims have in common with stored claims, and claims with queries.

    Queries, and claims but for those of ``to_queries``, are named by their places among those of
    all materials in the bank.
    """

    @abstractmethod
    def begin(self, part: Rows, rows: IntArray) -> None:
        """Start episodes with materials ``(n,)``."""

    @abstractmethod
    def to_slots(self, part: Rows, claims: IntArray) -> Float32:
        """Similarity of claims ``(n,)`` to the stored ones, ``ABSENT`` for none: ``(S, n)``."""

    @abstractmethod
    def to_queries(self, part: Rows, queries: IntArray, claims: IntArray) -> Float32:
        """Similarity of queries ``(n, H)`` to claims by number ``(n,)``, 0 for none: ``(n, H)``."""

    @abstractmethod
    def topics(self, part: Rows, queries: IntArray) -> Float32:
        """Similarity of queries ``(n,)`` to every claim of their material: ``(n, L)``."""


class Tabulated(Similarity):
    """Looks similarities up in the bank's tables."""

    def __init__(self, bank: Bank, memory: BatchMemory) -> None:
        self._bank = bank
        self._memory = memory

    def begin(self, part: Rows, rows: IntArray) -> None:
        """Start episodes: the bank knows all."""

    def to_slots(self, part: Rows, claims: IntArray) -> Float32:
        """Similarity of claims to the stored ones."""
        table = self._bank.arrays["between"]
        places = self._memory.claims[:, part.at] + claims * table.shape[2]
        found: Float32 = table.reshape(-1).take(places)
        return found

    def to_queries(self, part: Rows, queries: IntArray, claims: IntArray) -> Float32:
        """Similarity of queries to claims."""
        table = self._bank.arrays["asked"]
        places = queries * table.shape[2]
        places += claims[:, None]
        found: Float32 = table.reshape(-1).take(places)
        return found

    def topics(self, part: Rows, queries: IntArray) -> Float32:
        """Similarity of queries to every claim."""
        table = self._bank.arrays["asked"]
        found: Float32 = table.reshape(-1, table.shape[2]).take(queries, axis=0)
        return found


class Multiplied(Similarity):
    """Multiplies vectors out; those of an episode's claims lie side by side."""

    def __init__(
        self, bank: Bank, memory: BatchMemory, buffers: Buffers, layout: Layout, episodes: int
    ) -> None:
        self._bank = bank
        self._memory = memory
        self._buffers = buffers
        self._claim_place = layout.slice("embedding")
        self._query_place = layout.slice("embedding", "queries")
        shape = (episodes, layout.limits.claims, layout.limits.embedding)
        self._claims: Float32 = np.zeros(shape, dtype=np.float32)

    def begin(self, part: Rows, rows: IntArray) -> None:
        """Start episodes."""
        features = self._bank.arrays["features"]
        self._claims[part.at] = features[rows, :-2, self._claim_place]

    def to_slots(self, part: Rows, claims: IntArray) -> Float32:
        """Similarity of claims to the stored ones."""
        features = self._bank.arrays["features"]
        vectors = features.reshape(-1, features.shape[2])[claims, self._claim_place]
        stored = self._buffers.memory[part.at][..., self._claim_place]
        found: Float32 = np.matmul(stored, vectors[..., None])[..., 0].T
        none = claims % features.shape[1] == features.shape[1] - 1
        found[none | ~self._memory.occupied[:, part.at]] = ABSENT
        return found

    def to_queries(self, part: Rows, queries: IntArray, claims: IntArray) -> Float32:
        """Similarity of queries to claims."""
        vectors = self._buffers.claim[part.at][:, self._claim_place]
        found: Float32 = np.matmul(self._vectors(queries), vectors[..., None])[..., 0]
        return found

    def topics(self, part: Rows, queries: IntArray) -> Float32:
        """Similarity of queries to every claim."""
        claims = self._claims[part.at]
        found = np.zeros((len(queries), claims.shape[1] + 2), dtype=np.float32)
        found[:, :-2] = np.matmul(claims, self._vectors(queries)[..., None])[..., 0]
        return found

    def _vectors(self, queries: IntArray) -> Float32:
        stack = self._bank.arrays["queries"]
        return stack.reshape(-1, stack.shape[2]).take(queries, axis=0)[..., self._query_place]
