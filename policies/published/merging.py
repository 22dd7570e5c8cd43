"""Memories that merge and supersede: LightMem, Mem0 (Chhikara et al., 2025), Graphiti."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from memenvs.policies.base import State
from memenvs.policies.published.books import View
from memenvs.policies.published.judge import same_subject
from memenvs.policies.published.parameters import constant
from memenvs.policies.published.store import Today, Verdict


class LightMem(Today):
    """An older claim goes when a newer one is similar at .9 or more.

    Faithful: the threshold, the twenty older neighbours looked at and the ten of them kept; older
    and newer by the claims' times. Stand-ins: the model may also update or ignore, here the older
    always goes; the update runs at each write, not off line; without an eviction of its own, the
    oldest write goes when full. A claim that arrives late and is passed over, as a similar one is
    newer, still makes similar ones go that are older than itself. As both numbers are of the
    nearest, the ten decide alone.
    """

    name: ClassVar[str] = "lightmem"

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Give up similar older claims; pass a claim that is itself the older one."""
        similar = np.round(view.similarity, 6) >= constant(self.name, "similar")
        later = view.of_slots("time") > view.of_claim("time")[:, None]
        # Both orders are by similarity: what is kept of the neighbours are the nearest.
        looked = int(min(constant(self.name, "neighbours"), constant(self.name, "kept")))
        void = similar & ~later & view.nearest(looked)
        stale = (similar & later).any(axis=1)
        return Verdict(view.reading & ~stale, void, view.books.written.astype(np.float64)), own


class Mem0(Today):
    """Add unless an equal text is among the ten nearest; ``legacy``: add, update, delete or no-op.

    Faithful, ``current``: facts are only added, and an equal text (a hash in the code) is not.
    Faithful, ``legacy``: the five nearest are shown to a model, which adds, updates, deletes or
    does nothing, and a contradiction deletes the old fact without adding the new one, as reported.
    An equal text is always the nearest, so that ``current``'s number of neighbours decides nothing.
    Stand-ins: equal texts are told by equal vectors; legacy's model is the judge for contradictions
    and similarity for the rest (nearly the same: nothing; same subject: update, the newer stays);
    without an eviction of its own, the oldest write goes when full.
    """

    name: ClassVar[str] = "mem0"
    variants: ClassVar[tuple[str, ...]] = ("current", "legacy")

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Add, or do what legacy does."""
        legacy = self.variant == "legacy"
        near = view.nearest(
            int(constant(f"{self.name}:legacy" if legacy else self.name, "nearest"))
        )
        same = constant("judge", "same" if legacy else "equal_text")
        known = ((np.round(view.similarity, 6) >= same) & near).any(axis=1)
        store, void = view.reading & ~known, np.zeros_like(view.stored)
        if legacy:
            deleted = self.judge.contradicts(view) & near & store[:, None]
            store &= ~deleted.any(axis=1)
            updated = same_subject(view) & view.nearest(1) & store[:, None]
            void = deleted | updated
        return Verdict(store, void, view.books.written.astype(np.float64)), own


class Graphiti(Today):
    """The newest valid one wins: a contradicting later claim invalidates the older.

    Faithful: an invalidated fact is closed when the later one begins, and a fact that arrives late
    is invalid from the start if a later one contradicts it; an equal text is one edge. Stand-ins:
    the judge tells contradictions; a validity is taken to begin at the claim's time (without times:
    on arrival) and to be open, so that two always overlap, and of two that begin together both
    stand; without an eviction, the oldest write goes when full. An observation counts times from
    the first claim: while all are of that first time, two that contradict each other cannot be told
    from claims without times, and the one that came first is closed.
    """

    name: ClassVar[str] = "graphiti"

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Invalidate what the claim contradicts, unless that is the later one."""
        contradicted = self.judge.contradicts(view)
        begun, begins = view.of_slots("time"), view.of_claim("time")[:, None]
        equal = np.round(view.similarity, 6) >= constant("judge", "equal_text")
        known = (equal | (contradicted & (begun > begins))).any(axis=1)
        void = contradicted & ((begun < begins) | ~view.books.timed[:, None])
        return Verdict(view.reading & ~known, void, view.books.written.astype(np.float64)), own
