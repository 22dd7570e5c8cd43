"""What is known of a frontier so far: at each capacity a memory, its value and an upper bound."""

from __future__ import annotations

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.optimal.model import TOTAL, Problem

ROUNDING = 1e-12  # of a sum of masses, relative to all of p_D
UNIT_SLACK = 1e-4  # of an upper bound before it is rounded down to a whole number of units


class Bracket:
    """Intervals over ascending capacities, kept non-decreasing: both ends only ever improve."""

    def __init__(self, problem: Problem, capacities: FloatArray) -> None:
        self.problem = problem
        self.capacities = capacities  # (C,) with the allowance for rounding
        empty = np.zeros(len(problem.costs), dtype=bool)
        self.memories = [empty] * len(capacities)
        self.values = np.zeros(len(capacities))  # in the problem's unit
        everything = problem.value(~empty) if problem.monotone else problem.masses.sum()
        self.uppers = np.full(len(capacities), float(everything))

    @property
    def is_open(self) -> BoolArray:
        """Where the best memory is not yet proved optimal: ``(C,)``."""
        slack = 0.5 if self.problem.integral else ROUNDING * TOTAL
        return np.asarray(self.uppers - self.values > slack)

    def offer(self, memory: BoolArray, value: float | None = None) -> None:
        """Take a memory ``(E,)`` wherever it fits and is better than what is known."""
        if memory.sum() > self.problem.max_claims:
            return
        value = float(self.problem.value(memory)) if value is None else value
        first = int(np.searchsorted(self.capacities, self.problem.costs[memory].sum()))
        end = int(np.searchsorted(self.values, value))  # from there on it is matched already
        if first < end:
            self.values[first:end] = value
            self.memories[first:end] = [memory] * (end - first)

    def bound(self, uppers: FloatArray) -> None:
        """Take upper bounds ``(C,)``; what bounds a capacity bounds every smaller one."""
        if self.problem.integral:
            uppers = np.floor(uppers + UNIT_SLACK)
        tighter = np.minimum(self.uppers, uppers)
        tighter = np.minimum.accumulate(tighter[::-1])[::-1]
        self.uppers = np.maximum(tighter, self.values)

    def bound_at(self, place: int, upper: float) -> None:
        """Take an upper bound of one capacity."""
        uppers = np.full(len(self.capacities), np.inf)
        uppers[place] = upper
        self.bound(uppers)
