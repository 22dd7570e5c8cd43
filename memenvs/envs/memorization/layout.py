"""Which columns an observation has, by name, and the spaces that follow from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.columns import (
    CLAIM_COLUMNS,
    CONTEXT_COLUMNS,
    CUE_COLUMNS,
    MEMORY_COLUMNS,
    POOL_COLUMNS,
    PRIORITY_COLUMN,
    QUERY_COLUMNS,
    READ_COLUMN,
    TEXT_COLUMNS,
    Column,
)
from memenvs.material.material import Material


@dataclass(frozen=True)
class Columns:
    """Named columns of one array."""

    slices: dict[str, slice]
    low: NDArray[np.float32]  # (width,)
    high: NDArray[np.float32]

    @classmethod
    def build(cls, columns: dict[str, Column], widths: dict[str, int]) -> Columns:
        """Lay the columns side by side; a column is one wide unless ``widths`` says otherwise."""
        slices: dict[str, slice] = {}
        low: list[float] = []
        high: list[float] = []
        for name, column in columns.items():
            width = widths.get(name, 1)
            slices[name] = slice(len(low), len(low) + width)
            low += [column.low] * width
            high += [column.high] * width
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
    reads: bool = False  # whether what was read is shown

    @cached_property
    def claim(self) -> Columns:
        """Columns of the considered claim."""
        return Columns.build(self.claim_columns, self._widths)

    @cached_property
    def memory(self) -> Columns:
        """Columns of a slot."""
        return Columns.build(self.memory_columns, self._widths)

    @cached_property
    def queries(self) -> Columns:
        """Columns of a disclosed query."""
        return Columns.build(QUERY_COLUMNS, self._widths)

    @cached_property
    def context(self) -> Columns:
        """Columns of the episode's state."""
        return Columns.build(CONTEXT_COLUMNS, {})

    def space(self, capacity: int, actions: int) -> spaces.Dict:
        """Space of the observation; the mask is that of actions that are numbered."""
        arrays: dict[str, spaces.Space[Any]] = {
            "claim": self.claim.box(),
            "memory": self.memory.box(capacity),
            "queries": self.queries.box(self.query_rows),
            "context": self.context.box(),
        }
        if not self.priority:  # any priority is legal, and spaces of numbers take no mask
            arrays["action_mask"] = spaces.MultiBinary(actions)
        if self.pool:
            arrays["claims"] = self.claim.box(self.limits.claims)
        return spaces.Dict(arrays)

    def slice(self, name: str, of: str = "memory") -> slice:
        """Place of a column in ``claim``, ``memory``, ``queries`` or ``context``.

        A single cue is named ``cues.NAME``, its mean ``source_cues.NAME``. Raises ``KeyError`` that
        lists the known names.
        """
        columns: Columns = getattr(self, of)
        group, dot, cue = name.partition(".")
        if dot and group in CUE_COLUMNS and cue in self.limits.cues and of in ("claim", "memory"):
            start = columns.slices[group].start + self.limits.cues.index(cue)
            return slice(start, start + 1)
        if name not in columns.slices:
            raise KeyError(f"{of} has no column '{name}'; it has {', '.join(columns.slices)}")
        return columns.slices[name]

    def index(self, name: str, of: str = "memory") -> int:
        """Place of a column that is one wide."""
        return int(self.slice(name, of).start)

    @property
    def claim_columns(self) -> dict[str, Column]:
        """What the columns of a claim say."""
        return (
            CLAIM_COLUMNS
            | (TEXT_COLUMNS if self.limits.texts else {})
            | (POOL_COLUMNS if self.pool else {})
            | (READ_COLUMN if self.reads else {})
        )

    @property
    def memory_columns(self) -> dict[str, Column]:
        """What the columns of a slot say."""
        extra = MEMORY_COLUMNS | (PRIORITY_COLUMN if self.priority else {})
        return self.claim_columns | extra

    @property
    def _widths(self) -> dict[str, int]:
        cues = len(self.limits.cues)
        return {"embedding": self.limits.embedding, **dict.fromkeys(CUE_COLUMNS, cues)}
