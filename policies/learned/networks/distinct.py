"""Rows that come again and again, each kept once."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import IntArray

LEAST = 1024  # rows that are few


class Distinct:
    """Rows by number; two rows of the same bytes have the same number."""

    def __init__(self) -> None:
        self._rows = np.empty((0, 0), dtype=np.float32)
        self._number()

    def __len__(self) -> int:
        return len(self._numbers)

    def is_crowded(self) -> bool:
        """Whether there are twice the rows that were kept when some were last forgotten."""
        return len(self) > self._crowd

    def enter(self, rows: NDArray[np.float32]) -> NDArray[np.int32]:
        """Give the numbers ``(...)`` of rows ``(..., width)``, those of new ones following on."""
        flat = np.ascontiguousarray(rows).reshape(-1, rows.shape[-1])
        known, before = self._numbers, len(self)
        numbers = np.fromiter(map(known.__getitem__, _keys(flat)), np.int32, len(flat))
        if len(known) > len(self._rows):
            self._rows = np.resize(self._rows, (2 * len(known), flat.shape[1]))
        new = numbers >= before
        self._rows[numbers[new]] = flat[new]
        return numbers.reshape(rows.shape[:-1])

    def rows(self, numbers: IntArray | NDArray[np.int32]) -> NDArray[np.float32]:
        """Give the rows ``(..., width)`` of numbers ``(...)``."""
        return self._rows.take(numbers, axis=0)

    def keep(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Forget all rows but those of ``numbers`` ``(...)``; gives their numbers from now on."""
        needed = np.zeros(len(self), dtype=bool)
        needed[numbers] = True
        self._rows = self._rows[: len(self)][needed]
        self._number()
        renumbered: NDArray[np.int32] = (np.cumsum(needed) - 1).astype(np.int32)
        return renumbered[numbers]

    def __getstate__(self) -> NDArray[np.float32]:
        return self._rows[: len(self)]

    def __setstate__(self, rows: NDArray[np.float32]) -> None:
        self._rows = rows
        self._number()

    def _number(self) -> None:
        keys = _keys(self._rows)
        self._numbers = defaultdict(count(len(keys)).__next__, zip(keys, count(), strict=False))
        self._crowd = max(2 * len(self), LEAST)


def _keys(rows: NDArray[Any]) -> list[bytes]:
    """Give the bytes of each row of an array ``(n, width)``."""
    if not rows.size:
        return []
    whole = np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))
    keys: list[bytes] = np.ascontiguousarray(rows).view(whole)[:, 0].tolist()
    return keys
