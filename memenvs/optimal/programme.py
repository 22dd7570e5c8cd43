"""The linear and integer programme of a problem, held by HiGHS and solved again per capacity."""

from __future__ import annotations

import os
import sys
import threading
from functools import cache
from typing import Any

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.optimal.model import Problem

SMALL = 1000  # columns below which presolving costs more than it saves
TOLERANCE = 1e-9  # of HiGHS; its defaults of 1e-6 and 1e-7 would let a wrong answer pass


class Programme:
    """Maximise mass @ y over claims x, options z and queries y, all in [0, 1].

    y_q <= sum of its options; z_o <= x_e for each claim it needs and z_o <= 1 - x_c for each that
    withdraws it; cost @ x <= capacity, sum of x <= max_claims. An option that is one claim alone is
    that claim's column, a query with one option is that option's column. Given whole x, the best
    y and z are whole too, so that only x is integer.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        single = (problem.supports.lengths == 1) & (problem.conflicts.lengths == 0)
        self.n_claims = len(problem.candidates)
        column_of = np.full(len(problem.costs), -1)
        column_of[problem.candidates] = np.arange(self.n_claims)
        composite = np.flatnonzero(~single)
        option_column = np.empty(len(single), dtype=np.int64)
        option_column[single] = column_of[
            problem.supports.values[problem.supports.offsets[:-1][single]]
        ]
        option_column[composite] = self.n_claims + np.arange(len(composite))
        several = np.flatnonzero(problem.queries.lengths > 1)
        self.first_query = self.n_claims + len(composite)
        n_columns = self.first_query + len(several)
        self.profit = np.zeros(n_columns)
        alone = np.flatnonzero(problem.queries.lengths == 1)
        options = problem.queries.values[problem.queries.offsets[:-1][alone]]
        np.add.at(self.profit, option_column[options], problem.masses[alone])
        self.profit[self.first_query :] = problem.masses[several]

        row: list[int] = []
        column: list[int] = []
        entry: list[float] = []
        limit: list[float] = []
        ties: list[int] = []
        tied: list[int] = []
        for place, query in enumerate(several.tolist()):
            members = option_column[problem.queries[query]]
            row += [len(limit)] * (len(members) + 1)
            column += [self.first_query + place, *members.tolist()]
            entry += [1.0] + [-1.0] * len(members)
            limit.append(0.0)
        for option in composite.tolist():
            for claims, sign in ((problem.supports, -1.0), (problem.conflicts, 1.0)):
                for claim in column_of[claims[option]].tolist():
                    if claim < 0:  # nobody stores it, so it withdraws nothing
                        continue
                    if sign < 0:
                        ties.append(len(limit))
                        tied.append(option)
                    row += [len(limit)] * 2
                    column += [int(option_column[option]), claim]
                    entry += [1.0, sign]
                    limit.append(max(sign, 0.0))
        self.row, self.column = np.array(row, dtype=np.int64), np.array(column, dtype=np.int64)
        self._several = several
        # Rows that tie a composite option to a claim, and which option that is.
        self._ties = np.array(ties, dtype=np.int64)
        self._tied = np.array(tied, dtype=np.int64)
        self.entry, self.limit = np.array(entry), np.array(limit)
        self.cost = problem.costs[problem.candidates]
        need = np.add.reduceat(
            problem.costs[problem.supports.values], problem.supports.offsets[:-1]
        )
        # Cheapest budget, and smallest memory, at which each claim or composite option can be held.
        self.need = np.concatenate([self.cost, need[composite]])
        self.size = np.concatenate([np.ones(self.n_claims), problem.supports.lengths[composite]])
        self._linear: Any = None
        self._integer: Any = None

    def relax(self, capacity: float, seconds: float) -> tuple[FloatArray, FloatArray] | None:
        """Solve the relaxation from where the last one ended.

        Returns x of the candidates and the rows' multipliers, or None where time ran out.
        """
        import highspy

        if self._linear is None:
            self._linear = self._model(integer=False)
        solver = self._at(self._linear, capacity, seconds)
        solver.solve()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = solver.getSolution()
        x = np.array(solution.col_value[: self.n_claims])
        return x, np.maximum(np.array(solution.row_dual), 0.0)

    def search(
        self, capacity: float, start: BoolArray, seconds: float
    ) -> tuple[BoolArray | None, float, bool]:
        """Branch and bound from a known memory; both gaps are closed unless time runs out.

        Returns a memory ``(E,)`` or None, an upper bound in the problem's unit, and whether the
        search came to its end.
        """
        import highspy

        if self._integer is None:
            self._integer = self._model(integer=True)
        solver = self._at(self._integer, capacity, seconds)
        solver.clearSolver()
        columns = np.arange(self.n_claims, dtype=np.int32)
        known = start[self.problem.candidates].astype(np.float64)
        solver.setSolution(self.n_claims, columns, known)
        solve_interruptibly(solver)
        info = solver.getInfo()
        ended = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        upper = float(info.mip_dual_bound)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None, upper, ended
        x = np.array(solver.getSolution().col_value[: self.n_claims])
        return self.memory(x > 0.5), upper, ended

    def memory(self, chosen: BoolArray) -> BoolArray:
        """Flags of the candidates as flags of all claims."""
        flags = np.zeros(len(self.problem.costs), dtype=bool)
        flags[self.problem.candidates] = chosen
        return flags

    def multipliers(self, asked: FloatArray) -> FloatArray:
        """Give row multipliers that ask masses ``(R,)`` of the claims that could answer for them.

        What several claims answer only together asks an equal share of each; mass that is not asked
        is granted. Any masses up to the queries' own give a bound.
        """
        problem = self.problem
        links = np.zeros(len(self.limit))
        links[: len(self._several)] = asked[self._several]
        due = np.bincount(
            problem.queries.values,
            np.repeat(asked, problem.queries.lengths),
            minlength=len(problem.supports),
        )
        links[self._ties] = (due / np.maximum(problem.supports.lengths, 1))[self._tied]
        return np.concatenate([[0.0, 0.0], links])

    def dual_bounds(
        self, multipliers: FloatArray, capacities: FloatArray, usable: BoolArray | None = None
    ) -> FloatArray:
        """Lagrangian bound of every capacity from one set of row multipliers >= 0.

        Valid for any multipliers, whatever the solver's tolerances were. Links are priced out; what
        is left is a fractional knapsack over claims, solved for all capacities by one sort.
        """
        spread = multipliers[1]
        reduced = self._reduced(multipliers[2:])
        if usable is not None:
            reduced[: self.first_query][~usable] = 0.0
        constant = multipliers[2:] @ self.limit + np.maximum(reduced[self.n_claims :], 0.0).sum()
        claims = np.maximum(reduced[: self.n_claims] - spread, 0.0)
        most = np.sort(claims)[::-1][: self.problem.max_claims].sum()  # that so many hold
        constant += spread * self.problem.max_claims
        order = np.argsort(-claims / self.cost, kind="stable")
        spent = np.concatenate([[0.0], np.cumsum(self.cost[order])])
        gained = np.concatenate([[0.0], np.cumsum(claims[order])])
        if self.problem.unit_costs:
            capacities = np.floor(np.minimum(capacities, self.problem.max_claims))
        return np.asarray(constant + np.minimum(np.interp(capacities, spent, gained), most))

    def slope(self, multipliers: FloatArray, capacity: float) -> FloatArray:
        """Subgradient of the bound of one capacity in the multipliers: what its solution slacks."""
        reduced = self._reduced(multipliers[2:])
        chosen = (reduced > 0.0).astype(np.float64)
        claims = np.maximum(reduced[: self.n_claims], 0.0)
        order = np.argsort(-claims / self.cost, kind="stable")
        before = np.cumsum(self.cost[order]) - self.cost[order]
        chosen[order] *= np.clip((capacity - before) / self.cost[order], 0.0, 1.0)
        held = np.bincount(self.row, self.entry * chosen[self.column], minlength=len(self.limit))
        return np.concatenate([[0.0, 0.0], self.limit - held])

    def _reduced(self, links: FloatArray) -> FloatArray:
        """Profit of each column with the links priced out."""
        return self.profit - np.bincount(
            self.column, self.entry * links[self.row], minlength=len(self.profit)
        )

    def usable(self, capacity: float) -> BoolArray:
        """Claims and composite options that fit the capacity by themselves."""
        return (self.need <= capacity) & (self.size <= self.problem.max_claims)

    def _at(self, solver: Any, capacity: float, seconds: float) -> Any:
        upper = self.usable(capacity).astype(np.float64)
        columns = np.arange(len(upper), dtype=np.int32)
        solver.changeColsBounds(len(upper), columns, np.zeros(len(upper)), upper)
        solver.changeRowBounds(0, -np.inf, capacity)
        solver.setOptionValue("time_limit", solver.getRunTime() + seconds)
        return solver

    def _model(self, *, integer: bool) -> Any:
        import highspy

        n_columns, n_rows = len(self.profit), len(self.limit) + 2
        claims = np.arange(self.n_claims)
        row = np.concatenate([np.zeros_like(claims), np.ones_like(claims), self.row + 2])
        order = np.argsort(row, kind="stable")
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n_columns, n_rows
        lp.col_cost_, lp.sense_ = self.profit, highspy.ObjSense.kMaximize
        lp.col_lower_, lp.col_upper_ = np.zeros(n_columns), np.ones(n_columns)
        lp.row_lower_ = np.full(n_rows, -np.inf)
        lp.row_upper_ = np.concatenate([[0.0, self.problem.max_claims], self.limit])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))])
        lp.a_matrix_.index_ = np.concatenate([claims, claims, self.column])[order]
        lp.a_matrix_.value_ = np.concatenate([self.cost, np.ones(self.n_claims), self.entry])[order]
        if integer:
            kinds = [highspy.HighsVarType.kInteger] * self.n_claims
            lp.integrality_ = kinds + [highspy.HighsVarType.kContinuous] * (
                n_columns - self.n_claims
            )
        solver = new_solver()
        solver.setOptionValue("mip_allow_restart", False)  # up to four times slower with, here
        if n_columns < SMALL:
            solver.setOptionValue("presolve", "off")
        solver.setOptionValue("mip_rel_gap", 0.0)
        # Whole masses make whole values: less than one unit above the best proves it optimal.
        solver.setOptionValue("mip_abs_gap", 0.99 if self.problem.integral else 0.0)
        solver.passModel(lp)
        return solver


def new_solver() -> Any:
    """Give a silent solver of tight tolerances."""
    import highspy

    _swallow_banner()
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    for option in ("mip_feasibility", "primal_feasibility", "dual_feasibility"):
        solver.setOptionValue(f"{option}_tolerance", TOLERANCE)
    return solver


def solve_interruptibly(solver: Any) -> None:
    """Solve in a thread, so that Ctrl-C stops the search and reaches the caller."""
    solver.HandleUserInterrupt = True
    worker = threading.Thread(target=solver.solve, daemon=True)
    worker.start()
    try:
        worker.join()
    except KeyboardInterrupt:
        solver.cancelSolve()
        worker.join()
        raise


@cache
def _swallow_banner() -> None:
    """Make the process's first solver with standard output closed: HiGHS greets there, unasked."""
    import highspy

    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        highspy.Highs()  # type: ignore[no-untyped-call]
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
