"""What every batch of episodes does alike, of one agent or of several: seeds, resets and limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.arguments import (
    RESET_MASK,
    check_counts,
    read_each,
    read_mask,
    read_options,
)
from memenvs.envs.family import Family
from memenvs.envs.rows import Rows
from memenvs.envs.seeds import EpisodeKeys, Seeds
from memenvs.material.incidence import BoolArray, IntArray

Infos = dict[str, Any]


class Shell(ABC):
    """B episodes of a family, each at a step of its own.

    A family begins episodes in some rows and says what they end with; when that happens is decided
    here. Arguments of a reset that are refused leave every episode as it was; where beginning one
    fails later there is no episode, and ``step`` asks for a reset.
    """

    family: ClassVar[Family]
    limit_name: ClassVar[str] = "max_episode_steps"

    def open(self, num_envs: int, limit: int | None) -> None:
        """Make room for so many environments; raises ``ValueError`` for what is no number."""
        check_counts(num_envs=num_envs, **{self.limit_name: limit})
        self.num_envs = int(num_envs)
        self.all = self.rows(np.arange(num_envs))
        self.elapsed: IntArray = np.zeros(num_envs, dtype=np.int64)  # (B,) steps taken
        self.done: BoolArray = np.zeros(num_envs, dtype=bool)  # (B,) over, and not yet reset
        self._limit = limit
        self._finals = [(name, type(zero)) for name, zero in self.family.blank().items()]
        self._keys = EpisodeKeys(num_envs)
        self._begun = False

    @abstractmethod
    def begin(self, rows: Rows, keys: NDArray[np.uint64], wanted: Sequence[Any] | None) -> None:
        """Begin episodes by their keys ``(n,)``, in instances that are ``wanted``, or drawn by key.

        ``wanted`` is None, or holds an instance or None for each row.
        """

    @abstractmethod
    def check_instance(self, given: Any) -> Any:
        """Give an instance that can be played; raises an error that says why this one cannot."""

    @abstractmethod
    def finals(self, rows: Rows) -> Mapping[str, NDArray[Any]]:
        """Give what some episodes ended with, by the names of ``family.finals``: ``(n,)`` each."""

    def rows(self, numbers: IntArray) -> Rows:
        """Give some of the environments, numbered in order."""
        return Rows.of(numbers, self.num_envs)

    def begin_chosen(self, seed: Seeds, options: Mapping[str, Any] | None) -> Rows:
        """Begin the episodes that a reset asks for; gives their rows."""
        given = read_options(options, (self.family.instance, RESET_MASK))
        mask = read_mask(given.get(RESET_MASK), self.num_envs)
        if not (self._begun or mask.all()):
            raise RuntimeError("no episode has begun; call reset() for all first")
        rows = self.rows(mask.nonzero()[0])
        wanted = self._wanted(given.get(self.family.instance), rows)
        self._keys.seed(seed, rows)
        self.begin_rows(rows, wanted)
        return rows

    def begin_rows(self, rows: Rows, wanted: Sequence[Any] | None = None) -> None:
        """Begin episodes with fresh keys."""
        self._begun = False  # where the next line fails there is no episode
        self.begin(rows, self._keys.take(rows), wanted)
        self._begun = True
        self.elapsed[rows.at] = 0
        self.done[rows.at] = False

    def late(self) -> BoolArray:
        """Say which episodes have taken as many steps as they may: ``(B,)``."""
        if self._limit is None:
            return np.zeros(self.num_envs, dtype=bool)
        return np.asarray(self.elapsed >= self._limit)

    def check_begun(self) -> None:
        """Raise ``RuntimeError`` where no episode has begun."""
        if not self._begun:
            raise RuntimeError("no episode has begun; call reset()")

    def blank_finals(self) -> dict[str, NDArray[Any]]:
        """Give what stands in place of the finals before the end: zeros ``(B,)``."""
        return {name: np.zeros(self.num_envs, dtype=kind) for name, kind in self._finals}

    def spread_finals(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """Give the finals of rows that ended where they stand, zeros elsewhere: ``(B,)``."""
        spread = self.blank_finals()
        if rows.size:
            for name, values in self.finals(rows).items():
                spread[name][rows.at] = values
        return spread

    def _wanted(self, given: Any, rows: Rows) -> list[Any] | None:
        if given is None:
            return None
        each = read_each(self.family.instance, given, self.num_envs)
        chosen = [each[number] for number in rows.numbers.tolist()]
        return [None if one is None else self.check_instance(one) for one in chosen]


def spread(values: NDArray[Any], rows: Rows, num_envs: int) -> NDArray[Any]:
    """Put values ``(n, ...)`` of some rows where they stand, zeros or None elsewhere; a copy."""
    if rows.size == num_envs:
        return values.copy()
    blank = None if values.dtype == object else 0
    found = np.full((num_envs, *values.shape[1:]), blank, dtype=values.dtype)
    found[rows.at] = values
    return found
