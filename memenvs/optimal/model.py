"""The maximisation problem behind a frontier: a material and an objective, reduced to arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray, Ragged
from memenvs.material.material import Material
from memenvs.optimal.options import Option, minimal, scenarios

TOTAL = 1e7  # masses that are no multiples of a unit are scaled to this sum
MAX_UNITS = 1e7  # integer masses up to this sum are solved as whole numbers


@dataclass(frozen=True)
class Problem:
    """Choose claims within a budget so that the mass of the answered queries is largest.

    A query is answered by any of its options (P options, R merged queries, E claims).
    """

    supports: Ragged  # P rows of claims, ascending
    conflicts: Ragged  # P rows of claims
    queries: Ragged  # R rows of options
    masses: FloatArray  # (R,) integers where ``integral``
    total: float  # mass of all of p_D in the same unit
    integral: bool  # whether every mass is a whole number of units
    tight: bool  # False where a mass over-estimates what it stands for
    costs: FloatArray  # (E,)
    max_claims: int

    @cached_property
    def candidates(self) -> IntArray:
        """Claims that some option needs; no other is ever worth storing."""
        return np.unique(self.supports.values)

    @cached_property
    def monotone(self) -> bool:
        """Whether no stored claim can spoil an option."""
        return len(self.conflicts.values) == 0

    @cached_property
    def decomposable(self) -> bool:
        """Whether the value is submodular: single claims answer, and none withdraws."""
        return self.monotone and bool((self.supports.lengths == 1).all())

    @cached_property
    def unit_costs(self) -> bool:
        """Whether a budget only counts claims."""
        return bool((self.costs == 1.0).all())

    def satisfied(self, memory: BoolArray) -> BoolArray:
        """Options that the memory holds: ``(..., E)`` to ``(..., P)``."""
        return self.supports.all(memory) & ~self.conflicts.any(memory)

    def value(self, memory: BoolArray) -> FloatArray:
        """Mass of the answered queries: ``(..., E)`` to ``(...)``."""
        return np.asarray(self.queries.any(self.satisfied(memory)) @ self.masses)


def reduce(
    material: Material,
    objective: str,
    costs: FloatArray,
    max_claims: int | None,
    weights: FloatArray | None = None,
    arrived: int | None = None,
) -> Problem:
    """Reduce a material to the problem of its ``"coverage"`` or ``"precision"`` frontier.

    Options that another one of the same query makes superfluous are dropped, queries with the same
    options merged. Precision keeps the supports that can be true; a truth strictly between 0 and 1
    splits a query into scenarios. ``weights`` ``(Q,)`` replace p_D; of a stream only the first
    ``arrived`` claims can be stored.
    """
    truth = material.incidence.truth
    if objective == "coverage":
        truth = np.ones_like(truth)
    if weights is None:
        weights = np.array([query.weight for query in material.queries])
    weights = weights / weights.max()
    ways = _ways(material, objective, truth)
    rows = [(ways[query], float(weights[query])) for query in np.flatnonzero(weights).tolist()]
    if arrived is not None:  # what makes an option superfluous has arrived no later
        rows = [([o for o in row if o.support[-1] < arrived], mass) for row, mass in rows]
    masses, tight = scenarios(rows, truth)
    return _pack(masses, float(weights.sum()), tight, costs, max_claims)


def _ways(material: Material, objective: str, truth: FloatArray) -> list[list[Option]]:
    """Give the ways to answer each query, of supports that can be true; found once."""
    key = ("ways", objective)
    if key not in material.derived:
        incidence = material.incidence
        possible = [
            tuple(sorted(support.tolist())) if (truth[support] > 0).all() else None
            for support in (incidence.supports[p] for p in range(len(incidence.supports)))
        ]
        options: list[list[Option]] = []
        for item in range(len(incidence.item_supports)):
            conflicts = tuple(sorted(incidence.conflicts[item].tolist()))
            supports = (possible[p] for p in incidence.item_supports[item])
            options.append([Option(s, conflicts) for s in supports if s is not None])
        material.derived[key] = [
            minimal(o for n in incidence.query_items[query] for o in options[n])
            for query in range(len(material.queries))
        ]
    found: list[list[Option]] = material.derived[key]
    return found


def _pack(
    given: dict[frozenset[Option], float],
    total: float,
    tight: bool,
    costs: FloatArray,
    max_claims: int | None,
) -> Problem:
    merged = given
    if any(option.conflicts for options in given for option in options):
        used = {claim for options in given for option in options for claim in option.support}
        merged = {}
        for row, mass in given.items():  # a claim that nobody stores spoils nothing
            kept = frozenset(minimal(Option(s, tuple(sorted(used & set(c)))) for s, c in row))
            merged[kept] = merged.get(kept, 0.0) + mass
    options = sorted({option for row in merged for option in row})
    place = {option: index for index, option in enumerate(options)}
    masses = np.array(list(merged.values()), dtype=np.float64)
    unit = _unit(np.append(masses, total))
    scale = 1.0 / unit if unit else TOTAL / total
    return Problem(
        supports=Ragged.from_rows(option.support for option in options),
        conflicts=Ragged.from_rows(option.conflicts for option in options),
        queries=Ragged.from_rows(sorted(place[o] for o in row) for row in merged),
        masses=np.rint(masses * scale) if unit else masses * scale,
        total=float(np.rint(total * scale)) if unit else TOTAL,
        integral=unit > 0,
        tight=tight,
        costs=costs,
        max_claims=len(costs) if max_claims is None else min(max_claims, len(costs)),
    )


def _unit(masses: FloatArray) -> float:
    """Largest u, found among 1/d of the smallest mass, of which all masses are multiples; or 0."""
    distinct = np.unique(masses)
    if len(distinct) > 1000:
        return 0.0
    divisors = np.arange(1.0, 1001.0)
    with np.errstate(over="ignore"):  # a mass may be as small as any float
        ratios = distinct / distinct[0]
        divisors = divisors[ratios[-1] * divisors <= MAX_UNITS]
        for ratio in ratios.tolist():  # few divisors outlast the first ones
            units = ratio * divisors
            near = np.abs(units - np.rint(units)) <= 1e-14 * (ratios[-1] * divisors)
            divisors = divisors[near]
            if not len(divisors):
                return 0.0
    return float(distinct[0] / divisors[0])
