"""The integer programme of a reader that takes the best items of a fixed ranking."""

from __future__ import annotations

from typing import Any

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.programme import TOLERANCE, new_solver, solve_interruptibly
from memenvs.reading.readers import item_costs, split_name
from memenvs.reading.utility import item_ranks

Terms = list[tuple[int, float]]  # of a row: column and entry


class RankedProgramme:
    """Maximise the mass of the pairs (query, item) that pay, over stored claims x in {0, 1}.

    s_n >= x of a support: an item is spanned whether that is wanted or not. A pair needs its item
    known, so much of what ranks before it unspanned that it is read, and end-to-end that nothing
    that answers ranks before it. Each query is paid once. A reader of K items has room for K, each
    of which takes 1; one of N tokens for N, of which an item takes what it costs.
    """

    @staticmethod
    def holds(material: Material, objective: Objective) -> bool:
        """Whether the ranking is fixed and every truth is certain, or does not matter."""
        kind, k = split_name(objective.reader)
        certain = material.incidence.certain or objective.utility == "coverage"
        return kind in ("similarity", "tokens") and k is not None and certain

    def __init__(
        self,
        material: Material,
        objective: Objective,
        useful: IntArray,
        costs: FloatArray,
        max_claims: int,
    ) -> None:
        kind, room = split_name(objective.reader)
        self._room = float(room or 0)
        tokens = kind == "tokens"
        self._takes = item_costs(material) if tokens else np.ones(len(material.items))
        self._one = not tokens and room == 1
        self._useful, self._costs, self._max_claims = useful, costs, max_claims
        self._profit: list[float] = [0.0] * len(useful)
        self._rows: list[Terms] = []
        self._limits: list[float] = []
        self._whole: list[int] = list(range(len(useful)))
        self._column = dict(zip(useful.tolist(), range(len(useful)), strict=True))
        self._incidence = material.incidence
        truth = self._incidence.truth
        self._true = truth == 1.0 if objective.utility != "coverage" else np.ones_like(truth) > 0
        self._known: dict[int, int] = {}  # column that says an item is known, by item
        self._spanned: dict[int, int] = {}  # column that says it is spanned
        self._add_items()
        ranks = item_ranks(material)
        weights = objective.weights(material)
        for query in np.flatnonzero(weights > 0).tolist():
            self._add_query(
                ranks[query], query, float(weights[query]), objective.utility == "end-to-end"
            )
        self._solver: Any = None

    def search(
        self, capacity: float, start: BoolArray, seconds: float
    ) -> tuple[BoolArray | None, float, bool]:
        """Branch and bound from a known memory; gives a memory ``(E,)``, a bound, and if proved."""
        import highspy

        if self._solver is None:
            self._solver = self._model()
        solver = self._solver
        solver.changeRowBounds(0, -np.inf, capacity)
        solver.setOptionValue("time_limit", solver.getRunTime() + seconds)
        solver.clearSolver()
        columns = np.arange(len(self._useful), dtype=np.int32)
        solver.setSolution(len(columns), columns, start[self._useful].astype(np.float64))
        solve_interruptibly(solver)
        info = solver.getInfo()
        ended = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None, float(info.mip_dual_bound), ended
        memory = np.zeros(len(self._costs), dtype=bool)
        chosen = np.array(solver.getSolution().col_value[: len(self._useful)]) > 0.5
        memory[self._useful[chosen]] = True
        return memory, float(info.mip_dual_bound), ended

    def _add_items(self) -> None:
        incidence = self._incidence
        for item in range(len(incidence.answers)):
            rows = [incidence.supports[p].tolist() for p in incidence.item_supports[item].tolist()]
            rows = [row for row in rows if all(claim in self._column for claim in row)]
            if not rows:
                continue  # no memory worth having spans it
            against = [
                self._column[c] for c in incidence.conflicts[item].tolist() if c in self._column
            ]
            if len(rows) == 1 and len(rows[0]) == 1 and not against:
                self._spanned[item] = self._column[rows[0][0]]
                if self._true[rows[0][0]]:
                    self._known[item] = self._spanned[item]
                continue
            spanned = self._spanned[item] = self._new()
            for row in rows:
                terms = [(self._column[claim], 1.0) for claim in row]
                self._limit(
                    [*terms, *((c, -1.0) for c in against), (spanned, -1.0)], len(row) - 1.0
                )
            true = [row for row in rows if self._true[row].all()]
            if true:
                self._known[item] = self._add_known(true, against)

    def _add_known(self, supports: list[list[int]], against: list[int]) -> int:
        known = self._new()
        held = []
        for row in supports:
            held.append(self._column[row[0]] if len(row) == 1 else self._new())
            for claim in row if len(row) > 1 else ():
                self._limit([(held[-1], 1.0), (self._column[claim], -1.0)], 0.0)
        self._limit([(known, 1.0), *((column, -1.0) for column in held)], 0.0)
        for column in against:
            self._limit([(known, 1.0), (column, 1.0)], 1.0)
        return known

    def _add_query(self, rank: IntArray, query: int, mass: float, named: bool) -> None:
        answering = set(self._incidence.query_items[query].tolist())
        order = sorted(self._spanned, key=lambda item: int(rank[item]))
        pairs: dict[int, int] = {}  # column of each pair, by the place of its item in the order
        for place, item in enumerate(order):
            fits = self._takes[item] <= self._room
            if item in answering and item in self._known and fits:
                pairs[place] = self._new(mass, whole=not self._one)
                self._limit([(pairs[place], 1.0), (self._known[item], -1.0)], 0.0)
        if not pairs:
            return
        self._limit([(pair, 1.0) for pair in pairs.values()], 1.0)
        for place, item in enumerate(order[: max(pairs)]):
            after = [(pair, 1.0) for at, pair in pairs.items() if at > place]
            if self._one or (named and item in answering):
                self._limit([*after, (self._spanned[item], 1.0)], 1.0)
        for place, pair in pairs.items() if not self._one else ():
            # Read only while what is spanned before leaves room for it.
            before = [(self._spanned[item], float(self._takes[item])) for item in order[:place]]
            most = sum(takes for _, takes in before)
            excess = most + float(self._takes[order[place]]) - self._room
            if excess > 0:
                self._limit([*before, (pair, excess)], most)

    def _new(self, profit: float = 0.0, *, whole: bool = False) -> int:
        self._profit.append(profit)
        if whole:
            self._whole.append(len(self._profit) - 1)
        return len(self._profit) - 1

    def _limit(self, terms: Terms, limit: float) -> None:
        """Keep a sum at or below a limit; a column that stands twice is added up."""
        entries: dict[int, float] = {}
        for column, entry in terms:
            entries[column] = entries.get(column, 0.0) + entry
        self._rows.append(list(entries.items()))
        self._limits.append(limit)

    def _model(self) -> Any:
        import highspy

        claims = range(len(self._useful))
        budget = [(c, float(self._costs[e])) for c, e in zip(claims, self._useful, strict=True)]
        rows = [budget, [(c, 1.0) for c in claims], *self._rows]
        lp = highspy.HighsLp()
        n_columns = len(self._profit)
        lp.num_col_, lp.num_row_ = n_columns, len(rows)
        lp.col_cost_, lp.sense_ = np.array(self._profit), highspy.ObjSense.kMaximize
        lp.col_lower_, lp.col_upper_ = np.zeros(n_columns), np.ones(n_columns)
        lp.row_lower_ = np.full(len(rows), -np.inf)
        lp.row_upper_ = np.array([0.0, float(self._max_claims), *self._limits])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        lp.a_matrix_.index_ = np.array([column for row in rows for column, _ in row])
        lp.a_matrix_.value_ = np.array([entry for row in rows for _, entry in row])
        kinds = [highspy.HighsVarType.kContinuous] * n_columns
        for column in self._whole:
            kinds[column] = highspy.HighsVarType.kInteger
        lp.integrality_ = kinds
        solver = new_solver()
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("mip_abs_gap", TOLERANCE)
        solver.passModel(lp)
        return solver
