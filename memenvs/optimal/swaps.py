"""Local search where single claims answer: give one claim up for another while that gains."""

from __future__ import annotations

import time

import numpy as np

from memenvs.material.incidence import BoolArray, Ragged
from memenvs.optimal.bracket import Bracket
from memenvs.optimal.lagrange import PLACES
from memenvs.optimal.model import TOTAL, Problem

TRIALS = 4000  # claims that are tried for giving up, at one capacity
LEAST = 1e-9 * TOTAL  # of a gain, in the problem's unit: rounding makes no swap


def offer_swaps(bracket: Bracket, deadline: float) -> None:
    """Improve the memories of the capacities where most is open, and offer what is found."""
    problem = bracket.problem
    if not problem.decomposable:
        return
    width = np.where(bracket.is_open, bracket.uppers - bracket.values, 0.0)
    for place in np.argsort(-width, kind="stable")[:PLACES].tolist():
        if bracket.is_open[place] and time.monotonic() < deadline:
            capacity = float(bracket.capacities[place])
            bracket.offer(_swapped(problem, bracket.memories[place], capacity, deadline))


def _swapped(problem: Problem, memory: BoolArray, capacity: float, deadline: float) -> BoolArray:
    """Swap claims of a memory ``(E,)`` for better ones until none helps."""
    memory, costs = memory.copy(), problem.costs
    claims_of, queries_of = _pairs(problem)
    held = np.zeros(len(problem.masses), dtype=np.int64)  # stored claims that answer each query
    for claim in np.flatnonzero(memory).tolist():
        held[queries_of[claim]] += 1
    queries = np.repeat(np.arange(len(claims_of)), claims_of.lengths)
    open_mass = np.where(held == 0, problem.masses, 0.0)
    gains = np.bincount(claims_of.values, open_mass[queries], minlength=len(costs))
    spent, idle = float(costs[memory].sum()), 0  # trials in a row that changed nothing
    for _ in range(TRIALS):
        stored = np.flatnonzero(memory)
        if idle >= len(stored) or time.monotonic() > deadline:
            break
        leaving = int(stored[idle])
        single = [q for q in queries_of[leaving].tolist() if held[q] == 1]
        after = gains.copy()
        for query in single:
            after[claims_of[query]] += problem.masses[query]
        fits = spent - costs[leaving] + costs <= capacity
        best = int(np.where(fits & ~memory, after, -1.0).argmax())
        if not fits[best] or memory[best] or after[best] <= after[leaving] + LEAST:
            idle += 1
            continue
        memory[leaving], memory[best], idle = False, True, 0
        spent += float(costs[best] - costs[leaving])
        held[queries_of[leaving]] -= 1
        for query in queries_of[best].tolist():
            if held[query] == 0:
                after[claims_of[query]] -= problem.masses[query]
            held[query] += 1
        gains = after
    return memory


def _pairs(problem: Problem) -> tuple[Ragged, Ragged]:
    """Claims that answer each query, and queries that each claim answers."""
    claims = problem.supports.values[problem.queries.values]  # each option is one claim
    rows = np.repeat(np.arange(len(problem.queries)), problem.queries.lengths)
    order = np.argsort(claims, kind="stable")
    offsets = np.searchsorted(claims[order], np.arange(len(problem.costs) + 1))
    return Ragged(claims, problem.queries.offsets), Ragged(rows[order], offsets)
