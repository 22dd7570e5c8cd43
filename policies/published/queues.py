"""First in, first out: MemGPT (Packer et al., 2023), Letta, Reflexion (Shinn et al., 2023)."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from memenvs.material.incidence import BoolArray, IntArray
from memenvs.policies.base import State
from memenvs.policies.published.books import View
from memenvs.policies.published.parameters import constant
from memenvs.policies.published.store import Today, Verdict


class Queue(Today):
    """Write every claim; when the queue is full, give up the oldest.

    What is given up is overwritten first, the oldest first: by what its slots hold, such a memory
    is first-in-first-out whatever it flushes; by what it reads, it is not.
    """

    @abstractmethod
    def limit(self) -> int:
        """Claims that fit into the queue."""

    @abstractmethod
    def flushed(self, limit: int) -> int:
        """Claims that a full queue gives up."""

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Flush a full queue before the claim is written."""
        limit = min(self.limit(), self.rules.capacity)
        full = view.live.sum(axis=1) >= limit
        void = oldest(view, self.flushed(limit)) & full[:, None]
        return Verdict(view.reading, void, view.books.written.astype(np.float64)), own


class MemGPT(Queue):
    """A queue that flushes its oldest 75 % when full, and keeps at least the last three.

    Faithful: first in, first out, the share and the three that stay. Stand-ins: a claim counts as
    one message of one token; what is flushed leaves no recursive summary; there is no archival
    store outside the S slots.
    """

    name: ClassVar[str] = "memgpt"

    def limit(self) -> int:
        """Every slot."""
        return self.rules.capacity

    def flushed(self, limit: int) -> int:
        """75 %, but for the last three."""
        share = math.floor(constant(self.name, "flushed") * limit)
        return max(1, min(share, limit - int(constant(self.name, "kept"))))


class Letta(Queue):
    """A sliding window that evicts at least its oldest 40 % when full, until under 70 %.

    Faithful: both shares. Stand-ins: a claim counts as one token, no summary is written. As claims
    are of equal size, 40 % always leave less than 70 %, which so decides nothing.
    """

    name: ClassVar[str] = "letta"

    def limit(self) -> int:
        """Every slot."""
        return self.rules.capacity

    def flushed(self, limit: int) -> int:
        """At least 40 %, and until less than 70 % is left."""
        until_under = limit - math.ceil(constant(self.name, "until") * limit) + 1
        return max(math.ceil(constant(self.name, "evicted") * limit), until_under)


class Reflexion(Queue):
    """The last three.

    Faithful: a window of the last three reflections. Stand-in: a claim is taken for a reflection
    as it is. With more than three slots the older ones stay in theirs, unread, till overwritten.
    """

    name: ClassVar[str] = "reflexion"

    def limit(self) -> int:
        """Three."""
        return int(constant(self.name, "kept"))

    def flushed(self, limit: int) -> int:
        """The oldest makes way for each new one."""
        return 1


def oldest(view: View, count: int) -> BoolArray:
    """Say which are the ``count`` live slots that were written first: ``(B, S)``."""
    written = np.where(view.live, view.books.written, np.iinfo(np.int64).max)
    order: IntArray = np.argsort(written, axis=1, kind="stable")
    found = np.zeros(view.live.shape, dtype=bool)
    np.put_along_axis(found, order[:, :count], True, axis=1)
    return found & view.live
