"""What a batch of episodes shows, kept from step to step in one block of numbers."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import IntArray

BLOCKS = 4  # that are remembered once they left
UNSEEN = 3  # references to a block that is only remembered: the list's, the loop's, the call's


class Part(NamedTuple):
    """Some episodes of a batch, in order: their numbers, and the same as an index of arrays."""

    numbers: IntArray  # (n,)
    at: IntArray | slice  # a slice where they are all: quicker, and a view

    @classmethod
    def of(cls, numbers: IntArray, episodes: int) -> Part:
        """Make a part of so many episodes; all of them make a slice."""
        return cls(numbers, slice(None) if len(numbers) == episodes else numbers)

    @property
    def size(self) -> int:
        """How many episodes there are."""
        return len(self.numbers)


class Buffers:
    """The observation of B episodes but for their queries, and their masks.

    The mask has one column more than there are actions: it is never legal, and stands for all that
    are none.
    """

    claim: Float32  # (B, width)
    context: Float32  # (B, width)
    memory: Float32  # (B, S, width)
    claims: Float32  # (B, E, width), under pool access

    def __init__(self, layout: Layout, capacity: int, actions: int, episodes: int) -> None:
        shapes: dict[str, tuple[int, ...]] = {
            "claim": (layout.claim.width,),
            "context": (layout.context.width,),
            "memory": (capacity, layout.memory.width),
        }
        if layout.pool:
            shapes["claims"] = (layout.limits.claims, layout.claim.width)
        self._kept = tuple(shapes)
        shapes["queries"] = (layout.query_rows, layout.queries.width)
        self._places: dict[str, tuple[slice, tuple[int, ...]]] = {}
        stop = 0
        for name, shape in shapes.items():
            start, stop = stop, stop + episodes * int(np.prod(shape))
            self._places[name] = slice(start, stop), (episodes, *shape)
        self._size = stop
        self.block: Float32 = np.zeros(self._places["queries"][0].start, dtype=np.float32)
        self._left: list[Float32] = []  # blocks that were given away last
        self.mask: NDArray[np.int8] = np.zeros((episodes, actions + 1), dtype=np.int8)
        self._bind()

    def copy(self, part: Part) -> dict[str, NDArray[Any]]:
        """Give the observation of some episodes, the caller's own; ``queries`` are to be filled."""
        if isinstance(part.at, slice):  # one move of memory
            block = self._fresh_block()
            block[: len(self.block)] = self.block
            arrays: dict[str, NDArray[Any]] = {
                name: block[place].reshape(shape) for name, (place, shape) in self._places.items()
            }
        else:
            arrays = {name: getattr(self, name)[part.at] for name in self._kept}
            shape = self._places["queries"][1]
            arrays["queries"] = np.empty((part.size, *shape[1:]), dtype=np.float32)
        arrays["action_mask"] = self.mask[part.at, :-1].copy()
        return arrays

    def _fresh_block(self) -> Float32:
        """Give a block that nobody looks at: one that left and was let go, or a new one.

        Every array that left holds a reference to its block. Memory that is new to the process
        costs more than all that is written into it.
        """
        for block in self._left:
            if sys.getrefcount(block) <= UNSEEN:
                return block
        fresh: Float32 = np.empty(self._size, dtype=np.float32)
        self._left = [fresh, *self._left[: BLOCKS - 1]]
        return fresh

    def __getstate__(self) -> dict[str, Any]:
        """Leave the views out: they would come back as arrays of their own."""
        state = {name: value for name, value in self.__dict__.items() if name not in self._kept}
        return state | {"_left": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the views again."""
        self.__dict__ |= state
        self._bind()

    def _bind(self) -> None:
        for name in self._kept:
            place, shape = self._places[name]
            setattr(self, name, self.block[place].reshape(shape))
