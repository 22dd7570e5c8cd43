"""What is at hand of a real stream: its last claims and queries, as a material's are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.features import Float32, Reader
from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import FloatArray, IntArray
from memenvs.material.records import Claim

SLACK = 256  # rows beyond those that are needed, so that forgetting costs little


class Stream:
    """What is at hand of a stream: a ``Seen`` that moves on, its queries the last settled ones."""

    PARTS = ("number", "claims", "embedding", "queries", "source", "group", "cost")

    def __init__(self, layout: Layout) -> None:
        self.reader = Reader(layout)
        self.read = 0  # claims, forgotten ones too
        self._source_column, self._sources = layout.index("source"), layout.limits.claims
        width = layout.limits.embedding
        self._parts: dict[str, _Rows] = {
            "number": _Rows((), np.int64),
            "claims": _Rows((layout.claim.width,), np.float32),
            "embedding": _Rows((width,), np.float32),
            "queries": _Rows((width,), np.float32),
            "source": _Rows((), np.int64),
            "group": _Rows((), np.int64),
            "cost": _Rows((), np.float64),
        }

    @property
    def count(self) -> int:
        """Claims at hand."""
        return self._parts["source"].count

    @property
    def number(self) -> IntArray:
        """How many claims were read before each: ``(E,)``."""
        return self._parts["number"].rows

    @property
    def claims(self) -> Float32:
        """Columns of the claims: ``(E, width)``."""
        return self._parts["claims"].rows

    @property
    def embedding(self) -> Float32:
        """Vectors of the claims: ``(E, d)``."""
        return self._parts["embedding"].rows

    @property
    def queries(self) -> Float32:
        """Vectors of the settled queries: ``(Q, d)``."""
        return self._parts["queries"].rows

    @property
    def source(self) -> IntArray:
        """Number of each claim's source: ``(E,)``."""
        return self._parts["source"].rows

    @property
    def group(self) -> IntArray:
        """Number of each claim's group: ``(E,)``."""
        return self._parts["group"].rows

    @property
    def cost(self) -> FloatArray:
        """What each claim takes of a budget: ``(E,)``."""
        return self._parts["cost"].rows

    def take(self, claim: Claim, vector: Float32, window: int) -> None:
        """Read one claim, and compare it with the last ``window`` before it."""
        self.extend("embedding", vector[None])
        rows, source, group = self.reader.read([claim], self.embedding[-window - 1 :])
        if source[0] >= self._sources:  # policies count no more: to them it is one of no name
            rows[:, self._source_column] = -1.0
        self.extend("claims", rows)
        self.extend("source", source)
        self.extend("group", group)
        self.extend("cost", np.array([claim.cost]))
        self.extend("number", np.array([self.read]))
        self.read += 1

    def reword(self, place: int, text: str, vector: Float32, window: int) -> None:
        """Give a claim other words; they are compared with those at hand that came before it."""
        self.embedding[place] = vector
        before = self.embedding[max(0, place - window) : place + 1]
        self.reader.reword(self.claims[place], text, before)

    def ask(self, vector: Float32) -> None:
        """Note a settled query."""
        self.extend("queries", vector[None])

    def extend(self, part: str, rows: NDArray[Any]) -> None:
        """Add rows to a part."""
        self._parts[part].extend(rows)

    def keep(self, places: IntArray) -> None:
        """Go on with the claims at ``places`` (ascending) alone."""
        for name, part in self._parts.items():
            if name != "queries":
                part.keep(places)

    def forget_queries(self, window: int) -> None:
        """Let go of all but the last ``window`` queries, once there are enough more."""
        queries = self._parts["queries"]
        if queries.count >= window + SLACK:
            queries.keep(np.arange(queries.count - window, queries.count))


class _Rows:
    """Rows that are added at the end; room is doubled, so that adding costs little."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.count = 0
        self._room = np.zeros((64, *shape), dtype=dtype)

    @property
    def rows(self) -> NDArray[Any]:
        """All rows: ``(count, ...)``."""
        return self._room[: self.count]

    def extend(self, rows: NDArray[Any]) -> None:
        """Add rows ``(n, ...)``."""
        needed = self.count + len(rows)
        if needed > len(self._room):
            larger = np.zeros((2 * needed, *self._room.shape[1:]), dtype=self._room.dtype)
            larger[: self.count] = self.rows
            self._room = larger
        self._room[self.count : needed] = rows
        self.count = needed

    def keep(self, places: IntArray) -> None:
        """Keep the rows at ``places`` alone."""
        self._room[: len(places)] = self.rows[places]
        self.count = len(places)
