"""The study that tunes the constants of a write policy on validation materials.

Random search, then one constant at a time from the best, on the first materials of the validation
split; the best of them are then compared on more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from memenvs.envs.registry import registered_envs
from memenvs.envs.table import EnvRow
from memenvs.material.incidence import FloatArray
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies.rules.trust import Trust
from memenvs.policies.rules.trust_constants import DEFAULT as TRUST_DEFAULT
from memenvs.policies.rules.trust_constants import TABLE as TRUST_TABLE
from memenvs.policies.weighted_tree.tree_policy import WeightedTreePolicy
from memenvs.policies.weighted_tree.tuned import TABLE as WRITING_TABLE
from memenvs.policies.weighted_tree.tuned import WRITING
from memenvs.train.places import place_of_id
from memenvs.train.play import play
from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.studies.study import Findings, Record, Tell
from memenvs.train.units import units


class Tunable(NamedTuple):
    """A write policy whose constants are tuned."""

    policy: Callable[..., Any]  # takes a batch and ``constants``
    known: Sequence[Any]  # constants that are tried out first; the first is changed at random
    grid: Mapping[str, Sequence[float]]


TRUST: Mapping[str, Sequence[float]] = {
    "power": (1, 2, 3, 4, 6, 8, 12),
    "penalty": (0, 0.5, 1, 2, 3, 4, 6),
    "own": (0, 1, 3, 10, 30),
    "neighbours": (0, 0.25, 0.5, 1),
    "apart": (0.4, 0.5, 0.6, 0.7, 0.8),
    "same": (0.85, 0.9, 0.95, 1.0, 1.1),
    "counts": (0.3, 1, 3, 10),
}
TREE: Mapping[str, Sequence[float]] = {
    "weight": (0.25, 0.5, 0.75, 0.9, 1),
    "decay": (0.9, 0.95, 0.98, 1),
    "action": (0.2, 0.3, 0.5, 0.75),
    "success": (0.75, 0.9, 1),
    "failure": (0, 0.05, 0.1, 0.3),
    "task": (0.1, 0.3, 0.5),
    "alpha": (0, 0.3, 0.6),
    "beta": (0.3, 0.6, 1),
    "gamma": (0, 0.2, 0.5),
    "priority": (0, 0.5, 1, 2, 3),
    "threshold": (-1, 0, 0.1, 0.2),
}
TUNABLE: Mapping[str, Tunable] = {
    "trust": Tunable(Trust, (TRUST_DEFAULT, *TRUST_TABLE.values()), TRUST),
    "weighted-tree": Tunable(WeightedTreePolicy, (WRITING, *WRITING_TABLE.values()), TREE),
}
FINALISTS = 8
EPISODES = 64  # at once


class Search:
    """Constants of one environment's tier, and the mean utility that they reach."""

    def __init__(self, tuned: Tunable, row: EnvRow, materials: int) -> None:
        self._tuned = tuned
        place = place_of_id(row.id, split="validation", count=materials)
        self._units = units(place.instances)
        self._batch = place.batch(min(EPISODES, len(self._units)))
        self.found: dict[Any, float] = {}  # by constants
        self.played: dict[Any, list[Record]] = {}  # a row for each material

    @property
    def best(self) -> Any:
        """Best constants so far."""
        return max(self.found, key=lambda constants: self.found[constants])

    def reach(self, constants: Any) -> FloatArray:
        """Play every material: utilities ``(M,)``."""
        ended = play(self._batch, self._tuned.policy(self._batch, constants=constants), self._units)
        return np.array([each.values["utility"] for each in ended])

    def try_out(self, constants: Any) -> None:
        """Enter constants, if they are new."""
        if constants not in self.found:
            reached = self.reach(constants)
            self.found[constants] = float(reached.mean())
            self.played[constants] = [
                {"instance": unit.instance.name, "seed": unit.seed, "utility": float(value)}
                for unit, value in zip(self._units, reached, strict=True)
            ]


def tune(
    tuned: Tunable,
    row: EnvRow,
    *,
    trials: int,
    rounds: int,
    materials: int,
    final: int,
    seed: int = 0,
) -> Search:
    """Search the constants for the tier that an environment plays; gives the last comparison."""
    search = Search(tuned, row, materials)
    generator = np.random.default_rng(seed)
    for known in dict.fromkeys(tuned.known):
        search.try_out(known)
    for _ in range(trials):
        drawn = {name: float(generator.choice(values)) for name, values in tuned.grid.items()}
        search.try_out(replace(tuned.known[0], **drawn))
    for _ in range(rounds):
        for name, values in tuned.grid.items():
            for value in values:
                changed: dict[str, Any] = {name: float(value)}
                search.try_out(replace(search.best, **changed))
    ranked = sorted(search.found, key=lambda constants: -search.found[constants])
    judge = Search(tuned, row, final)
    for constants in ranked[:FINALISTS]:
        judge.try_out(constants)
    return judge


def columns(tuned: Tunable) -> tuple[Column, ...]:
    """Give the columns of the table: tier, constants, utility."""
    return (
        text_column("tier", "tier", "name"),
        *(Column(name, name, "{:g}".format) for name in tuned.grid),
        Column("utility", "utility", "{:.4f}".format),
    )


def study(
    tell: Tell,
    *,
    tier: Sequence[str],
    policy: str,
    trials: int,
    rounds: int,
    materials: int,
    final: int,
    seed: int,
) -> Findings:
    """Tune the tiers that are named, or all, each in the environment registered for it."""
    known = {
        row.kwargs["material"]: row
        for row in registered_envs()
        if row.level == "2" and row.kwargs["material"] in TIERS
    }
    for name in tier:
        if name not in known:
            raise ValueError(f"no tier is named '{name}'; choose from {', '.join(known)}")
    best, scores = [], []
    for name in tier or known:
        tell(name)
        judge = tune(
            TUNABLE[policy],
            known[name],
            trials=trials,
            rounds=rounds,
            materials=materials,
            final=final,
            seed=seed,
        )
        best.append({"tier": name, **asdict(judge.best), "utility": judge.found[judge.best]})
        scores += [
            {"tier": name, **asdict(constants), **unit}
            for constants, units in judge.played.items()
            for unit in units
        ]
    return Findings(
        document={"rows": best},
        tables=[Table(columns(TUNABLE[policy]), best)],
        notes=[f"utility: mean over the first {final} materials of the validation split."],
        scores=scores,
    )
