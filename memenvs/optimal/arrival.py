"""What the order of arrival leaves to anyone: the best that can be held at each settlement."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from memenvs.material.budget import allowance
from memenvs.material.incidence import IntArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.bracket import ROUNDING
from memenvs.optimal.course import Course, best_course
from memenvs.optimal.curve import frontier, problem_of
from memenvs.optimal.exact import ENUMERATED, all_memories
from memenvs.optimal.model import Problem

if TYPE_CHECKING:
    from memenvs.envs.memorization.rules import Rules

LEAST = 0.05  # of the time that is left: what each search has at least


@dataclass(frozen=True)
class Arrival:
    """Most that anyone is paid in an episode in expectation, and whether someone is."""

    total: float
    attained: bool  # whether a memory is known that is paid it, through one run of writes


def arrival_bound(
    material: Material, objective: Objective, rules: Rules, time_limit: float | None = None
) -> Arrival:
    """Bound what an episode pays: n_t queries are settled at t, from claims that were read by then.

    No policy exceeds it in expectation, whatever it knows of the material. It is at most the sum
    over t of n_t U*(S; claims read by t). In a stream that is read whole, it is what the best
    course is paid: less, where best memories do not follow each other. In a pool every claim is
    there at once.
    """
    deadline = time.monotonic() + (math.inf if time_limit is None else time_limit)
    counts = _counts(material, rules)
    total = _prefixes(material, objective, rules, counts, time_limit)
    left = deadline - time.monotonic()
    seconds = left if time_limit is None else max(left, LEAST * time_limit)
    course = course_of(material, objective, rules, seconds)
    if course is None:
        return Arrival(total, False)
    settled = counts.nonzero()[0]
    held = np.array([course.held(t) for t in settled.tolist()])
    paid = float(objective.expected(material, held) @ counts[settled])
    total = min(total, max(paid, course.bound))
    attained = paid >= total - ROUNDING * int(counts.sum())
    return Arrival(paid if attained else total, attained)


def course_of(
    material: Material, objective: Objective, rules: Rules, seconds: float
) -> Course | None:
    """Give the best course in a stream whose memory is read whole, bounded by its value.

    None in a pool, under a limited reader, and where it takes too long.
    """
    if rules.access == "pool" or objective.limited:
        return None
    prices = material.incidence.cost if rules.budget is not None else np.ones(len(material.claims))
    problem = problem_of(material, objective, prices / prices.max(), rules.capacity)
    capacity = rules.capacity if rules.budget is None else rules.budget
    allowed = float(allowance(np.array([capacity / prices.max()]))[0])
    found = best_course(problem, _counts(material, rules), allowed, seconds)
    return found and replace(found, bound=found.bound / problem.total)


def _counts(material: Material, rules: Rules) -> IntArray:
    """Queries that are settled once so many decisions have been taken: ``(decisions + 1,)``."""
    decisions = rules.length(len(material.claims))
    return np.array([rules.due(t, decisions) for t in range(decisions + 1)])


def _prefixes(
    material: Material,
    objective: Objective,
    rules: Rules,
    counts: IntArray,
    time_limit: float | None,
) -> float:
    """Bound the sum over t of n_t U*(S; claims read by t).

    Few claims are enumerated; else from the end backwards one search serves every t at which its
    memory could be held.
    """
    pool = rules.access == "pool"
    capacity = float(rules.capacity if rules.budget is None else rules.budget)
    deadline = time.monotonic() + (math.inf if time_limit is None else time_limit)
    costs = np.ones(len(material.claims)) if rules.budget is None else None
    if not pool and not objective.limited and objective.utility != "end-to-end":
        prices = material.incidence.cost if costs is None else costs
        problem = problem_of(material, objective, prices / prices.max(), rules.capacity)
        if material.incidence.certain and len(problem.candidates) <= ENUMERATED:
            allowed = float(allowance(np.array([capacity / prices.max()]))[0])
            return _enumerated(material, objective, problem, allowed, counts)
    total, end = 0.0, len(counts) - 1
    while end > 0 and counts[: end + 1].any():
        left = max(deadline - time.monotonic(), 0.0)
        found = frontier(
            material,
            objective,
            [capacity],
            costs=costs,
            max_claims=rules.capacity,
            arrived=None if pool else end,
            time_limit=None if time_limit is None else max(left / 4, LEAST * time_limit),
        )
        memory = np.flatnonzero(material.mask(found.memories[0]))
        # While all of it was read it was the best of what was read.
        start = 0 if pool or not len(memory) else int(memory[-1])
        total += float(found.upper_bounds[0]) * int(counts[start + 1 : end + 1].sum())
        end = start
    return total


def _enumerated(
    material: Material, objective: Objective, problem: Problem, allowed: float, counts: IntArray
) -> float:
    """Sum n_t times the best of all memories that could be held at t."""
    memories, costs, values = all_memories(problem)
    fits = costs <= allowed
    memories, values = memories[fits], values[fits]
    claims = memories.shape[1]
    # How many claims must have been read, before all of a memory could be.
    needed = np.where(memories.any(axis=1), claims - memories[:, ::-1].argmax(axis=1), 0)
    order = np.lexsort((-values, needed))
    needed, values = needed[order], values[order]
    best = np.maximum.accumulate(values)
    settled = counts.nonzero()[0]
    # The best memory that needs no more than was read, and the first of equal ones.
    last = np.searchsorted(needed, np.minimum(settled, claims), side="right") - 1
    found = order[np.searchsorted(best, best[last])]
    return float(objective.expected(material, memories[found]) @ counts[settled])
