"""What a memory is worth for questions that were settled meanwhile, and for those never asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.policies import make
from memenvs.train.places import Instance
from memenvs.train.play import play_one
from memenvs.train.statistics import Interval, mean_interval
from memenvs.train.units import Unit

COLUMNS = ("asked", "never", "static")


@dataclass(frozen=True)
class Reached:
    """Coverage that a policy reaches on each material ``(n,)``.

    ``asked`` is of the half of the questions that was settled in the stream, ``never`` of the other
    half, both the means over the two directions; ``static`` is of all, where none was settled.
    """

    policy: str
    asked: NDArray[np.float64]
    never: NDArray[np.float64]
    static: NDArray[np.float64]

    def as_row(self, baseline: Reached, size: str) -> dict[str, Any]:
        """Give means and intervals over materials, and the paired difference of ``never``."""
        row: dict[str, Any] = {"policy": self.policy, "size": size}
        for name in COLUMNS:
            values = getattr(self, name)
            row[name] = float(values.mean())
            row[f"{name}_interval"] = _listed(mean_interval(values))
        gain = self.never - baseline.never
        row["never_vs_baseline"] = float(gain.mean())
        row["never_vs_baseline_interval"] = _listed(mean_interval(gain))
        return row


def halves(material: Material, seed: int) -> tuple[Material, Material]:
    """Split the questions of a material into halves, drawn from ``seed``; the claims stay.

    Raises ``MaterialError`` where there are fewer than two.
    """
    names = [query.id for query in material.queries]
    if len(names) < 2:
        raise MaterialError(
            "has one question; two are needed to ask one and grade by the other",
            file=material.name,
        )
    order = np.random.default_rng(seed).permutation(len(names))
    first = {names[place] for place in order[: len(names) // 2]}
    return _asking(material, first), _asking(material, set(names) - first)


def _asking(material: Material, names: set[str]) -> Material:
    answering = [(item, [q for q in item.answers if q in names]) for item in material.items]
    return replace(
        material,
        items=tuple(replace(item, answers=tuple(kept)) for item, kept in answering if kept),
        queries=tuple(query for query in material.queries if query.id in names),
    )


def reached(
    materials: Sequence[Material], policy: Any, capacities: Sequence[int], seed: int = 0
) -> Reached:
    """Play each material as at level 1b, with half of its questions, then with the other half."""
    found = []
    for material, capacity in zip(materials, capacities, strict=True):
        pair = halves(material, seed)
        scores = []
        for asked, other in (pair, pair[::-1]):
            memory = _kept(asked, policy, capacity, "1b", seed)
            scores.append([float(half.coverage(memory)) for half in (asked, other)])
        alone = material.coverage(_kept(material, policy, capacity, "static", seed))
        found.append([*np.mean(scores, axis=0), alone])
    return Reached(str(policy), *np.array(found).T)


def _kept(
    material: Material, policy: Any, capacity: int, level: str, seed: int
) -> NDArray[np.bool_]:
    """Give the memory at the end of an episode, ``(E,)``."""
    env = MemorizationEnv(material, capacity=capacity, utility="coverage", **LEVELS[level])
    unit = Unit(Instance(material.name, material), 0, seed)
    return np.asarray(play_one(env, make(policy, env, seed=seed), unit).memory)


def _listed(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
