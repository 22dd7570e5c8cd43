"""What settlements tell of the claims that were stored: the bits that the estimator learns from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.columns import MEMORY_COLUMNS
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import IntArray
from memenvs.policies.learned.networks.distinct import Distinct
from memenvs.policies.learned.networks.history import NO_CLAIM, Read

Arrays = dict[str, NDArray[Any]]
RECORD, OF_SOURCE = ("credits", "debits"), ("source_credits", "source_debits")
BYTES = 1 << 30  # that the kept settlements may take
# Arrays whose rows come again in later settlements of an episode: the table of their columns in a
# layout, and the columns that change meanwhile.
CHANGING: dict[str, tuple[str, tuple[str, ...]]] = {
    "history": ("claim", RECORD),
    "memory": ("memory", (*RECORD, *OF_SOURCE, "frequency", "redundancy", "age", *MEMORY_COLUMNS)),
    "queries": ("queries", ("similarity",)),
}


class Outcome(NamedTuple):
    """What B episodes learned between two observations; candidates are S slots, then the claim.

    A candidate is one of before the decision: what a policy had to judge.
    """

    stored: NDArray[np.float32]  # (B, S + 1) whether it was in the memory that was settled
    credits: NDArray[np.float32]  # (B, S + 1) successes it had a part in
    debits: NDArray[np.float32]  # (B, S + 1) failures
    settled: NDArray[np.float32]  # (B,) queries
    right: NDArray[np.float32]  # (B,) queries answered rightly


class Listener:
    """Compares what was known before each decision of B episodes and after it."""

    def __init__(self, layout: Layout, rules: Rules) -> None:
        if rules.feedback != "claims":
            raise ValueError(
                f"an estimator learns from credited claims (feedback='claims'), not from "
                f"feedback='{rules.feedback}'"
            )
        self._rules = rules
        self._valid = layout.index("valid", "claim")
        self._query = layout.index("valid", "queries")
        self._scheduled: IntArray = np.zeros(0, dtype=np.int64)  # (B,) queries; 0: not known yet
        self._record = [layout.index(name, "claim") for name in RECORD]
        self._context = [
            layout.index(name, "context") for name in ("decisions_left", "settled", "answered")
        ]

    def hear(self, before: tuple[Arrays, Read], after: tuple[Arrays, Read]) -> Outcome:
        """Say what was settled in the step between.

        Each side is an observation and what was read with it. No claim arrives ``before`` where a
        writer has finished and others go on.
        """
        (seen, known), (shown, learned) = before, after
        arriving = np.where(seen["claim"][:, self._valid] == 1, known.size - 1, NO_CLAIM)
        candidates = np.concatenate([known.slots, arriving[:, None]], axis=1)
        held = (candidates[:, :, None] == learned.slots[:, None, :]).any(axis=2)
        held &= candidates != NO_CLAIM
        row = np.arange(len(candidates))[:, None]
        gained = (learned.claims[row, candidates] - known.claims[row, candidates])[
            ..., self._record
        ]
        gained *= held[..., None]
        earlier, was = self._totals(seen, known.size - 1)
        settled, right = self._totals(shown, known.size)
        return Outcome(
            held.astype(np.float32),
            gained[..., 0],
            gained[..., 1],
            (settled - earlier).astype(np.float32),
            (right - was).astype(np.float32),
        )

    def _totals(self, observation: Arrays, decided: IntArray) -> tuple[IntArray, IntArray]:
        """Queries settled so far, and rightly answered ones, after so many decisions: ``(B,)``."""
        context = observation["context"].astype(np.float64)
        left, settled, answered = (context[:, column] for column in self._context)
        decisions = np.rint(decided / np.maximum(1.0 - left, 1e-9)).astype(np.int64)
        scheduled = self._rules.total(np.maximum(decisions, 1))
        if self._rules.disclosure == "settled":
            scheduled = self._noted(observation["queries"], settled, scheduled)
        total = np.rint(settled * scheduled).astype(np.int64)
        return total, np.rint(answered * total).astype(np.int64)

    def _noted(self, queries: NDArray[Any], settled: NDArray[Any], expected: IntArray) -> IntArray:
        """Give the scheduled queries ``(B,)``, by those in view while they are all that settled.

        What is ``expected`` of the decisions is right for a writer that decides alone.
        """
        view = queries[..., self._query].sum(axis=1)
        noted = np.rint(view / np.maximum(settled, 1e-9)).astype(np.int64)
        before = self._scheduled if len(self._scheduled) == len(view) else np.zeros_like(expected)
        self._scheduled = np.where(view < queries.shape[1], noted, before)
        return np.where(self._scheduled > 0, self._scheduled, expected)


class Settlements:
    """Settlements that were heard, with what was known before them; the oldest make way.

    The claims and queries of an episode come again in each of its settlements: their rows are kept
    once, and with each settlement only their numbers and the columns that change.
    """

    def __init__(self, most: int, layout: Layout) -> None:
        self._most = most
        self._changing = {
            name: [layout.index(column, of) for column in columns]
            for name, (of, columns) in CHANGING.items()
        }
        self._distinct = {name: Distinct() for name in CHANGING}
        self._arrays: Arrays = {}
        self._count = 0  # ever added

    def __len__(self) -> int:
        return min(self._count, self._most)

    def add(self, observation: Arrays, outcome: Outcome) -> None:
        """Keep those of a batch in which queries were settled and something was stored."""
        told = np.flatnonzero((outcome.settled > 0) & outcome.stored.any(axis=1))
        if not len(told):
            return
        rows = {**observation, **outcome._asdict()}
        if not self._arrays:  # sized as if nothing came again
            size = sum(array[0].nbytes for array in rows.values())
            self._most = max(min(self._most, BYTES // size), len(told))
        kept = self._numbered({name: array[told] for name, array in rows.items()})
        if not self._arrays:
            self._make_room({name: array[:0] for name, array in kept.items()})
        place = (self._count + np.arange(len(told))) % self._most
        for name, array in kept.items():
            self._arrays[name][place] = array
        self._count += len(told)
        for name, distinct in self._distinct.items():
            if distinct.is_crowded():
                self._forget(name)

    def draw(self, size: int, generator: np.random.Generator) -> Arrays:
        """Draw settlements, with replacement: arrays ``(size, ...)``."""
        return self.take(generator.integers(len(self), size=size))

    def take(self, places: IntArray) -> Arrays:
        """Give settlements by place: arrays ``(n, ...)``."""
        found = {name: array.take(places, axis=0) for name, array in self._arrays.items()}
        for name, columns in self._changing.items():
            changed = found.pop(_changed(name))
            found[name] = self._distinct[name].rows(found[name])
            found[name][..., columns] = changed
        return found

    def _numbered(self, rows: Arrays) -> Arrays:
        """Put numbers in the place of rows that come again, and what changes in them beside."""
        numbered = dict(rows)
        for name, columns in self._changing.items():
            steady = rows[name].copy()
            steady[..., columns] = 0.0
            numbered[name] = self._distinct[name].enter(steady)
            numbered[_changed(name)] = rows[name][..., columns]
        return numbered

    def _forget(self, name: str) -> None:
        """Forget the rows of settlements that made way."""
        if self._arrays:
            numbers = self._arrays[name][: len(self)]
            numbers[:] = self._distinct[name].keep(numbers)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is still empty, and what nothing needs any more."""
        for name in self._distinct:
            self._forget(name)
        arrays = {name: array[: len(self)] for name, array in self._arrays.items()}
        return self.__dict__ | {"_arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make room again."""
        self.__dict__ |= state
        self._make_room(self._arrays)

    def _make_room(self, kept: Arrays) -> None:
        """Take arrays for as many settlements as may come, ``kept`` at their front."""
        for name, array in kept.items():
            self._arrays[name] = np.empty((self._most, *array.shape[1:]), dtype=array.dtype)
            self._arrays[name][: len(array)] = array


def _changed(name: str) -> str:
    """Name what changes in the rows of an array."""
    return f"{name}.changed"
