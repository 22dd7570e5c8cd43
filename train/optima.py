"""The best possible, to which memories are compared: frontiers at every size that is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.optimal.curve import Frontier, frontier
from memenvs.train.places import Setting
from memenvs.train.play import EpisodeResult, Track, untracked

Objective = Literal["coverage", "precision"]

WHOLE = 60  # claims up to which the whole curve is drawn
POINTS = 25  # capacities of a longer curve


@dataclass(frozen=True)
class Reference:
    """Best precision of one material with S slots, by the load that a memory may have.

    The load is the number of claims or, under a budget, their summed cost.
    """

    bounds: dict[float, float]  # the optimum, or its upper bound
    proved: dict[float, bool]
    limit: float  # the load that the rules allow
    paid: float  # best value, at that load, of the utility that the environment pays
    full: float  # precision of a memory of everything

    @property
    def at_capacity(self) -> float:
        """Best precision that the rules allow."""
        return self.bounds[self.limit]


@dataclass(frozen=True)
class Curve:
    """Best precision by the number of slots; the optimum lies between ``values`` and ``bounds``."""

    capacities: tuple[float, ...]  # C, ascending
    values: FloatArray  # (C,)
    bounds: FloatArray  # (C,)
    full: float  # precision of a memory of everything


def load(result: EpisodeResult, budget: float | None) -> float:
    """What a memory takes of the capacity."""
    return result.size if budget is None else result.cost


def references(
    setting: Setting,
    results: Sequence[EpisodeResult],
    *,
    time_limit: float,
    track: Track[Any] = untracked,
) -> dict[tuple[str, int], Reference]:
    """Solve each material at the loads that occurred, within ``time_limit`` seconds for each.

    Gives a reference for each material's name and capacity.
    """
    found: dict[tuple[str, int], Reference] = {}
    budget, slots = setting.budget, setting.envs
    for material in track(setting.materials, "frontiers"):
        own = [result for result in results if result.material == material.name]
        full = full_context(material)
        if budget is None:  # slots and load bound the same number: one curve serves all
            limits = {float(capacity) for capacity in slots}
            loads = limits | {result.size for result in own}
            bounds, proved = _bounds(material, loads, None, None, time_limit)
            paid = _paid(setting, material, bounds, limits, None, time_limit)
            for capacity in slots:
                limit = float(capacity)
                reference = Reference(bounds, proved, limit, paid[limit], full)
                found[material.name, capacity] = reference
            continue
        for capacity in slots:
            share = time_limit / len(slots)
            loads = {result.cost for result in own if result.capacity == capacity} | {budget}
            bounds, proved = _bounds(material, loads, budget, capacity, share)
            paid = _paid(setting, material, bounds, {budget}, capacity, share)
            reference = Reference(bounds, proved, budget, paid[budget], full)
            found[material.name, capacity] = reference
    return found


def _paid(
    setting: Setting,
    material: Material,
    bounds: dict[float, float],
    limits: set[float],
    slots: int | None,
    time_limit: float,
) -> dict[float, float]:
    """Best value of the utility that is paid; precision bounds what a reasoner gets right."""
    if setting.utility != "coverage":
        return {limit: bounds[limit] for limit in limits}
    return _bounds(material, limits, setting.budget, slots, time_limit, "coverage")[0]


def mean_curve(setting: Setting, *, time_limit: float, track: Track[Any] = untracked) -> Curve:
    """Frontier by the number of slots, averaged over the materials.

    The whole curve where the materials have at most 60 claims; else up to the largest capacity
    asked for, at those asked for and some between them. Under a budget, those asked for alone.
    """
    asked = {float(capacity) for capacity in setting.envs}
    largest = max(len(material.claims) for material in setting.materials)
    end = largest if largest <= WHOLE else max(setting.envs)
    between = np.linspace(0, end, min(end, POINTS) + 1) if end > WHOLE else np.arange(end + 1)
    grid = asked if setting.budget is not None else asked | set(between.round().tolist())
    capacities = tuple(sorted(grid))
    solved = [
        _curve(material, capacities, setting.budget, time_limit)
        for material in track(setting.materials, "curve")
    ]
    return Curve(
        capacities=capacities,
        values=np.mean([each.values for each in solved], axis=0),
        bounds=np.mean([each.bounds for each in solved], axis=0),
        full=float(np.mean([each.full for each in solved])),
    )


def full_context(material: Material) -> float:
    """Precision of a memory of everything."""
    return float(material.precision(np.ones(len(material.claims), dtype=bool)))


def _bounds(
    material: Material,
    loads: Iterable[float],
    budget: float | None,
    slots: int | None,
    time_limit: float,
    objective: Objective = "precision",
) -> tuple[dict[float, float], dict[float, bool]]:
    ascending = sorted(loads)
    solved = _solve(material, ascending, budget, slots, time_limit, objective)
    return (
        dict(zip(ascending, solved.upper_bounds.tolist(), strict=True)),
        dict(zip(ascending, solved.optimal.tolist(), strict=True)),
    )


def _curve(
    material: Material, capacities: Sequence[float], budget: float | None, time_limit: float
) -> Curve:
    if budget is None:
        parts = [_solve(material, capacities, None, None, time_limit)]
    else:
        share = time_limit / len(capacities)
        parts = [_solve(material, [budget], budget, int(slots), share) for slots in capacities]
    values = np.concatenate([part.values for part in parts])
    bounds = np.concatenate([part.upper_bounds for part in parts])
    return Curve(tuple(capacities), values, bounds, full_context(material))


def _solve(
    material: Material,
    loads: Sequence[float],
    budget: float | None,
    slots: int | None,
    time_limit: float,
    objective: Objective = "precision",
) -> Frontier:
    return frontier(
        material,
        objective,
        loads,
        costs=np.ones(len(material.claims)) if budget is None else None,
        max_claims=slots,
        time_limit=time_limit,
    )
