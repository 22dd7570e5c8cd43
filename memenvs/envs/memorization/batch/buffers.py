"""What a batch of episodes shows, kept from step to step in one block of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.rows import Rows


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
        self._masked = not layout.priority
        self.mask: NDArray[np.int8] = np.zeros((episodes, actions + 1), dtype=np.int8)
        self._bind()

    def new_block(self) -> Float32:
        """Give memory for the observation of all episodes."""
        return np.empty(self._size, dtype=np.float32)

    def copy(self, part: Rows, block: Float32 | None = None) -> dict[str, NDArray[Any]]:
        """Give the observation of some episodes; ``queries`` are to be filled.

        The arrays of all episodes lie in ``block``, or in memory of their own.
        """
        if isinstance(part.at, slice):  # one move of memory
            block = self.new_block() if block is None else block
            block[: len(self.block)] = self.block
            arrays: dict[str, NDArray[Any]] = {
                name: block[place].reshape(shape) for name, (place, shape) in self._places.items()
            }
        else:
            arrays = {name: getattr(self, name)[part.at] for name in self._kept}
            shape = self._places["queries"][1]
            arrays["queries"] = np.empty((part.size, *shape[1:]), dtype=np.float32)
        if self._masked:
            arrays["action_mask"] = self.mask[part.at, :-1].copy()
        return arrays

    def __getstate__(self) -> dict[str, Any]:
        """Leave the views out: they would come back as arrays of their own."""
        return {name: value for name, value in self.__dict__.items() if name not in self._kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the views again."""
        self.__dict__ |= state
        self._bind()

    def _bind(self) -> None:
        for name in self._kept:
            place, shape = self._places[name]
            setattr(self, name, self.block[place].reshape(shape))
