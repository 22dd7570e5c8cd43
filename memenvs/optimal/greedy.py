"""Greedy memories: lazy for decomposable materials, support-aware for the others."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.bracket import Bracket
from memenvs.optimal.model import Problem, reduce

Bundle: TypeAlias = tuple[int, ...]  # claims that are written together
Path: TypeAlias = list[tuple[Bundle, float]]  # bundles in the order of writing, with their gains

LOOK_AHEAD = 64  # bundles of a path that are tried for the room that its prefix leaves


def one_claim_greedy(
    material: Material, capacity: int, objective: str = "coverage"
) -> tuple[str, ...]:
    """Add the claim that gains most at once, up to ``capacity`` times, the first of equals.

    Blind to supports of several claims: none of them gains anything alone. Where nothing gains it
    fills up with claims that do no harm. Returns claim ids in the order of writing.
    """
    problem = reduce(material, objective, np.ones(len(material.claims)), None)
    singles = [(int(claim),) for claim in problem.candidates]
    chosen = [claim for (claim,), _ in eager_path(problem, singles, problem.costs)]
    chosen, value = chosen[:capacity], Objective(objective).expected  # type: ignore[arg-type]
    memory = _flags(problem, set(chosen))
    for claim in np.flatnonzero(~memory).tolist():
        grown = memory | _flags(problem, {claim})
        if len(chosen) < capacity and value(material, grown) >= value(material, memory):
            chosen.append(claim)
            memory = grown
    return tuple(material.claim_ids[claim] for claim in chosen)


def offer_greedy(bracket: Bracket) -> list[Path]:
    """Offer what greedy finds at every capacity; with claim costs, per cost and regardless of it.

    Decomposable: one lazy run gives every prefix, at least 1 - 1/e of the optimum with unit costs.
    Others: whole supports by gain per added cost, and single claims; the better of the two at each
    capacity, without a guarantee. Gives the paths that were taken.
    """
    problem = bracket.problem
    paths: list[Path] = []
    ones = np.ones_like(problem.costs)
    prices = [ones] if problem.unit_costs else [problem.costs, ones]
    supports = [tuple(problem.supports[p].tolist()) for p in range(len(problem.supports))]
    bundles = list(dict.fromkeys(supports))
    singles = [(int(claim),) for claim in problem.candidates]
    for price in prices:
        if problem.decomposable:
            paths.append(lazy_path(problem, price))
        else:
            end = float(bracket.capacities[-1])
            paths += [eager_path(problem, steps, price, end) for steps in (bundles, singles)]
    for path in paths:
        _offer_path(bracket, path)
    if not problem.unit_costs:  # one costly claim may beat every cheap start
        for bundle in bundles:
            bracket.offer(_flags(problem, set(bundle)))
    return paths


def lazy_path(problem: Problem, price: FloatArray) -> Path:
    """Claims in the order of gain per price, each gain brought up to date only at the top.

    Gains of a submodular value never grow, so a stale gain is an upper bound.
    """
    rows = np.repeat(np.arange(len(problem.queries)), problem.queries.lengths)
    claims = problem.supports.values[problem.queries.values]  # each option is one claim
    order = np.argsort(claims, kind="stable")
    starts = np.searchsorted(claims[order], np.arange(len(problem.costs) + 1))
    queries = rows[order]
    unanswered = problem.masses.copy()
    heap = [(-np.inf, claim) for claim in problem.candidates.tolist()]
    path: Path = []
    while heap:
        _, claim = heap[0]
        answers = queries[starts[claim] : starts[claim + 1]]
        rate = float(unanswered[answers].sum() / price[claim])
        if rate <= 0:
            heapq.heappop(heap)
        elif len(heap) == 1 or (-rate, claim) <= min(heap[1:3]):
            heapq.heappop(heap)
            path.append(((claim,), float(unanswered[answers].sum())))
            unanswered[answers] = 0.0
        else:
            heapq.heapreplace(heap, (-rate, claim))
    return path


def eager_path(
    problem: Problem, bundles: Sequence[Bundle], price: FloatArray, capacity: float = np.inf
) -> Path:
    """Bundles in the order of gain per price of what is still missing; gains are kept up to date.

    A bundle that would exceed the capacity is passed over. Stops when nothing gains.
    """
    state = _State(problem)
    touching = _index(bundles)
    gain, due, cost, size = np.zeros((4, len(bundles)))  # of the claims not yet stored

    def update(places: Iterable[int]) -> None:
        for place in places:
            added = [claim for claim in bundles[place] if claim not in state.memory]
            gain[place] = state.gain(added) if added else 0.0
            due[place] = price[added].sum() or 1.0
            cost[place], size[place] = problem.costs[added].sum(), len(added)

    update(range(len(bundles)))
    path: Path = []
    spent = 0.0
    while True:
        fits = (spent + cost <= capacity) & (len(state.memory) + size <= problem.max_claims)
        rates = np.where(fits, gain, 0.0) / due
        best = int(np.argmax(rates))
        if rates[best] <= 0:
            return path
        spent += cost[best]
        altered = state.add(bundles[best])
        path.append((bundles[best], float(gain[best])))
        update({place for claim in altered for place in touching[claim]})


class _State:
    """A growing memory: what each option still misses, and how many options answer each query."""

    def __init__(self, problem: Problem) -> None:
        options = range(len(problem.supports))
        self.supports = [problem.supports[o].tolist() for o in options]
        self.conflicts = [problem.conflicts[o].tolist() for o in options]
        self.rows = [problem.queries[q].tolist() for q in range(len(problem.queries))]
        self.needing, self.spoiling = _index(self.supports), _index(self.conflicts)
        self.queries = _index(self.rows)
        self.masses = problem.masses.tolist()
        self.memory: set[int] = set()
        self.missing = [len(support) for support in self.supports]
        self.spoilt = [0] * len(self.supports)
        self.answering = [0] * len(self.rows)

    def gain(self, added: Bundle | list[int]) -> float:
        """Mass won by storing further claims; negative where they spoil more than they answer."""
        gain = 0.0
        for query, change in self._changes(self._touched(added)).items():
            before = self.answering[query]
            gain += self.masses[query] * ((before + change > 0) - (before > 0))
        return gain

    def add(self, bundle: Bundle) -> set[int]:
        """Store a bundle; return the claims whose gains this may have altered."""
        added = [claim for claim in bundle if claim not in self.memory]
        touched = self._touched(added)
        changes = self._changes(touched)
        self.memory.update(added)
        for option, (found, spoilt) in touched.items():
            self.missing[option] -= found
            self.spoilt[option] += spoilt
        for query, change in changes.items():
            self.answering[query] += change
        options = set(touched).union(*(self.rows[query] for query in changes))
        return {claim for o in options for claim in (*self.supports[o], *self.conflicts[o])}

    def _touched(self, added: Bundle | list[int]) -> dict[int, tuple[int, int]]:
        """Options that the claims bear on, with how many they supply and how many spoil."""
        touched: dict[int, tuple[int, int]] = {}
        for claim in added:
            for option in self.needing[claim]:
                found, spoilt = touched.get(option, (0, 0))
                touched[option] = (found + 1, spoilt)
            for option in self.spoiling[claim]:
                found, spoilt = touched.get(option, (0, 0))
                touched[option] = (found, spoilt + 1)
        return touched

    def _changes(self, touched: dict[int, tuple[int, int]]) -> dict[int, int]:
        """By how many satisfied options each query's number changes."""
        changes: dict[int, int] = defaultdict(int)
        for option, (found, spoilt) in touched.items():
            before = self.missing[option] == 0 and self.spoilt[option] == 0
            after = self.missing[option] == found and self.spoilt[option] + spoilt == 0
            if before != after:
                for query in self.queries[option]:
                    changes[query] += after - before
        return changes


