"""The utility-capacity frontier of a material, and what is known of it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from memenvs.material.budget import allowance
from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.bounds import bound_curve
from memenvs.optimal.bracket import ROUNDING, Bracket
from memenvs.optimal.exact import solve
from memenvs.optimal.greedy import offer_greedy
from memenvs.optimal.lagrange import bound_prefixes
from memenvs.optimal.model import TOTAL, Problem, reduce
from memenvs.optimal.programme import Programme
from memenvs.optimal.swaps import offer_swaps
from memenvs.reading.answers import ALL
from memenvs.short_repr import short_repr

BATCH = 64  # memories evaluated at once


@dataclass(frozen=True)
class Frontier:
    """Best known memory at each of C capacities, with the interval in which the optimum lies."""

    objective: str
    capacities: tuple[float, ...]  # C, in the order asked for
    values: FloatArray  # (C,) utility that the memory attains
    memories: tuple[tuple[str, ...], ...]  # C tuples of claim ids, in the material's order
    upper_bounds: FloatArray  # (C,) no memory within the capacity exceeds it; values where optimal
    optimal: BoolArray  # (C,) whether the value is proved to be the optimum

    __repr__ = short_repr


def frontier(
    material: Material,
    objective: str | Objective = "coverage",
    capacities: Iterable[float] | None = None,
    method: Literal["exact", "greedy", "bound"] = "exact",
    *,
    costs: ArrayLike | None = None,
    max_claims: int | None = None,
    arrived: int | None = None,
    time_limit: float | None = None,
) -> Frontier:
    """Best utility of a memory at each capacity, U*(S) = max over cost(M) <= S of u(M) (eq. 7).

    ``objective``: ``"coverage"``, ``"precision"``, ``"end-to-end"``, or an ``Objective`` with a
    reader or a single query. Under a limited reader the curve need not end at the full context.
    ``capacities`` bound the summed cost of a memory (up to a relative 1e-9, so that .1 + .2 fits
    .3); None is every integer from 0 to the number of claims. ``costs`` ``(n_claims,)`` replaces
    the claims' own, all 1 unless the material says otherwise. ``max_claims`` bounds the number of
    claims besides; ``arrived`` leaves the first so many of the stream to choose from. ``method``:
    ``"exact"`` proves the optimum (until ``time_limit`` seconds are over; then what is left open is
    an interval), ``"greedy"`` takes greedy memories and ``"bound"`` whole relaxations where they
    occur, both with a fast upper bound. A search may overrun the limit by seconds on large
    materials, where HiGHS looks at the clock too rarely; Ctrl-C ends it.

    Values are attained by the memories returned, and upper bounds hold whatever the method.
    Precision under uncertain truth is exact while a query involves at most 10 uncertain claims
    (``options.MAX_UNCERTAIN``); past that its upper bound is loose and ``optimal`` rarely True.
    Raises ``ValueError`` for an unknown objective or method and for a negative or NaN number.
    """
    sought = Objective(objective) if isinstance(objective, str) else objective  # type: ignore[arg-type]
    _check_choice("method", method, ("exact", "greedy", "bound"))
    asked = _capacities(capacities, len(material.claims))
    prices = _costs(costs, material)
    _check_limits(max_claims, time_limit)
    _check_limits(arrived, None, "arrived")
    deadline = time.monotonic() + (math.inf if time_limit is None else time_limit)
    size = None if max_claims is None else int(max_claims)
    unit = prices.max()  # so that the solver's tolerances mean the same for any unit of cost
    problem = problem_of(material, sought, prices / unit, size, arrived)
    ascending, place = np.unique(np.array(asked, dtype=np.float64), return_inverse=True)
    bracket = Bracket(problem, allowance(ascending / unit))
    # Where one claim can spoil another, the problem of precision under a full reader only bounds.
    bounded = sought.limited or (sought.utility == "end-to-end" and not material.incidence.certain)
    share = time.monotonic() + (deadline - time.monotonic()) / 3 if bounded else deadline
    if len(ascending) and len(problem.candidates):
        _run(bracket, "bound" if bounded else method, share)
    values, uppers, optimal, memories = _settle(material, replace(sought, reader=ALL), bracket)
    if bounded and len(ascending):
        from memenvs.optimal.limited import Limited, candidates

        useful = candidates(material, sought)
        found = Limited(
            material,
            sought,
            capacities=bracket.capacities,
            costs=problem.costs,
            max_claims=problem.max_claims,
            useful=useful if arrived is None else useful[useful < arrived],
            deadline=deadline,
            uppers=uppers,
        )
        found.solve(method)
        values, uppers, optimal = found.values, found.uppers, found.optimal
        memories = found.memories
    ids = np.array(material.claim_ids, dtype=object)
    return Frontier(
        objective=sought.name,
        capacities=asked,
        values=values[place],
        memories=tuple(tuple(ids[memories[p]].tolist()) for p in place),
        upper_bounds=uppers[place],
        optimal=optimal[place],
    )


def problem_of(
    material: Material,
    objective: Objective,
    costs: FloatArray,
    max_claims: int | None,
    arrived: int | None = None,
) -> Problem:
    """Reduce a material to the problem of its objective's frontier."""
    pays = "coverage" if objective.utility == "coverage" else "precision"
    weights = None if objective.query is None else objective.weights(material)
    return reduce(material, pays, costs, max_claims, weights, arrived)


