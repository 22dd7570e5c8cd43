"""Upper bounds without a linear programme: prefixes of a greedy memory, then subgradient steps.

Both are multipliers of the programme's rows, and any multipliers give a bound: where a prefix A of
greedy leaves a query unanswered its mass is asked of the claims that could answer it, else it is
granted. With single claims that is min over A of u(A) + the S largest gains left, never worse. A
query that several claims answer only together asks an equal share of each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.optimal.bracket import Bracket
from memenvs.optimal.greedy import Path
from memenvs.optimal.programme import SMALL, Programme

PREFIXES = 128  # of greedy that are tried, evenly spread
PLACES = 8  # capacities at which the multipliers are improved, where most is open
STEPS = 150  # of a subgradient run
PATIENCE = 10  # steps without a better bound, after which they become shorter
GAP = 1e-3  # of all mass: a bracket narrower than this is left as it is


def bound_prefixes(
    bracket: Bracket, programme: Programme, paths: Sequence[Path], deadline: float
) -> None:
    """Bound every capacity by prefixes of greedy paths, and improve the multipliers."""
    if not len(programme.problem.candidates):
        return
    tried: list[FloatArray] = []
    bounds: list[FloatArray] = []
    for memory in _prefixes(bracket, paths):
        tried.append(_asking(programme, memory))
        bounds.append(programme.dual_bounds(tried[-1], bracket.capacities))
        if time.monotonic() > deadline:
            break
    bracket.bound(np.min(bounds, axis=0))
    if len(bracket.problem.masses) + len(programme.problem.candidates) < SMALL:
        return  # the linear programme of so few columns takes less time than these steps
    done: set[int] = set()
    while len(done) < PLACES and time.monotonic() < deadline:
        width = np.where(bracket.is_open, bracket.uppers - bracket.values, 0.0)
        width[list(done)] = 0.0
        place = int(np.argmax(width))
        if width[place] <= GAP * programme.problem.total:
            return
        done.add(place)
        start = tried[int(np.argmin([each[place] for each in bounds]))]
        tried.append(_improved(programme, bracket, place, start, deadline))
        bounds.append(programme.dual_bounds(tried[-1], bracket.capacities))
        bracket.bound(bounds[-1])


def _prefixes(bracket: Bracket, paths: Sequence[Path]) -> Iterator[BoolArray]:
    """Give the empty memory, and prefixes of paths that are spread up to twice the capacity."""
    problem = bracket.problem
    yield np.zeros(len(problem.costs), dtype=bool)
    for path in paths:
        costs = np.cumsum([problem.costs[list(bundle)].sum() for bundle, _ in path])
        end = int(np.searchsorted(costs, 2 * bracket.capacities[-1], side="right"))
        stride = max(1, -(-end // PREFIXES))
        memory = np.zeros(len(problem.costs), dtype=bool)
        for place, (bundle, _) in enumerate(path[:end]):
            memory[list(bundle)] = True
            if place % stride == stride - 1:
                yield memory


def _asking(programme: Programme, memory: BoolArray) -> FloatArray:
    """Ask the mass of what a memory leaves unanswered of the claims that could answer it."""
    problem = programme.problem
    unanswered = ~problem.queries.any(problem.satisfied(memory))
    return programme.multipliers(np.where(unanswered, problem.masses, 0.0))


def _improved(
    programme: Programme, bracket: Bracket, place: int, start: FloatArray, deadline: float
) -> FloatArray:
    """Walk down the subgradient of the bound at one capacity; gives the best multipliers found.

    Steps are those of Polyak (1969) towards the best known value, halved where they stop helping.
    """
    capacity, target = float(bracket.capacities[place]), float(bracket.values[place])
    multipliers, best, lowest = start, start, np.inf
    scale, waited = 1.0, 0
    for _ in range(STEPS):
        upper = float(programme.dual_bounds(multipliers, bracket.capacities[[place]])[0])
        if upper < lowest - 1e-6 * programme.problem.total:
            best, lowest, waited = multipliers, upper, 0
        else:
            waited += 1
        if waited > PATIENCE:
            scale, waited, multipliers = scale / 2, 0, best
            continue
        slope = programme.slope(multipliers, capacity)
        length = float(slope @ slope)
        if length == 0.0 or upper <= target or time.monotonic() > deadline:
            break
        multipliers = np.maximum(multipliers - scale * (upper - target) / length * slope, 0.0)
    return best
