"""The best possible, to which memories are compared: the one caller of ``frontier`` that measures.

Each material is solved once for whoever asks: rows of a table, oracles, curves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.arrival import Arrival, arrival_bound
from memenvs.train.setting import Setting
from memenvs.train.terminal import Track, untracked

Method = Literal["exact", "greedy"]
Solved = TypeVar("Solved")

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
    """What a memory in a material is held against, all of it by the environment's objective."""

    own: Best  # of the memory's own load
    at_capacity: Best  # of the load that the rules allow
    full: float  # of a memory of everything
    saturated: float  # best of any memory: that of everything, unless more memory can hurt
    arrival: Arrival  # most that anyone is paid in an episode, of claims as they arrive


@dataclass(frozen=True)
class Curve:
    """Best value by the number of slots; the optimum lies between ``values`` and ``bounds``."""

    capacities: tuple[float, ...]  # C, ascending
    values: FloatArray  # (C,)
    bounds: FloatArray  # (C,)
    full: float  # of a memory of everything, which under a limited reader lies below
    objective: str = "precision"


class Optima:
    """Best memories of materials by their load: the number of claims, or under a budget their cost.

    The searches in one material take about ``time_limit`` seconds together; what is not proved by
    then has an upper bound.
    """

    def __init__(self, time_limit: float = TIME_LIMIT, method: Method = "exact") -> None:
        self._limit, self._method = time_limit, method
        self._known: dict[tuple[int, Objective, int | None], dict[float, Best]] = {}
        self._full: dict[tuple[int, Objective], float] = {}
        self._arrivals: dict[tuple[int, Objective, Rules], Arrival] = {}
        self._spent: dict[int, float] = {}  # seconds, by the id of a material
        self._held: dict[int, Material] = {}  # so that no other material gets its id

    def best(
        self,
        material: Material,
        objective: Objective | str,
        loads: Iterable[float],
        slots: int | None = None,
    ) -> dict[float, Best]:
        """Give the best memory of each load, by an objective or the utility that it is named for.

        Without ``slots`` a load is a number of claims; with them it is a summed cost, and no memory
        has more than ``slots`` claims.
        """
        if isinstance(objective, str):
            objective = Objective(objective)  # type: ignore[arg-type]
        known = self._known.setdefault((id(material), objective, slots), {})
        asked = sorted(set(loads))
        missing = [load for load in asked if load not in known]
        if missing:
            self._held[id(material)] = material
            known |= self._timed(
                material, partial(self._solve, material, objective, missing, slots)
            )
        return {load: known[load] for load in asked}

    def reference(
        self,
        material: Material,
        rules: Rules,
        load: float,
        also: Iterable[float] = (),
        query: int | None = None,
    ) -> Reference:
        """Give what a memory of a load is held against; ``also`` are loads that will be asked.

        ``query`` is the only one that was asked, at level 0.
        """
        limit, slots = load_of(rules)
        objective = Objective.of(rules).asking(query)
        found = self.best(material, objective, {load, limit, *also}, slots)
        full = self.full(material, objective)
        saturated = full
        if not objective.saturates(material):
            everything = float(len(material.claims))
            saturated = self.best(material, objective, [everything])[everything].bound
        return Reference(
            found[load], found[limit], full, saturated, self.arrival(material, rules, query)
        )

    def average(
        self, material: Material, rules: Rules, loads: Sequence[float], slots: int | None = None
    ) -> list[Best]:
        """Give the best of each load before it is known what will be asked.

        At level 0 that is the mean over p_D of the best memories for single queries.
        """
        objective = Objective.of(rules)
        if rules.disclosure != "one":
            found = self.best(material, objective, loads, slots)
            return [found[load] for load in loads]
        mass = objective.weights(material)
        asked = np.flatnonzero(mass > 0).tolist()
        each = [self.best(material, objective.asking(query), loads, slots) for query in asked]

        def mean(name: str, load: float) -> float:
            return float(mass[asked] @ [getattr(best[load], name) for best in each])

        return [
            Best(
                mean("value", load),
                mean("bound", load),
                all(best[load].proved for best in each),
                (),
            )
            for load in loads
        ]

    def plan(self, material: Material, rules: Rules, objective: Objective) -> tuple[str, ...]:
        """Give the claims of a memory that is best by an objective, of what the rules allow."""
        limit, slots = load_of(rules)
        return self.best(material, objective, [limit], slots)[limit].memory

    def full(self, material: Material, objective: Objective) -> float:
        """Value of a memory of everything."""
        key = id(material), objective
        if key not in self._full:
            self._held[id(material)] = material
            self._full[key] = objective.full_context(material)
        return self._full[key]

    def arrival(self, material: Material, rules: Rules, query: int | None = None) -> Arrival:
        """Most that an episode pays anyone, of claims as they arrive."""
        objective = Objective.of(rules).asking(query)
        key = id(material), objective, rules
        if key not in self._arrivals:
            self._held[id(material)] = material
            bound = partial(arrival_bound, material, objective, rules)
            self._arrivals[key] = self._timed(material, bound)
        return self._arrivals[key]

    def _timed(self, material: Material, solve: Callable[[float], Solved]) -> Solved:
        """Solve within the seconds that a material has left."""
        begun, spent = time.monotonic(), self._spent.get(id(material), 0.0)
        found = solve(max(self._limit - spent, LEAST * self._limit))
        self._spent[id(material)] = spent + time.monotonic() - begun
        return found

    def renew(self) -> None:
        """Give every material its time again, for another question."""
        self._spent.clear()

    def _solve(
        self,
        material: Material,
        objective: Objective,
        loads: Sequence[float],
        slots: int | None,
        seconds: float,
    ) -> dict[float, Best]:
        found = objective.frontier(
            material,
            loads,
            self._method,
            costs=np.ones(len(material.claims)) if slots is None else None,
            max_claims=slots,
            time_limit=seconds,
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


def objective_name(rules: Rules) -> str:
    """Name what memories are compared by, for tables."""
    name = Objective.of(rules).name
    return f"{name} of the asked query" if rules.disclosure == "one" else name


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
    rules: Rules = next(iter(setting.envs.values())).unwrapped.rules  # type: ignore[attr-defined]
    solved = [
        _curve(material, capacities, rules, optima)
        for material in track(setting.materials, "curve")
    ]
    return Curve(
        capacities=capacities,
        values=np.mean([[best.value for best in each] for each in solved], axis=0),
        bounds=np.mean([[best.bound for best in each] for each in solved], axis=0),
        full=float(np.mean([optima.full(m, Objective.of(rules)) for m in setting.materials])),
        objective=objective_name(rules),
    )


def _curve(
    material: Material, capacities: Sequence[float], rules: Rules, optima: Optima
) -> list[Best]:
    if rules.budget is None:
        return optima.average(material, rules, capacities)
    return [optima.average(material, rules, [rules.budget], int(n))[0] for n in capacities]
