"""The best possible, to which memories are compared: the one caller of ``frontier`` that measures.

Each material is solved once for whoever asks: rows of a table, oracles, curves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.objective import Objective as FullObjective
from memenvs.optimal.curve import frontier
from memenvs.train.places import Setting
from memenvs.train.track import Track, untracked

Objective = Literal["coverage", "precision"]
Method = Literal["exact", "greedy"]

TIME_LIMIT = 60.0  # seconds for what is asked of a material, unless it is said
LEAST = 0.1  # share of that which every search has, whatever the searches before it took
WHOLE = 60  # claims up to which the whole curve is drawn
POINTS = 25  # capacities of a longer curve


@dataclass(frozen=True)
class Best:
    """Best known memory of a load, and the interval in which the optimum lies."""

    value: float
    bound: float  # no memory of the load exceeds it; the value where that is proved
    proved: bool
    memory: tuple[str, ...]  # ids of claims


@dataclass(frozen=True)
class Reference:
    """What a memory in a material is held against, in expected precision where nothing is said."""

    own: Best  # of the memory's own load
    at_capacity: Best  # of the load that the rules allow
    paid: float  # best value, at that load, of the utility that the environment pays
    full: float  # of a memory of everything


@dataclass(frozen=True)
class Curve:
    """Best precision by the number of slots; the optimum lies between ``values`` and ``bounds``."""

    capacities: tuple[float, ...]  # C, ascending
    values: FloatArray  # (C,)
    bounds: FloatArray  # (C,)
    full: float  # precision of a memory of everything


class Optima:
    """Best memories of materials by their load: the number of claims, or under a budget their cost.

    The searches in one material take about ``time_limit`` seconds together; what is not proved by
    then has an upper bound.
    """

    def __init__(self, time_limit: float = TIME_LIMIT, method: Method = "exact") -> None:
        self._limit, self._method = time_limit, method
        self._known: dict[tuple[int, Objective, int | None], dict[float, Best]] = {}
        self._full: dict[int, float] = {}
        self._spent: dict[int, float] = {}  # seconds, by the id of a material
        self._held: dict[int, Material] = {}  # so that no other material gets its id

    def best(
        self,
        material: Material,
        objective: Objective,
        loads: Iterable[float],
        slots: int | None = None,
    ) -> dict[float, Best]:
        """Give the best memory of each load.

        Without ``slots`` a load is a number of claims; with them it is a summed cost, and no memory
        has more than ``slots`` claims.
        """
        known = self._known.setdefault((id(material), objective, slots), {})
        asked = sorted(set(loads))
        missing = [load for load in asked if load not in known]
        if missing:
            self._held[id(material)] = material
            begun, spent = time.monotonic(), self._spent.get(id(material), 0.0)
            known |= self._solve(material, objective, missing, slots, spent)
            self._spent[id(material)] = spent + time.monotonic() - begun
        return {load: known[load] for load in asked}

    def reference(
        self, material: Material, rules: Rules, load: float, also: Iterable[float] = ()
    ) -> Reference:
        """Give what a memory of a load is held against; ``also`` are loads that will be asked."""
        limit, slots = load_of(rules)
        found = self.best(material, "precision", {load, limit, *also}, slots)
        paid = found[limit].bound
        if rules.utility == "coverage":  # precision bounds what a reasoner gets right
            paid = self.best(material, "coverage", {limit, *also}, slots)[limit].bound
        return Reference(found[load], found[limit], paid, self.full(material))

    def plan(
        self, material: Material, rules: Rules, objective: FullObjective
    ) -> tuple[str, ...] | None:
        """Give the claims of a memory that is best by an objective, None where it is not solved.

        Solved are coverage and precision, where any query may be asked and everything is read.
        """
        if objective.limited or objective.query is not None or objective.utility == "end-to-end":
            return None
        limit, slots = load_of(rules)
        return self.best(material, objective.utility, [limit], slots)[limit].memory

    def full(self, material: Material) -> float:
        """Precision of a memory of everything."""
        if id(material) not in self._full:
            self._held[id(material)] = material
            self._full[id(material)] = full_context(material)
        return self._full[id(material)]

    def renew(self) -> None:
        """Give every material its time again, for another question."""
        self._spent.clear()

    def _solve(
        self,
        material: Material,
        objective: Objective,
        loads: Sequence[float],
        slots: int | None,
        spent: float,
    ) -> dict[float, Best]:
        found = frontier(
            material,
            objective,
            loads,
            self._method,
            costs=np.ones(len(material.claims)) if slots is None else None,
            max_claims=slots,
            time_limit=max(self._limit - spent, LEAST * self._limit),
        )
        each = zip(
            loads,
            found.values.tolist(),
            found.upper_bounds.tolist(),
            found.optimal.tolist(),
            found.memories,
            strict=True,
        )
        return {load: Best(*best) for load, *best in each}


def load_of(rules: Rules) -> tuple[float, int | None]:
    """Give the load that rules allow, and the slots where that is a cost."""
    if rules.budget is None:
        return float(rules.capacity), None
    return float(rules.budget), rules.capacity


def objective_of(rules: Rules) -> Objective:
    """Name what is optimised: precision is what a reasoner can get right, too."""
    return "coverage" if rules.utility == "coverage" else "precision"


def mean_curve(setting: Setting, optima: Optima, *, track: Track[Any] = untracked) -> Curve:
    """Frontier by the number of slots, averaged over the materials.

    The whole curve where the materials have at most 60 claims; else up to the largest capacity
    asked for, at those asked for and some between them. Under a budget, those asked for alone.
    """
    optima.renew()
    asked = {float(capacity) for capacity in setting.envs}
    largest = max(len(material.claims) for material in setting.materials)
    end = largest if largest <= WHOLE else max(setting.envs)
    between = np.linspace(0, end, min(end, POINTS) + 1) if end > WHOLE else np.arange(end + 1)
    grid = asked if setting.budget is not None else asked | set(between.round().tolist())
    capacities = tuple(sorted(grid))
    solved = [
        _curve(material, capacities, setting.budget, optima)
        for material in track(setting.materials, "curve")
    ]
    return Curve(
        capacities=capacities,
        values=np.mean([[best.value for best in each] for each in solved], axis=0),
        bounds=np.mean([[best.bound for best in each] for each in solved], axis=0),
        full=float(np.mean([optima.full(material) for material in setting.materials])),
    )


def full_context(material: Material) -> float:
    """Precision of a memory of everything."""
    return float(material.precision(np.ones(len(material.claims), dtype=bool)))


def _curve(
    material: Material, capacities: Sequence[float], budget: float | None, optima: Optima
) -> list[Best]:
    if budget is None:
        return list(optima.best(material, "precision", capacities).values())
    return [
        optima.best(material, "precision", [budget], int(slots))[budget] for slots in capacities
    ]
