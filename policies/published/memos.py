"""MemOS (Li et al., 2025): queues by type with caps, merging, conflicts that the newer wins."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.base import State
from memenvs.policies.published.books import View
from memenvs.policies.published.parameters import constant
from memenvs.policies.published.queues import oldest
from memenvs.policies.published.store import Today, Verdict

TYPES = ("long_term", "raw_file", "user")


class MemOS(Today):
    """Queues by type in the proportion of their caps, the oldest out; merge at .92.

    Faithful: the caps 20 : 1500 : 1500 : 480 in proportion, first in, first out within a type, the
    thresholds of merging and of conflict candidates. Stand-ins: the type is read off (user: first
    person in the text; raw file: no source named; else long-term; working: the newest); a cap that
    a type leaves unused is lent, so that the type furthest over its share makes way; a merger keeps
    the newer wording, a conflict that the judge sees the later one. A claim that arrives late and
    is passed over for a later one still gives up those that are older than itself. The threshold of
    conflicts decides nothing beside the stand-in, which has the same for one subject.
    """

    name: ClassVar[str] = "memos"

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Merge, resolve conflicts, and let the fullest type make way."""
        conflict = self.judge.contradicts(view) & (
            np.round(view.similarity, 6) >= constant(self.name, "conflict")
        )
        later = view.of_slots("time") > view.of_claim("time")[:, None]
        same = np.round(view.similarity, 6) >= constant(self.name, "merge")
        void = (same | conflict) & ~later
        stale = ((same | conflict) & later).any(axis=1)
        worth = self._room(view, np.asarray(void.any(axis=1)))
        return Verdict(view.reading & ~stale, void, worth), own

    def _room(self, view: View, replaced: BoolArray) -> FloatArray:
        """Worth of the slots: those of the type that is furthest over its cap are worth least."""
        caps = np.array([constant(self.name, kind) for kind in TYPES])
        kinds, mine = self._types(view)
        counts = np.stack([((kinds == k) & view.live).sum(axis=1) for k in range(len(TYPES))], 1)
        counts = counts + (np.arange(len(TYPES)) == mine[:, None]) * ~replaced[:, None]
        fullness = np.take_along_axis(counts / caps, kinds, axis=1)
        total = constant(self.name, "working") + caps.sum()
        working = math.ceil(constant(self.name, "working") / total * self.rules.capacity)
        settled = oldest(view, self.rules.capacity - working)
        return np.where(settled, -fullness, 0.0)

    @staticmethod
    def _types(view: View) -> tuple[IntArray, IntArray]:
        """Types of the slots ``(B, S)`` and of the claim ``(B,)``, by their place in ``TYPES``."""
        user = view.of_both("first_person") > 0 if view.has("first_person") else False
        unnamed = view.of_both("source") < 0
        kinds = np.where(user, 2, np.where(unnamed, 1, 0))
        return kinds[:, :-1], kinds[:, -1]
