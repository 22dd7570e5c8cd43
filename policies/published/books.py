"""What a memory remembers of its slots within an episode: when each was written and last used."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.base import Observation
from memenvs.policies.published.parameters import constant


class Books(NamedTuple):
    """Arrays that travel in a policy's state."""

    step: IntArray  # (B,) decisions taken
    decisions: FloatArray  # (B,) of the whole episode
    newest: FloatArray  # (B,) latest time that was read
    timed: BoolArray  # (B,) whether a claim had a time of its own
    heard: FloatArray  # (B,) settled record of the claim that was considered last
    written: IntArray  # (B, S) decision of the write; -1: empty
    used: FloatArray  # (B, S, 2) decision and time of the last access: the write, or a settlement
    recalls: IntArray  # (B, S) settlements since the write in which the claim's record grew
    record: FloatArray  # (B, S) settled successes and failures
    void: BoolArray  # (B, S) still stored, but given up: free to the memory, not read by it

    @classmethod
    def start(cls, size: int, slots: int, decisions: int) -> Books:
        """Give those of ``size`` new episodes."""
        none, empty = np.zeros(size), np.zeros((size, slots))
        return cls(
            step=np.zeros(size, dtype=np.int64),
            decisions=np.full(size, float(decisions)),
            newest=none,
            timed=np.zeros(size, dtype=bool),
            heard=none.copy(),
            written=np.full((size, slots), -1),
            used=np.zeros((size, slots, 2)),
            recalls=np.zeros((size, slots), dtype=np.int64),
            record=empty,
            void=np.zeros((size, slots), dtype=bool),
        )

    def update(self, observation: Observation, layout: Layout) -> tuple[Books, BoolArray]:
        """Enter an observation; gives the books as they stand now, and the slots just written.

        What was written is told by its age, whatever this policy's last action came to. A slot was
        used if the record of its claim grew since the last step.
        """

        def of(rows: NDArray[Any], name: str) -> FloatArray:
            return np.asarray(rows[..., layout.index(name)], dtype=np.float64)

        memory, claim = observation["memory"], observation["claim"]
        left = observation["context"][:, layout.index("decisions_left", "context")]
        gone = 1.0 - left.astype(np.float64)
        running = (self.step > 0) & (left > 0)  # after a stop the steps do not tell the length
        decisions = np.where(
            running, np.rint(self.step / np.where(running, gone, 1.0)), self.decisions
        )
        valid = of(memory, "valid") == 1
        since = (gone[:, None] - of(memory, "age")) * decisions[:, None]
        written = np.where(valid, np.rint(since), -1).astype(np.int64)
        fresh = valid & (written != self.written)
        record = np.where(valid, of(memory, "credits") + of(memory, "debits"), 0.0)
        grown = valid & (record > np.where(fresh, self.heard[:, None], self.record))
        last = np.stack([self.step - 1.0, self.newest], axis=1)[:, None]
        reading = of(claim, "valid") == 1
        time = of(claim, "time")
        books = Books(
            step=self.step + 1,
            decisions=decisions,
            newest=np.where(reading & ((time > self.newest) | (self.step == 0)), time, self.newest),
            timed=self.timed | (reading & (time != 0)),
            heard=np.where(reading, of(claim, "credits") + of(claim, "debits"), 0.0),
            written=written,
            used=np.where((fresh | grown)[..., None], last, self.used),
            recalls=np.where(fresh, 0, self.recalls) + grown,
            record=record,
            void=self.void & valid & ~fresh,
        )
        return books, fresh


class View:
    """What a rule sees: the slots and the considered claim of B episodes, by named columns."""

    def __init__(
        self, observation: Observation, layout: Layout, books: Books, fresh: BoolArray, env: Any
    ) -> None:
        self._observation, self._layout = observation, layout
        self.env = env  # for a judge that reads texts
        self.books = books
        self.fresh = fresh  # (B, S) written since the last step
        self.reading: BoolArray = self.of_claim("valid") == 1  # (B,) a claim is considered
        self.stored: BoolArray = self.of_slots("valid") == 1  # (B, S)
        self.live: BoolArray = self.stored & ~books.void  # (B, S) what the memory holds valid

    def of_claim(self, name: str) -> FloatArray:
        """Column of the considered claim: ``(B,)``."""
        rows = self._observation["claim"]
        return np.asarray(rows[:, self._layout.index(name)], dtype=np.float64)

    def of_slots(self, name: str) -> FloatArray:
        """Column of the slots: ``(B, S)``."""
        rows = self._observation["memory"]
        return np.asarray(rows[..., self._layout.index(name)], dtype=np.float64)

    def of_both(self, name: str) -> FloatArray:
        """Column of the slots and then of the considered claim: ``(B, S + 1)``."""
        return np.concatenate([self.of_slots(name), self.of_claim(name)[:, None]], axis=1)

    def has(self, name: str) -> bool:
        """Whether the materials have such a column."""
        columns = self._layout.claim.slices
        cue = name.removeprefix("cues.")
        return name in columns or (cue != name and cue in self._layout.limits.cues)

    @cached_property
    def similarity(self) -> FloatArray:
        """Of the considered claim to each live slot; -1 elsewhere: ``(B, S)``."""
        return np.where(self.live & self.reading[:, None], self.of_slots("similarity"), -1.0)

    @cached_property
    def embeddings(self) -> FloatArray:
        """Unit vectors of the slots and then of the considered claim: ``(B, S + 1, d)``."""
        place = self._layout.slice("embedding")
        claim = self._observation["claim"][:, None, place]
        joined = np.concatenate([self._observation["memory"][..., place], claim], axis=1)
        return np.asarray(joined, dtype=np.float64)

    @cached_property
    def hours(self) -> FloatArray:
        """Hours since each slot was last used: ``(B, S)``.

        Of the claims' times where they have any, else of decisions.
        """
        books = self.books
        steps = (books.step[:, None] - 1.0 - books.used[..., 0]) * constant(
            "clock", "hours_per_decision"
        )
        time = (books.newest[:, None] - books.used[..., 1]) * constant("clock", "hours_per_unit")
        return np.maximum(np.where(books.timed[:, None], time, steps), 0.0)

    def nearest(self, count: int) -> BoolArray:
        """Say which live slots are the ``count`` most similar to the claim: ``(B, S)``.

        Of equally similar ones, those written last.
        """
        order = np.lexsort((-self.books.written, -np.round(self.similarity, 6)))
        found = np.zeros(self.live.shape, dtype=bool)
        np.put_along_axis(found, order[:, :count], True, axis=1)
        return found & self.live
