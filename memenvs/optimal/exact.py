"""The exact frontier: all memories where there are few, else linear and integer programmes."""

from __future__ import annotations

import math
import time

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.optimal.bounds import bound_curve, relax_at
from memenvs.optimal.bracket import Bracket
from memenvs.optimal.greedy import offer_greedy
from memenvs.optimal.lagrange import bound_prefixes
from memenvs.optimal.model import Problem
from memenvs.optimal.programme import Programme
from memenvs.optimal.swaps import offer_swaps

ENUMERATED = 12  # candidate claims up to which all 2^n memories are compared
SHORTEST = 1.0  # seconds of a search: HiGHS rarely looks at the clock before its first branching
FINE = 1 << 60  # all of p_D in the integers that compare them


def solve(bracket: Bracket, deadline: float) -> None:
    """Close the interval of every capacity, or narrow it until the deadline.

    A relaxation whose x is whole, or that meets a known memory, settles a capacity; an integer
    programme settles the others. The relaxations go up the curve, each from the last one's basis.
    """
    problem = bracket.problem
    if len(problem.candidates) <= ENUMERATED:
        enumerate_memories(bracket)
        return
    paths = offer_greedy(bracket)
    programme = Programme(problem)
    bound_prefixes(bracket, programme, paths, deadline)
    offer_swaps(bracket, deadline)
    if math.isfinite(deadline):  # a first bound for all, should time not suffice for each
        bound_curve(bracket, programme, deadline)
    for place in range(len(bracket.capacities)):
        if bracket.is_open[place] and not relax_at(bracket, programme, place, deadline):
            break
    settled: set[int] = set()
    while places := [int(p) for p in np.flatnonzero(bracket.is_open) if p not in settled]:
        for done, place in enumerate(places):
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return
            if bracket.is_open[place]:  # another capacity's search may have closed it
                # An equal share; what is left over at the end goes to those still open.
                share = max(remaining / (len(places) - done), min(remaining, SHORTEST))
                memory, upper, ended = programme.search(
                    float(bracket.capacities[place]), bracket.memories[place], share
                )
                if memory is not None:
                    bracket.offer(memory)
                bracket.bound_at(place, upper)
                if ended:
                    settled.add(place)


def enumerate_memories(bracket: Bracket) -> None:
    """Offer the best of all memories of the candidate claims, and prove it so."""
    memories, costs, values = all_memories(bracket.problem)
    best = np.maximum.accumulate(values)
    for capacity in bracket.capacities:
        within = int(np.searchsorted(costs, capacity, side="right"))
        bracket.offer(memories[np.searchsorted(best, best[within - 1])])
    bracket.bound(bracket.values)


def all_memories(problem: Problem) -> tuple[BoolArray, FloatArray, IntArray]:
    """Give all memories of the candidate claims, the cheapest first, with costs and values.

    Values are exact integers, so that no near-tie is missed.
    """
    count = len(problem.candidates)
    memories = np.zeros((1 << count, len(problem.costs)), dtype=bool)
    memories[:, problem.candidates] = np.arange(1 << count)[:, None] >> np.arange(count) & 1
    memories = memories[memories.sum(axis=1) <= problem.max_claims]
    costs = memories @ problem.costs
    order = np.argsort(costs, kind="stable")
    masses = np.rint(problem.masses / problem.total * FINE).astype(np.int64)
    memories = memories[order]
    return memories, costs[order], problem.queries.any(problem.satisfied(memories)) @ masses
