"""Upper bounds of a whole curve from the multipliers of a few linear programmes."""

from __future__ import annotations

import time

import numpy as np

from memenvs.optimal.bracket import Bracket
from memenvs.optimal.lagrange import GAP
from memenvs.optimal.programme import Programme

MAX_PROGRAMMES = 12  # a second each with 5,000 claims and 20,000 queries
SECONDS = 2.0  # for each: dense ones take minutes, and the bound that is there holds as well


def bound_curve(bracket: Bracket, programme: Programme, deadline: float) -> None:
    """Bound every capacity, solving relaxations where the curve is known least.

    One relaxation's multipliers bound all capacities (``Programme.dual_bounds``). Where the
    relaxation itself would lie is judged by interpolating between those solved.
    """
    if not len(programme.problem.candidates):
        return
    places, heights = [0.0], [0.0]
    for _ in range(MAX_PROGRAMMES):
        order = np.argsort(places)
        expected = np.interp(bracket.capacities, np.array(places)[order], np.array(heights)[order])
        if len(places) == 1:
            place = len(bracket.capacities) - 1
        else:
            doubt = np.where(bracket.is_open, bracket.uppers - expected, 0.0)
            place = int(np.argmax(doubt))
            if doubt[place] <= GAP * programme.problem.total:
                return
        capacity = float(bracket.capacities[place])
        end = min(deadline, time.monotonic() + SECONDS)
        if capacity in places or not relax_at(bracket, programme, place, end):
            return
        places.append(capacity)
        heights.append(float(bracket.uppers[place]))


def relax_at(bracket: Bracket, programme: Programme, place: int, deadline: float) -> bool:
    """Solve the relaxation at one capacity: bound the curve, and offer its claims if it is whole.

    Returns whether it was solved in time.
    """
    capacity = float(bracket.capacities[place])
    solution = programme.relax(capacity, max(deadline - time.monotonic(), 0.0))
    if solution is None:
        return False
    x, multipliers = solution
    uppers = programme.dual_bounds(multipliers, bracket.capacities)
    usable = programme.usable(capacity)
    smaller = slice(0, place + 1)  # what does not fit here fits no smaller capacity
    uppers[smaller] = np.minimum(
        uppers[smaller],
        programme.dual_bounds(multipliers, bracket.capacities[smaller], usable),
    )
    bracket.offer(programme.memory(x > 0.5))
    bracket.bound(uppers)
    return True
