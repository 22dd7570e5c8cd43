"""What is possible with so many claims, and what rules of thumb make of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from memenvs.envs.levels import LEVELS
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.train.inspect.structure import Structure
from memenvs.train.learn.windows import cut_window
from memenvs.train.optima import POINTS, WHOLE, Method, Optima
from memenvs.train.places import Instance, Place
from memenvs.train.playing import Playing
from memenvs.train.statistics import COINCIDE
from memenvs.train.units import units

EXACT = 2000  # claims that are asked about, up to which the optimum is searched for, not bounded
PLAYED = 500  # claims of the part of a long material that rules are played on
EPISODES = 8
RULES = ("random", "fifo", "reservoir", "longest", "confidence", "trust")


def quarter(material: Material) -> int:
    """Give the slots that an environment has by default."""
    return max(1, len(material.claims) // 4)


def frontier_of(
    material: Material, objective: Objective, structure: Structure, time_limit: float
) -> dict[str, Any]:
    """Solve the frontier up to where it saturates, and say where that is.

    Below ``saturates`` lies the compression zone: no memory of fewer claims is worth the whole. A
    limited reader has none: there the frontier goes on to all claims.
    """
    full = objective.full_context(material)
    end = len(material.claims) if objective.limited else max(structure.enough, 1)
    between = np.linspace(0, end, POINTS).round() if end > WHOLE else np.arange(end + 1)
    capacities = sorted({*map(int, between), min(quarter(material), end)})
    method: Method = "exact" if structure.asked.sum() <= EXACT else "greedy"
    optima = Optima(time_limit, method)
    points = optima.best(material, objective, capacities)
    reaching = [s for s in capacities if points[s].value >= full - COINCIDE]
    saturates = reaching[0] if reaching and not objective.limited else None
    if saturates:  # between two points of a coarse grid it is looked for
        before = max(s for s in capacities if s < saturates)
        inner = list(range(before + 1, saturates))
        optima.renew()
        points |= optima.best(material, objective, inner)
        saturates = next(s for s in (*inner, saturates) if points[s].value >= full - COINCIDE)
    capacities = sorted(map(int, points))
    return {
        "objective": objective.name,
        "capacities": capacities,
        "values": [points[s].value for s in capacities],
        "upper_bounds": [points[s].bound for s in capacities],
        "optimal": [points[s].proved for s in capacities],
        "full_context": full,
        "saturates": saturates,
    }


def heuristics_of(
    material: Material, objective: Objective, time_limit: float
) -> dict[str, Any] | None:
    """Play rules of thumb with slots for a quarter of the claims, as a stream at level 1b.

    Of a long material it is a part that is played, whose consecutive claims answer the most; None
    where no part answers anything.
    """
    start, part = _part(material)
    if part is None:
        return None
    paid = {"utility": objective.utility, "reader": objective.reader}
    place = Place("", {"material": [part], **LEVELS["1b"], **paid}, (Instance(part.name, part),))
    playing, played = Playing(place, episodes=EPISODES), units(place.instances, EPISODES)
    reached = {
        rule: float(np.mean([ended.values["utility"] for ended in playing.all(rule, played)]))
        for rule in RULES
        if _applies(rule, part)
    }
    slots = quarter(part)
    best = Optima(time_limit).best(part, objective, [slots])[slots]
    return {
        "objective": objective.name,
        "claims": len(part.claims),
        "start": start,
        "capacity": slots,
        "episodes": EPISODES,
        "optimum": best.bound,
        "proved": best.proved,
        "full_context": objective.full_context(part),
        "utility": reached,
    }


def _part(material: Material) -> tuple[int, Material | None]:
    """Give the place and the claims of the part to play: all, or the part with the most queries."""
    total = len(material.claims)
    if total <= PLAYED:
        return 0, material
    parts = {
        start: cut_window(material, start, start + PLAYED)
        for start in range(0, total - PLAYED + 1, max(PLAYED // 2, total // 20))
    }
    found = {start: part for start, part in parts.items() if part is not None}
    if not found:
        return 0, None
    start = max(found, key=lambda place: len(found[place].queries))
    return start, found[start]


def _applies(rule: str, material: Material) -> bool:
    """Tell rules that have something to go by."""
    if rule == "longest":
        return any(claim.text for claim in material.claims)
    if rule == "confidence":
        return any(claim.confidence is not None for claim in material.claims)
    return True
