"""What was read in this episode, kept from observations alone, for a batch of episodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import BoolArray, IntArray

NO_CLAIM = -1

Rows = NDArray[np.float32]


class Read(NamedTuple):
    """The claims that B episodes have read, in order."""

    # (B, E, width) the columns of a claim as it was read, with its own record brought up to date;
    # zero, and not valid, where nothing was read yet.
    claims: Rows
    size: IntArray  # (B,) claims read
    slots: IntArray  # (B, S) which of them stands in each slot, NO_CLAIM where it is empty


class History:
    """Enters observations of streams into what was read.

    A claim of another writer, of a memory that several share, counts as read when it is first seen
    in a slot. Raises ``ValueError`` for pools, whose claims are all in view.
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
        # The columns before the records never change; of them this one differs most between claims.
        self._fixed = slice(0, min(self._record))
        self._telling = layout.index("earlier_similarity", "claim")

    def start(self, episodes: int) -> Read:
        """Give what new episodes have read: nothing."""
        return Read(
            np.zeros((episodes, self._claims, self._width), dtype=np.float32),
            np.zeros(episodes, dtype=np.int64),
            np.full((episodes, self._slots), NO_CLAIM),
        )

    def enter(self, read: Read, observation: dict[str, NDArray[Any]]) -> Read:
        """Add the claim that arrives, and the records of the stored ones; gives new arrays."""
        memory = observation["memory"]
        slots = self._stored(read, memory, observation["context"][:, self._left])
        claims, count = read.claims.copy(), read.size.copy()
        episode, slot = np.nonzero((slots == NO_CLAIM) & (memory[..., self._valid] == 1))
        if len(episode):
            rows = memory[episode, slot, : self._width]
            claims, slots[episode, slot] = _added(claims, count, episode, rows)
        episode, slot = np.nonzero(slots != NO_CLAIM)
        place = slots[episode, slot]
        for column in self._record:
            claims[episode, place, column] = memory[episode, slot, column]
        arriving = np.flatnonzero(observation["claim"][:, self._valid] == 1)
        claims, _ = _added(claims, count, arriving, observation["claim"][arriving])
        return Read(claims, count, slots)

    def _stored(self, read: Read, memory: Rows, left: Rows) -> IntArray:
        """Find each slot's claim ``(B, S)``, NO_CLAIM where it is empty or was never read."""
        stored = memory[..., self._valid] == 1
        slots = np.where(stored, self._by_age(read, memory, left), NO_CLAIM)
        everyone = np.arange(len(slots))[:, None]
        # Where others write, too, age counts their decisions, and does not tell the claim.
        wrong = stored & ~self._shows(memory, read.claims[everyone, slots])
        episode, slot = np.nonzero(wrong)
        if len(episode):
            slots[episode, slot] = self._by_columns(read, episode, slot, memory[episode, slot])
        return slots

    def _by_age(self, read: Read, memory: Rows, left: Rows) -> IntArray:
        """Find each slot's claim by its age: a writer alone wrote it when it was read."""
        decided = read.size
        taken = np.maximum(1.0 - left.astype(np.float64), 1e-9)[:, None]
        ago = np.rint(memory[..., self._age] / taken * decided[:, None]).astype(np.int64)
        return np.asarray(np.clip(decided[:, None] - ago, 0, read.claims.shape[1] - 1))

    def _by_columns(self, read: Read, episode: IntArray, slot: IntArray, rows: Rows) -> IntArray:
        """Find the claims of n slots by what they show ``(n, width)``: the one that stood there.

        Else it is the first that shows the same, NO_CLAIM where none does.
        """
        found = read.slots[episode, slot]
        changed = np.flatnonzero(
            (found == NO_CLAIM) | ~self._shows(rows, read.claims[episode, found])
        )
        found[changed] = NO_CLAIM
        near = read.claims[episode[changed], :, self._telling]
        which, place = np.nonzero(near == rows[changed, self._telling, None])
        which = changed[which]
        same = self._shows(rows[which], read.claims[episode[which], place])
        same &= place < read.size[episode[which]]
        found[which[same][::-1]] = place[same][::-1]  # the first is written last
        return found

    def _shows(self, rows: Rows, claims: Rows) -> BoolArray:
        """Say which rows show the claims beside them: ``(..., width)`` each to ``(...)``."""
        return np.asarray((rows[..., self._fixed] == claims[..., self._fixed]).all(axis=-1))

    @staticmethod
    def merge(old: Read, new: Read, chosen: BoolArray) -> Read:
        """Take the chosen episodes ``(B,)`` from ``new``, the others from ``old``."""
        wide = chosen[:, None]
        return Read(
            np.where(wide[..., None], new.claims, old.claims),
            np.where(chosen, new.size, old.size),
            np.where(wide, new.slots, old.slots),
        )


def _added(claims: Rows, count: IntArray, episode: IntArray, rows: Rows) -> tuple[Rows, IntArray]:
    """Add a row to each of ``episode`` ``(n,)``, ascending; gives the claims and the new places.

    ``claims`` and ``count`` are changed in place, or where more arrive than were expected the
    claims are copied with twice the rows.
    """
    place = count[episode] + np.arange(len(episode)) - np.searchsorted(episode, episode)
    short = place.max(initial=0) + 1 - claims.shape[1]
    if short > 0:
        claims = np.pad(claims, ((0, 0), (0, max(short, claims.shape[1])), (0, 0)))
    claims[episode, place] = rows
    np.add.at(count, episode, 1)
    return claims, place