def _index(rows: Iterable[Iterable[int]]) -> dict[int, list[int]]:
    """List the rows in which each value stands."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        for value in row:
            places[value].append(place)
    return places


def _offer_path(bracket: Bracket, path: Path) -> None:
    """Offer, at each capacity, the longest prefix and then each later bundle that still fits."""
    problem = bracket.problem
    chosen: set[int] = set()
    spent, value, position = 0.0, 0.0, 0
    for capacity in bracket.capacities.tolist():
        while position < len(path):
            bundle, gain = path[position]
            cost, size = _missing(problem, bundle, chosen)
            if spent + cost > capacity or len(chosen) + size > problem.max_claims:
                break
            chosen.update(bundle)
            spent, value, position = spent + cost, value + gain, position + 1
        bracket.offer(_flags(problem, chosen), value)
        filled, total = set(chosen), spent
        for bundle, _ in path[position + 1 : position + 1 + LOOK_AHEAD]:
            cost, size = _missing(problem, bundle, filled)
            if total + cost <= capacity and len(filled) + size <= problem.max_claims:
                filled.update(bundle)
                total += cost
        if len(filled) > len(chosen):
            bracket.offer(_flags(problem, filled))


def _flags(problem: Problem, claims: set[int]) -> BoolArray:
    memory = np.zeros(len(problem.costs), dtype=bool)
    memory[list(claims)] = True
    return memory


def _missing(problem: Problem, bundle: Bundle, memory: set[int]) -> tuple[float, int]:
    """Cost and number of a bundle's claims that are not yet stored."""
    added = [claim for claim in bundle if claim not in memory]
    return sum(problem.costs[added].tolist()), len(added)
