"""What was read in this episode, kept from observations alone, for a batch of episodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.incidence import BoolArray, IntArray

NO_CLAIM = -1


class Read(NamedTuple):
    """The claims that B episodes have read, in order."""

    # (B, E, width) the columns of a claim as it was read, with its own record brought up to date;
    # zero, and not valid, where nothing was read yet.
    claims: NDArray[np.float32]
    size: IntArray  # (B,) claims read
    slots: IntArray  # (B, S) which of them stands in each slot, NO_CLAIM where it is empty


class History:
    """Enters observations of streams into what was read.

    Raises ``ValueError`` for pools, whose claims are all in view.
    """

    def __init__(self, layout: Layout, slots: int) -> None:
        if layout.pool:
            raise ValueError("a history is kept of streams (access='stream'), not of pools")
        self._slots = slots
        self._claims = layout.limits.claims
        self._width = layout.claim.width
        self._valid = layout.index("valid", "claim")
        self._age = layout.index("age")
        self._left = layout.index("decisions_left", "context")
        self._record = [layout.index(name, "claim") for name in ("credits", "debits")]

    def start(self, episodes: int) -> Read:
        """Give what new episodes have read: nothing."""
        return Read(
            np.zeros((episodes, self._claims, self._width), dtype=np.float32),
            np.zeros(episodes, dtype=np.int64),
            np.full((episodes, self._slots), NO_CLAIM),
        )

    def enter(self, read: Read, observation: dict[str, NDArray[Any]]) -> Read:
        """Add the claim that arrives, and the records of the stored ones; gives new arrays."""
        arriving = np.flatnonzero(observation["claim"][:, self._valid] == 1)
        claims, count = _with_room(read.claims, read.size[arriving]), read.size.copy()
        memory = observation["memory"]
        slots = self._stored(memory, count, observation["context"][:, self._left])
        episode, slot = np.nonzero(slots != NO_CLAIM)
        place = slots[episode, slot]
        for column in self._record:
            claims[episode, place, column] = memory[episode, slot, column]
        claims[arriving, count[arriving]] = observation["claim"][arriving]
        count[arriving] += 1
        return Read(claims, count, slots)

    def _stored(
        self, memory: NDArray[np.float32], decided: IntArray, left: NDArray[np.float32]
    ) -> IntArray:
        """Find each slot's claim by its age: it was written when it was read."""
        taken = np.maximum(1.0 - left.astype(np.float64), 1e-9)[:, None]
        ago = np.rint(memory[..., self._age] / taken * decided[:, None]).astype(np.int64)
        stored = memory[..., self._valid] == 1
        return np.where(stored, decided[:, None] - ago, NO_CLAIM)

    @staticmethod
    def merge(old: Read, new: Read, chosen: BoolArray) -> Read:
        """Take the chosen episodes ``(B,)`` from ``new``, the others from ``old``."""
        wide = chosen[:, None]
        return Read(
            np.where(wide[..., None], new.claims, old.claims),
            np.where(chosen, new.size, old.size),
            np.where(wide, new.slots, old.slots),
        )


def _with_room(claims: NDArray[np.float32], count: IntArray) -> NDArray[np.float32]:
    """Copy the claims, twice the rows where one arrives beyond the ``count`` that was expected."""
    rows = claims.shape[1]
    if count.max(initial=0) < rows:
        return claims.copy()
    return np.pad(claims, ((0, 0), (0, rows), (0, 0)))
