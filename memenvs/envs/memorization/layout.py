"""Which columns an observation has, by name, and the spaces that follow from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.material import Material
from memenvs.records import FLOAT32_MAX

# Unit vectors and their products leave [-1, 1] by rounding.
UNIT = 1.001

# Columns in their order, each with its lowest and highest value. "embedding" and "cues" are as
# wide as the material's; the rest are single numbers.
CLAIM_COLUMNS: dict[str, tuple[float, float]] = {
    "embedding": (-UNIT, UNIT),
    "cues": (-FLOAT32_MAX, FLOAT32_MAX),
    "confidence": (0, 1),  # 0.5 where none is given
    "cost": (0, FLOAT32_MAX),
    "time": (-FLOAT32_MAX, FLOAT32_MAX),  # since the first claim, in the material's unit
    "place": (0, FLOAT32_MAX),  # earlier claims of its group, log(1 + n)
    "previous_similarity": (-UNIT, UNIT),  # to the claim before it
    "earlier_similarity": (-UNIT, UNIT),  # the largest, to all claims before it
    "credits": (0, FLOAT32_MAX),  # its settled successes in this episode
    "debits": (0, FLOAT32_MAX),
    "source_credits": (0, FLOAT32_MAX),  # those of all claims of its source
    "source_debits": (0, FLOAT32_MAX),
    "frequency": (0, UNIT),  # of its topic among the disclosed queries: mean positive similarity
    "redundancy": (-UNIT, UNIT),  # largest similarity to a (other) stored claim
    "age": (0, 1),  # since it was written, as a share of the episode
    "valid": (0, 1),  # 0: an empty row
}
TEXT_COLUMNS: dict[str, tuple[float, float]] = {  # of the words, where the materials have any
    "length": (0, FLOAT32_MAX),  # characters, log(1 + n), as are the counts below
    "digits": (0, FLOAT32_MAX),
    "capitals": (0, FLOAT32_MAX),
    "time_words": (0, FLOAT32_MAX),
    "first_person": (0, FLOAT32_MAX),
    "second_person": (0, FLOAT32_MAX),
    "question": (0, 1),
}
POOL_COLUMNS: dict[str, tuple[float, float]] = {"stored": (0, 1), "considered": (0, 1)}
MEMORY_COLUMNS: dict[str, tuple[float, float]] = {  # of a slot, after the columns of its claim
    "similarity": (-UNIT, UNIT),  # to the considered claim
    "same_source": (0, 1),
    "same_group": (0, 1),
}
PRIORITY_COLUMN: dict[str, tuple[float, float]] = {"priority": (-1, 1)}
QUERY_COLUMNS: dict[str, tuple[float, float]] = {
    "embedding": (-UNIT, UNIT),
    "weight": (0, 1),  # p_D where it is known
    "outcome": (-1, 1),  # 1 answered rightly, -1 not, 0 not settled
    "similarity": (-UNIT, UNIT),  # to the considered claim
    "valid": (0, 1),
}
CONTEXT_COLUMNS: dict[str, tuple[float, float]] = {
    "decisions_left": (0, 1),  # shares of the episode
    "next_settlement": (0, 1),
    "free_slots": (0, 1),  # shares of what the memory can hold
    "free_budget": (0, 1),
    "settled": (0, 1),  # share of the scheduled queries
    "answered": (0, 1),  # share of the settled ones
    "choosing": (0, 1),  # 1: a claim to consider is to be picked
}


@dataclass(frozen=True)
class Columns:
    """Named columns of one array."""

    slices: dict[str, slice]
    low: NDArray[np.float32]  # (width,)
    high: NDArray[np.float32]

    @classmethod
    def build(cls, ranges: dict[str, tuple[float, float]], widths: dict[str, int]) -> Columns:
        """Lay the columns side by side; a column is one wide unless ``widths`` says otherwise."""
        slices: dict[str, slice] = {}
        low: list[float] = []
        high: list[float] = []
        for name, (least, most) in ranges.items():
            width = widths.get(name, 1)
            slices[name] = slice(len(low), len(low) + width)
            low += [least] * width
            high += [most] * width
        return cls(slices, np.array(low, dtype=np.float32), np.array(high, dtype=np.float32))

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.low)

    def box(self, rows: int | None = None) -> spaces.Box:
        """Space of one row ``(width,)`` or of ``(rows, width)``."""
        shape = (self.width,) if rows is None else (rows, self.width)
        return spaces.Box(
            np.broadcast_to(self.low, shape).copy(), np.broadcast_to(self.high, shape).copy()
        )


@dataclass(frozen=True)
class Limits:
    """The maxima that fix the spaces; smaller materials are padded."""

    claims: int
    queries: int
    embedding: int
    cues: tuple[str, ...]  # names of the columns inside "cues"
    texts: bool

    @classmethod
    def of(cls, materials: Iterable[Material], embedding: int) -> Limits:
        """Find what holds every one of ``materials``."""
        listed = list(materials)
        claims = [claim for material in listed for claim in material.claims]
        return cls(
            claims=max(len(material.claims) for material in listed),
            queries=max(len(material.queries) for material in listed),
            embedding=embedding,
            cues=tuple(sorted({name for claim in claims for name in dict(claim.cues)})),
            texts=any(claim.text for claim in claims),
        )


@dataclass(frozen=True)
class Layout:
    """Columns of the observation's arrays.

    ``claim`` and each row of ``claims`` have the columns of ``claim``; a row of ``memory`` begins
    with the same columns and goes on with relations, so one slice serves all three.
    """

    limits: Limits
    pool: bool
    priority: bool
    query_rows: int  # disclosed queries in view

    @cached_property
    def claim(self) -> Columns:
        """Columns of the considered claim."""
        return Columns.build(self._claim_ranges, self._widths)

    @cached_property
    def memory(self) -> Columns:
        """Columns of a slot."""
        extra = MEMORY_COLUMNS | (PRIORITY_COLUMN if self.priority else {})
        return Columns.build(self._claim_ranges | extra, self._widths)

    @cached_property
    def queries(self) -> Columns:
        """Columns of a disclosed query."""
        return Columns.build(QUERY_COLUMNS, self._widths)

    @cached_property
    def context(self) -> Columns:
        """Columns of the episode's state."""
        return Columns.build(CONTEXT_COLUMNS, {})

    def space(self, capacity: int, actions: int) -> spaces.Dict:
        """Space of the observation."""
        arrays: dict[str, spaces.Space[Any]] = {
            "claim": self.claim.box(),
            "memory": self.memory.box(capacity),
            "queries": self.queries.box(self.query_rows),
            "context": self.context.box(),
            "action_mask": spaces.MultiBinary(actions),
        }
        if self.pool:
            arrays["claims"] = self.claim.box(self.limits.claims)
        return spaces.Dict(arrays)

    def slice(self, name: str, of: str = "memory") -> slice:
        """Place of a column in ``claim``, ``memory``, ``queries`` or ``context``.

        A single cue is named ``cues.NAME``. Raises ``KeyError`` that lists the known names.
        """
        columns: Columns = getattr(self, of)
        group, dot, cue = name.partition(".")
        if dot and group == "cues" and cue in self.limits.cues and of in ("claim", "memory"):
            start = columns.slices["cues"].start + self.limits.cues.index(cue)
            return slice(start, start + 1)
        if name not in columns.slices:
            raise KeyError(f"{of} has no column '{name}'; it has {', '.join(columns.slices)}")
        return columns.slices[name]

    def index(self, name: str, of: str = "memory") -> int:
        """Place of a column that is one wide."""
        return int(self.slice(name, of).start)

    @property
    def _claim_ranges(self) -> dict[str, tuple[float, float]]:
        return (
            CLAIM_COLUMNS
            | (TEXT_COLUMNS if self.limits.texts else {})
            | (POOL_COLUMNS if self.pool else {})
        )

    @property
    def _widths(self) -> dict[str, int]:
        return {"embedding": self.limits.embedding, "cues": len(self.limits.cues)}
