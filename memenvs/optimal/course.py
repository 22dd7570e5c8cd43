"""The best course of a memory through a stream: what one run of writes can hold at each settlement.

What was dropped does not come back, so that the best memories of what was read by each settlement
need not follow each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from memenvs.material.incidence import BoolArray, IntArray
from memenvs.optimal.model import Problem
from memenvs.optimal.programme import new_solver, solve_interruptibly

COLUMNS = 20_000  # of the largest programme that is tried: 128 claims need 4,000


@dataclass(frozen=True)
class Course:
    """The best known course, and what bounds all of them, in the problem's unit."""

    until: IntArray  # (E,) claims read at the last settlement that each is held for; 0: not stored
    bound: float
    proved: bool  # whether the course attains the bound

    def held(self, settled: int) -> BoolArray:
        """Claims that are held at a settlement after so many were read: ``(E,)``."""
        return (np.arange(len(self.until)) < settled) & (self.until >= settled)


def best_course(
    problem: Problem, counts: IntArray, capacity: float, seconds: float
) -> Course | None:
    """Maximise the sum of ``counts[t]`` ``(E + 1,)`` times the value of what is held at t.

    A claim that is held at a settlement, and was read by the one before it, was held there too.
    Memories may shrink: where slots cannot be cleared and claims conflict, that can be out of
    reach. None where the programme is too large or ``seconds`` did not suffice for any bound.
    """
    import highspy

    programme = _Programme(problem)
    for settled, count in _stretches(problem.candidates, counts):
        programme.settle(settled, count, capacity)
        if len(programme.profit) > COLUMNS:
            return None
    until = np.zeros(len(problem.costs), dtype=np.int64)
    if not programme.profit:
        return Course(until, 0.0, True)
    solver = programme.model()
    if math.isfinite(seconds):
        solver.setOptionValue("time_limit", seconds)
    solve_interruptibly(solver)
    info = solver.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    solution = np.array(solver.getSolution().col_value)
    for claim, column, settled in programme.holds:
        if solution[column] > 0.5:
            until[claim] = settled
    ended = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return Course(until, float(info.mip_dual_bound), ended)


def _stretches(candidates: IntArray, counts: IntArray) -> list[tuple[int, int]]:
    """Give the last settlement between two candidates' arrivals, and all that is settled there."""
    found: list[tuple[int, int]] = []
    for settled in counts.nonzero()[0].tolist():
        count = int(counts[settled])
        if found and not ((candidates >= found[-1][0]) & (candidates < settled)).any():
            count += found.pop()[1]
        found.append((settled, count))
    return found


class _Programme:
    """Claims x, options z and queries y of ``Programme``, once for each settlement.

    x_e at a settlement is at most x_e at the one before it, if e was read by then.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.profit: list[float] = []
        self.holds: list[tuple[int, int, int]] = []  # claim, column, settlement, in this order
        self._before: dict[int, int] = {}  # column of each claim at the settlement before
        self._whole: list[int] = []
        self._row: list[int] = []
        self._column: list[int] = []
        self._entry: list[float] = []
        self._limits: list[float] = []

    def settle(self, read: int, count: int, capacity: float) -> None:
        """Add a settlement of ``count`` queries after so many claims were read."""
        problem = self.problem
        claims = problem.candidates[problem.candidates < read].tolist()
        x = {claim: self._new() for claim in claims}
        self._whole += x.values()
        self.holds += [(claim, column, read) for claim, column in x.items()]
        self._limit([(x[e], float(problem.costs[e])) for e in claims], capacity)
        self._limit([(x[e], 1.0) for e in claims], float(problem.max_claims))
        for claim, column in self._before.items():
            self._limit([(x[claim], 1.0), (column, -1.0)], 0.0)
        ways = self._options(x)
        for query, mass in enumerate(problem.masses.tolist()):
            held = [ways[option] for option in problem.queries[query].tolist() if option in ways]
            if held:
                y = self._new(count * mass)
                self._limit([(y, 1.0), *((column, -1.0) for column in held)], 0.0)
        self._before = x

    def _options(self, x: dict[int, int]) -> dict[int, int]:
        """Column of each option whose claims were read."""
        ways: dict[int, int] = {}
        for option in range(len(self.problem.supports)):
            support = self.problem.supports[option].tolist()
            if any(claim not in x for claim in support):
                continue
            against = [x[c] for c in self.problem.conflicts[option].tolist() if c in x]
            if len(support) == 1 and not against:
                ways[option] = x[support[0]]
                continue
            z = ways[option] = self._new()
            for claim in support:
                self._limit([(z, 1.0), (x[claim], -1.0)], 0.0)
            for column in against:
                self._limit([(z, 1.0), (column, 1.0)], 1.0)
        return ways

    def _new(self, profit: float = 0.0) -> int:
        self.profit.append(profit)
        return len(self.profit) - 1

    def _limit(self, terms: list[tuple[int, float]], limit: float) -> None:
        """Keep a sum at or below a limit."""
        for column, entry in terms:
            self._row.append(len(self._limits))
            self._column.append(column)
            self._entry.append(entry)
        self._limits.append(limit)

    def model(self) -> Any:
        """Give HiGHS the programme."""
        import highspy

        lp = highspy.HighsLp()
        n_columns, n_rows = len(self.profit), len(self._limits)
        lp.num_col_, lp.num_row_ = n_columns, n_rows
        lp.col_cost_, lp.sense_ = np.array(self.profit), highspy.ObjSense.kMaximize
        lp.col_lower_, lp.col_upper_ = np.zeros(n_columns), np.ones(n_columns)
        lp.row_lower_ = np.full(n_rows, -np.inf)
        lp.row_upper_ = np.array(self._limits)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        sizes = np.bincount(np.array(self._row, dtype=np.int64), minlength=n_rows)
        lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(sizes)])
        lp.a_matrix_.index_ = np.array(self._column)
        lp.a_matrix_.value_ = np.array(self._entry)
        kinds = [highspy.HighsVarType.kContinuous] * n_columns
        for column in self._whole:
            kinds[column] = highspy.HighsVarType.kInteger
        lp.integrality_ = kinds
        solver = new_solver()
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("mip_abs_gap", 0.0)
        solver.passModel(lp)
        return solver
