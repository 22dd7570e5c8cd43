"""What is possible with so many claims, and what rules of thumb make of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.material.material import Material
from memenvs.optimal.curve import frontier
from memenvs.policies import make
from memenvs.train.batches import episode_seeds, play_batches
from memenvs.train.inspect.structure import Structure
from memenvs.train.learn.windows import cut_window
from memenvs.train.optima import POINTS, WHOLE, full_context
from memenvs.train.statistics import COINCIDE

EXACT = 2000  # claims that are asked about, up to which the optimum is searched for, not bounded
PLAYED = 500  # claims of the part of a long material that rules are played on
EPISODES = 8
RULES = ("random", "fifo", "reservoir", "longest", "confidence", "trust")


def quarter(material: Material) -> int:
    """Give the slots that an environment has by default."""
    return max(1, len(material.claims) // 4)


def frontier_of(material: Material, structure: Structure, time_limit: float) -> dict[str, Any]:
    """Solve the frontier of precision up to where it saturates, and say where that is.

    Below ``saturates`` lies the compression zone: no memory of fewer claims is worth the whole.
    """
    full, end = full_context(material), max(structure.enough, 1)
    between = np.linspace(0, end, POINTS).round() if end > WHOLE else np.arange(end + 1)
    capacities = sorted({*map(int, between), min(quarter(material), end)})
    method: Any = "exact" if structure.asked.sum() <= EXACT else "greedy"

    def solved(asked: Sequence[int]) -> list[tuple[float, float, bool]]:
        curve = frontier(
            material,
            "precision",
            asked,
            method,
            costs=np.ones(len(material.claims)),
            time_limit=time_limit,
        )
        found = zip(curve.values, curve.upper_bounds, curve.optimal, strict=True)
        return [(float(value), float(bound), bool(proved)) for value, bound, proved in found]

    points = dict(zip(capacities, solved(capacities), strict=True))
    reaching = [s for s in capacities if points[s][0] >= full - COINCIDE]
    saturates = reaching[0] if reaching else None
    if saturates:  # between two points of a coarse grid it is looked for
        before = max(s for s in capacities if s < saturates)
        inner = list(range(before + 1, saturates))
        points |= dict(zip(inner, solved(inner), strict=True))
        saturates = next(s for s in (*inner, saturates) if points[s][0] >= full - COINCIDE)
    capacities = sorted(points)
    return {
        "objective": "precision",
        "capacities": capacities,
        "values": [points[s][0] for s in capacities],
        "upper_bounds": [points[s][1] for s in capacities],
        "optimal": [points[s][2] for s in capacities],
        "full_context": full,
        "saturates": saturates,
    }


def heuristics_of(material: Material, time_limit: float) -> dict[str, Any] | None:
    """Play rules of thumb with slots for a quarter of the claims, as a stream at level 1b.

    Of a long material it is a part that is played, whose consecutive claims answer the most; None
    where no part answers anything.
    """
    start, part = _part(material)
    if part is None:
        return None
    env = MemorizationVectorEnv([part], **LEVELS["1b"], num_envs=EPISODES)
    rules = [rule for rule in RULES if _applies(rule, part)]
    seeds = episode_seeds(EPISODES)
    reached = {
        rule: play_batches(env, partial(make, rule), [part] * EPISODES, seeds) for rule in rules
    }
    slots = quarter(part)
    costs = np.ones(len(part.claims))
    best = frontier(part, "precision", [slots], costs=costs, time_limit=time_limit)
    return {
        "claims": len(part.claims),
        "start": start,
        "capacity": slots,
        "episodes": EPISODES,
        "optimum": float(best.upper_bounds[0]),
        "proved": bool(best.optimal[0]),
        "full_context": full_context(part),
        "precision": {rule: float(ended["precision"].mean()) for rule, ended in reached.items()},
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
