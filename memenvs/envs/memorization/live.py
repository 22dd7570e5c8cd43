"""A memory of a real stream: claims arrive and answers are judged from outside, with no end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.features import Float32, Reader
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.observation import observe
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.envs.memorization.writing import Writing
from memenvs.material.incidence import FloatArray, IntArray
from memenvs.material.records import Claim

# What changes as a memory is written, beside what the stream itself holds.
SLOTS = ("claims", "written", "priority", "rows", "_similarity")
RECORDS = ("credits", "_source_credits", "reads", "frequency", "queries")
COUNTS = ("decision", "decisions", "settled", "answered", "illegal")


class Live(Writing):
    """The agent's side of a stream that is read as it comes: no material, no truth, no p_D.

    ``claims`` is how many the stream is expected to have. Of a longer one every claim is taken for
    the last. Queries are known by being settled alone.
    """

    def __init__(self, rules: Rules, actions: Actions, layout: Layout, claims: int) -> None:
        self.stream = Stream(layout)
        self._layout = layout
        super().__init__(rules, actions, layout, self.stream, claims)

    @property
    def considered(self) -> int | None:
        """The claim that has arrived and was not decided about."""
        return self.decision if self.decision < self.stream.count else None

    def arrive(self, claim: Claim, vector: Float32) -> None:
        """Take the next claim into view; ``vector`` ``(d,)`` has length 1, or is zero."""
        heard = self.stream.queries @ vector
        frequency = np.maximum(heard, 0.0).mean() if len(heard) else 0.0
        self.stream.read(claim, vector)
        self.records.grow(np.array([frequency], dtype=np.float32))
        self.decisions = max(self.decisions, self.stream.count)
        self.scheduled = self.rules.total(self.decisions)

    def observation(self) -> dict[str, NDArray[Any]]:
        """Give what an environment would show."""
        return observe(self, self._layout) | {"action_mask": self.mask().astype(np.int8)}

    def settle(self, vector: Float32, answered: bool, claims: Iterable[int]) -> None:
        """Hear how a query was answered, and which stored claims are behind the answer."""
        query = len(self.stream.queries)
        if self.rules.feedback != "none":
            self.stream.ask(vector)
        self.hear(query, answered, claims)

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything that numbers say of the memory, for ``restore``."""
        arrays = {f"slots.{name}": getattr(self.slots, name) for name in SLOTS}
        arrays |= {f"records.{name}": getattr(self.records, name) for name in RECORDS}
        arrays |= {f"stream.{name}": getattr(self.stream, name) for name in Stream.PARTS}
        counts = [getattr(self, name) for name in COUNTS]
        mass = np.array(self.records.disclosed_mass)
        return arrays | {"counts": np.array(counts), "records.disclosed_mass": mass}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Become what ``as_arrays`` was taken of; the names in the reader are restored apart."""
        for name in Stream.PARTS:
            self.stream.extend(name, arrays[f"stream.{name}"])
        for name in SLOTS:
            setattr(self.slots, name, arrays[f"slots.{name}"])
        for name in RECORDS:
            setattr(self.records, name, arrays[f"records.{name}"])
        self.records.disclosed_mass = float(arrays["records.disclosed_mass"])
        for name, count in zip(COUNTS, arrays["counts"].tolist(), strict=True):
            setattr(self, name, count)
        self.scheduled = self.rules.total(self.decisions)


class Stream:
    """What was read of a stream: a ``Seen`` that grows, its queries the settled ones in order."""

    PARTS = ("claims", "embedding", "queries", "source", "group", "cost")

    def __init__(self, layout: Layout) -> None:
        self.reader = Reader(layout)
        width = layout.limits.embedding
        self._parts: dict[str, _Growing] = {
            "claims": _Growing((layout.claim.width,), np.float32),
            "embedding": _Growing((width,), np.float32),
            "queries": _Growing((width,), np.float32),
            "source": _Growing((), np.int64),
            "group": _Growing((), np.int64),
            "cost": _Growing((), np.float64),
        }

    @property
    def count(self) -> int:
        """Claims read."""
        return self._parts["source"].count

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

    def read(self, claim: Claim, vector: Float32) -> None:
        """Read one claim."""
        self.extend("embedding", vector[None])
        rows, source, group = self.reader.read([claim], self.embedding)
        self.extend("claims", rows)
        self.extend("source", source)
        self.extend("group", group)
        self.extend("cost", np.array([claim.cost]))

    def ask(self, vector: Float32) -> None:
        """Note a settled query."""
        self.extend("queries", vector[None])

    def extend(self, part: str, rows: NDArray[Any]) -> None:
        """Add rows to a part."""
        self._parts[part].extend(rows)


class _Growing:
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
