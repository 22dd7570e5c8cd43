"""What settlements tell of the claims that were stored: the bits that the estimator learns from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.incidence import IntArray
from memenvs.policies.networks.history import NO_CLAIM, Read

Arrays = dict[str, NDArray[Any]]
BYTES = 1 << 30  # that the kept settlements may take


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
    """Compares what was known before a decision and after it."""

    def __init__(self, layout: Layout, rules: Rules) -> None:
        if rules.feedback != "claims":
            raise ValueError(
                f"an estimator learns from credited claims (feedback='claims'), not from "
                f"feedback='{rules.feedback}'"
            )
        self._rules = rules
        self._record = [layout.index(name, "claim") for name in ("credits", "debits")]
        self._context = [
            layout.index(name, "context") for name in ("decisions_left", "settled", "answered")
        ]

    def hear(self, before: tuple[Arrays, Read], after: tuple[Arrays, Read]) -> Outcome:
        """Say what was settled in the step between; the claims ``before`` must have one arriving.

        Each side is an observation and what was read with it.
        """
        (seen, known), (shown, learned) = before, after
        candidates = np.concatenate([known.slots, known.size[:, None] - 1], axis=1)
        held = (candidates[:, :, None] == learned.slots[:, None, :]).any(axis=2)
        held &= candidates != NO_CLAIM
        row = np.arange(len(candidates))[:, None]
        gained = (learned.claims[row, candidates] - known.claims[row, candidates])[
            ..., self._record
        ]
        gained *= held[..., None]
        decided = known.size
        (settled, right), (earlier, was) = (
            self._totals(shown, decided),
            self._totals(seen, decided - 1),
        )
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
        total = np.rint(settled * self._rules.total(np.maximum(decisions, 1))).astype(np.int64)
        return total, np.rint(answered * total).astype(np.int64)


class Settlements:
    """Settlements that were heard, with what was known before them; the oldest make way."""

    def __init__(self, most: int) -> None:
        self._most = most
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
        if not self._arrays:
            size = sum(array[0].nbytes for array in rows.values())
            self._most = max(min(self._most, BYTES // size), len(told))
            self._arrays = {
                name: np.empty((self._most, *array.shape[1:]), dtype=array.dtype)
                for name, array in rows.items()
            }
        place = (self._count + np.arange(len(told))) % self._most
        for name, array in rows.items():
            self._arrays[name][place] = array[told]
        self._count += len(told)

    def draw(self, size: int, generator: np.random.Generator) -> Arrays:
        """Draw settlements, with replacement: arrays ``(size, ...)``."""
        return self.take(generator.integers(len(self), size=size))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is still empty."""
        arrays = {name: array[: len(self)] for name, array in self._arrays.items()}
        return self.__dict__ | {"_arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make room again."""
        self.__dict__ |= state
        for name, kept in self._arrays.items():
            self._arrays[name] = np.empty((self._most, *kept.shape[1:]), dtype=kept.dtype)
            self._arrays[name][: len(kept)] = kept

    def take(self, places: IntArray) -> Arrays:
        """Give settlements by place: arrays ``(n, ...)``."""
        return {name: array[places] for name, array in self._arrays.items()}
