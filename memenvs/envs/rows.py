"""Some of the environments of a batch."""

from __future__ import annotations

from typing import NamedTuple

from memenvs.material.incidence import IntArray


class Rows(NamedTuple):
    """Some environments of a batch, in order: their numbers, and the same as an index of arrays."""

    numbers: IntArray  # (n,)
    at: IntArray | slice  # a slice where they are all: quicker, and a view

    @classmethod
    def of(cls, numbers: IntArray, num_envs: int) -> Rows:
        """Make the rows of so many environments; all of them make a slice."""
        return cls(numbers, slice(None) if len(numbers) == num_envs else numbers)

    @property
    def size(self) -> int:
        """How many environments there are."""
        return len(self.numbers)
