"""Which claims satisfy which supports, items and queries, as flat arrays for whole batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.short_repr import short_repr

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Ragged:
    """Rows of unequal length: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: IntArray  # (sum of lengths,)
    offsets: IntArray  # (rows + 1,)

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[int]]) -> Ragged:
        """Pack ``rows`` in their order."""
        lists = [list(row) for row in rows]
        offsets = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in lists], out=offsets[1:])
        return cls(np.array([v for row in lists for v in row], dtype=np.int64), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> IntArray:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def take(self, rows: IntArray) -> Ragged:
        """Give some of the rows, in the order asked for."""
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Ragged(self.values[places], offsets)

    @cached_property
    def lengths(self) -> IntArray:
        """Length of each row: ``(rows,)``."""
        return np.diff(self.offsets)

    def any(self, flags: BoolArray) -> BoolArray:
        """Say for each row whether any of its values is flagged: ``(..., n)`` to ``(..., rows)``.

        An empty row gives False.
        """
        return self._reduce(np.logical_or.reduceat, flags, empty=False)

    def all(self, flags: BoolArray) -> BoolArray:
        """Say for each row whether all of its values are flagged: ``(..., n)`` to ``(..., rows)``.

        An empty row gives True.
        """
        return self._reduce(np.logical_and.reduceat, flags, empty=True)

    def _reduce(self, reduceat: Callable[..., Any], flags: BoolArray, *, empty: bool) -> BoolArray:
        filled, starts, full = self._filled
        if full:
            return np.asarray(reduceat(flags[..., self.values], starts, axis=-1))
        out = np.full((*flags.shape[:-1], len(self)), empty)
        if len(starts):
            out[..., filled] = reduceat(flags[..., self.values], starts, axis=-1)
        return out

    @cached_property
    def _filled(self) -> tuple[BoolArray, IntArray, bool]:
        """Rows that are not empty, which ``reduceat`` misreads; where they start; if all are."""
        filled = self.lengths > 0
        return filled, self.offsets[:-1][filled], bool(filled.all() and len(filled))


@dataclass(frozen=True)
class Incidence:
    """The relations of one material by index (claims E, items N, supports P, queries Q)."""

    truth: FloatArray  # (E,) probability that the claim is true
    cost: FloatArray  # (E,)
    probability: FloatArray  # (Q,) p_D, sums to 1
    supports: Ragged  # P rows of claims, the supports of item 0 first
    item_supports: Ragged  # N rows of supports
    conflicts: Ragged  # N rows of claims whose presence withdraws the item
    answers: Ragged  # N rows of queries

    __repr__ = short_repr

    @cached_property
    def query_items(self) -> Ragged:
        """Q rows: the items that answer each query, in item order."""
        items = np.repeat(np.arange(len(self.answers)), self.answers.lengths)
        order = np.argsort(self.answers.values, kind="stable")
        offsets = np.zeros(len(self.probability) + 1, dtype=np.int64)
        np.cumsum(
            np.bincount(self.answers.values, minlength=len(self.probability)), out=offsets[1:]
        )
        return Ragged(items[order], offsets)

    @cached_property
    def certain(self) -> bool:
        """Whether every truth is 0 or 1."""
        return bool(np.isin(self.truth, (0.0, 1.0)).all())

    @cached_property
    def decomposable(self) -> bool:
        """Whether every support is a single claim."""
        return bool((self.supports.lengths == 1).all())

    @cached_property
    def monotone(self) -> bool:
        """Whether no stored claim can withdraw an item."""
        return len(self.conflicts.values) == 0

    def satisfied(self, memory: BoolArray) -> BoolArray:
        """Supports that lie wholly in the memory: ``(..., E)`` to ``(..., P)``."""
        return self.supports.all(memory)

    def span(self, memory: BoolArray) -> BoolArray:
        """Items that the memory generates and no stored claim withdraws: ``(..., N)`` (eq. 1)."""
        return self.item_supports.any(self.satisfied(memory)) & ~self.conflicts.any(memory)

    def good_span(self, memory: BoolArray) -> BoolArray:
        """Items of the span with a support of true claims: ``(..., N)`` (eq. 10).

        A claim counts as true when its truth is 1; withdrawal is by any stored claim.
        """
        true_supports = self.satisfied(memory & (self.truth == 1.0))
        return self.item_supports.any(true_supports) & ~self.conflicts.any(memory)

    def answered(self, items: BoolArray) -> BoolArray:
        """Queries that some item of a set answers: ``(..., N)`` to ``(..., Q)`` (eq. 4)."""
        return self.query_items.any(items)


def positions(ids: Sequence[str]) -> dict[str, int]:
    """Map each id to its place."""
    return {identifier: place for place, identifier in enumerate(ids)}