def _run(bracket: Bracket, method: str, deadline: float) -> None:
    if method == "exact":
        solve(bracket, deadline)
        return
    paths = offer_greedy(bracket) if method == "greedy" else []
    programme = Programme(bracket.problem)
    bound_prefixes(bracket, programme, paths, deadline)
    if method == "greedy":
        offer_swaps(bracket, deadline)
    bound_curve(bracket, programme, deadline)


def _settle(
    material: Material, objective: Objective, bracket: Bracket
) -> tuple[FloatArray, FloatArray, BoolArray, list[BoolArray]]:
    """Recompute values on the material, carry better memories up the curve, compare with bounds."""
    memories = list(bracket.memories)
    distinct = list({id(memory): memory for memory in memories}.values())
    row = {id(memory): place for place, memory in enumerate(distinct)}
    rows = [row[id(memory)] for memory in memories]
    found, certain = np.zeros(len(distinct)), np.ones(len(distinct), dtype=bool)
    for start in range(0, len(distinct), BATCH):
        batch = np.array(distinct[start : start + BATCH])
        found[start : start + BATCH] = objective.expected(material, batch)
        if objective.utility != "coverage" and not material.incidence.certain:
            certain[start : start + BATCH] = material.evaluate(batch).exact
    values, exact = found[rows], certain[rows]
    for place in range(1, len(memories)):
        if values[place - 1] > values[place]:
            memories[place] = memories[place - 1]
            values[place], exact[place] = values[place - 1], exact[place - 1]
    proved = ~bracket.is_open & bracket.problem.tight
    if objective.utility == "end-to-end":  # the problem is that of precision, which bounds it
        proved &= values * bracket.problem.total >= bracket.values - ROUNDING * TOTAL
    uppers = np.maximum(bracket.uppers / bracket.problem.total, values)
    optimal = exact & (proved | (uppers - values <= ROUNDING))
    return values, np.where(optimal, values, uppers), optimal, memories


def _check_choice(name: str, given: object, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(f"{given!r} is no {name}; choose from {', '.join(known)}")


def _capacities(capacities: Iterable[float] | None, n_claims: int) -> tuple[float, ...]:
    if capacities is None:
        return tuple(range(n_claims + 1))
    try:
        given = np.array(list(capacities), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"capacities must be numbers, not {capacities!r:.60}") from None
    for capacity in given.ravel().tolist():
        if not 0 <= capacity < math.inf:
            raise ValueError(f"capacity {capacity} is not a finite number of 0 or more")
    if given.ndim != 1:
        raise ValueError(f"capacities must be one list of numbers, not of shape {given.shape}")
    return tuple(int(c) if c == int(c) else c for c in given.tolist())


def _costs(costs: ArrayLike | None, material: Material) -> FloatArray:
    if costs is None:
        return material.incidence.cost
    try:
        given = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full(0, np.nan)
    if given.shape != (len(material.claims),) or not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(
            f"costs must be {len(material.claims)} positive numbers, one per claim of "
            f"{material.name}"
        )
    return given


def _check_limits(
    max_claims: int | None, time_limit: float | None, name: str = "max_claims"
) -> None:
    if max_claims is not None and not (max_claims >= 0 and max_claims % 1 == 0):
        raise ValueError(f"{name} {max_claims} is not a whole number of 0 or more")
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit {time_limit} is not a number of seconds of 0 or more")
