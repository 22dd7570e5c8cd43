"""What the order of arrival leaves to anyone: best memories of what was read by each settlement."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memenvs.material.budget import allowance
from memenvs.material.incidence import IntArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.curve import frontier, problem_of
from memenvs.optimal.exact import ENUMERATED, all_memories
from memenvs.optimal.model import Problem

if TYPE_CHECKING:
    from memenvs.envs.memorization.rules import Rules

LEAST = 0.05  # of the time that is left: what each search has at least


@dataclass(frozen=True)
class Arrival:
    """Most that anyone is paid in an episode in expectation, and whether each part is proved."""

    total: float  # sum over t of n_t U*(S; claims read by t)
    proved: bool


def arrival_bound(
    material: Material, objective: Objective, rules: Rules, time_limit: float | None = None
) -> Arrival:
    """Bound what an episode pays: n_t queries are settled at t, from claims that were read by then.

    No policy exceeds it in expectation, whatever it knows. In a pool every claim is there at once.
    Few claims are enumerated; else from the end backwards one search serves every t at which its
    memory could be held.
    """
    claims = len(material.claims)
    pool = rules.access == "pool"
    decisions = rules.length(claims)
    counts = np.array([rules.due(t, decisions) for t in range(decisions + 1)])
    capacity = float(rules.capacity if rules.budget is None else rules.budget)
    deadline = time.monotonic() + (math.inf if time_limit is None else time_limit)
    costs = np.ones(claims) if rules.budget is None else None
    if not pool and not objective.limited and objective.utility != "end-to-end":
        prices = material.incidence.cost if costs is None else costs
        problem = problem_of(material, objective, prices / prices.max(), rules.capacity)
        if material.incidence.certain and len(problem.candidates) <= ENUMERATED:
            allowed = float(allowance(np.array([capacity / prices.max()]))[0])
            return Arrival(_enumerated(material, objective, problem, allowed, counts), True)
    total, proved, end = 0.0, True, decisions
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
        proved &= bool(found.optimal[0])
        end = start
    return Arrival(total, proved)


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
