"""The queries of B episodes as an opponent of the writer sees them: all, with their mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.state import Batch
from memenvs.envs.memorization.columns import UNIT, Column
from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Columns, Layout
from memenvs.envs.rows import Rows
from memenvs.material.incidence import BoolArray, FloatArray, IntArray

QUERY_COLUMNS: dict[str, Column] = {
    "embedding": Column(-UNIT, UNIT, "vector of the query, of length 1"),
    "weight": Column(0, 1, "its share of p_D"),
    "answered": Column(0, 1, "how often it was answered, as a share of all that will be asked"),
    "missed": Column(0, 1, "how often it was missed, as a share of all that will be asked"),
    "told": Column(0, UNIT, "mean positive similarity to the claims read so far"),
    "valid": Column(0, 1, "0: an empty row"),
}


class Queries:
    """Q queries of each of B episodes: how often they were answered, and what was read of them."""

    def __init__(self, layout: Layout, episodes: int) -> None:
        self.count = layout.limits.queries
        self.columns = Columns.build(QUERY_COLUMNS, {"embedding": layout.limits.embedding})
        self._claim = layout.slice("embedding")
        self._query = layout.slice("embedding", "queries")
        shape = episodes, self.count
        self.settled = np.zeros((2, *shape))  # how often each query was missed, and answered
        self.weight = np.zeros(shape)
        self.vectors: Float32 = np.zeros((*shape, layout.limits.embedding), dtype=np.float32)
        self._told: Float32 = np.zeros(shape, dtype=np.float32)  # summed over what was read
        self._read = np.zeros(episodes)

    @property
    def space(self) -> spaces.Box:
        """Space of the rows of one episode."""
        return self.columns.box(self.count)

    def begin(self, part: Rows, arrays: dict[str, NDArray[Any]], rows: IntArray) -> None:
        """Start episodes with materials of a bank."""
        at = part.at
        self.settled[:, at] = 0
        self._told[at] = 0
        self._read[at] = 0
        self.weight[at] = arrays["probability"][rows, :-1]
        self.vectors[at] = arrays["queries"][rows, :-1, self._query]

    def read(self, part: Rows, batch: Batch) -> None:
        """Note the claims that are being decided about."""
        claim = batch.buffers.claim[part.at][:, self._claim]
        found = np.matmul(self.vectors[part.at], claim[..., None])[..., 0]
        self._told[part.at] += np.maximum(found, 0.0)
        self._read[part.at] += 1

    def settle(self, part: Rows, queries: IntArray, answered: BoolArray) -> None:
        """Count settled queries ``(n, k)`` and their outcomes."""
        episode = np.broadcast_to(part.numbers[:, None], queries.shape)
        np.add.at(self.settled, (answered.astype(np.int64), episode, queries), 1)

    def observe(self, scheduled: IntArray) -> Float32:
        """Give all rows ``(B, Q, width)``; ``scheduled`` queries will be asked in all."""
        shape = *self.weight.shape, self.columns.width
        rows: Float32 = np.zeros(shape, dtype=np.float32)
        valid = self.weight > 0
        values: dict[str, FloatArray | BoolArray] = {
            "weight": self.weight,
            "answered": self.settled[1] / scheduled[:, None],
            "missed": self.settled[0] / scheduled[:, None],
            "told": self._told / np.maximum(self._read, 1)[:, None] * valid,
            "valid": valid,
        }
        rows[..., self.columns.slices["embedding"]] = self.vectors
        for name, array in values.items():
            rows[..., self.columns.slices[name].start] = array
        return rows
