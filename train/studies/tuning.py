"""The study that tunes the constants of `trust` on validation materials.

Random search, then one constant at a time from the best, on the first materials of the validation
split; the best of them are then compared on more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from memenvs.envs.registry import registered_envs
from memenvs.envs.table import EnvRow
from memenvs.material.incidence import FloatArray
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies.rules.trust import Trust
from memenvs.policies.rules.trust_constants import DEFAULT, TABLE, TrustConstants
from memenvs.train.places import place_of_id
from memenvs.train.play import play
from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.studies.study import Findings, Record, Tell
from memenvs.train.units import units

GRID: Mapping[str, Sequence[float]] = {
    "power": (1, 2, 3, 4, 6, 8, 12),
    "penalty": (0, 0.5, 1, 2, 3, 4, 6),
    "own": (0, 1, 3, 10, 30),
    "neighbours": (0, 0.25, 0.5, 1),
    "apart": (0.4, 0.5, 0.6, 0.7, 0.8),
    "same": (0.85, 0.9, 0.95, 1.0, 1.1),
    "counts": (0.3, 1, 3, 10),
}
FINALISTS = 8
EPISODES = 64  # at once


class Search:
    """Constants of one environment's tier, and the mean utility that they reach."""

    def __init__(self, row: EnvRow, materials: int) -> None:
        place = place_of_id(row.id, split="validation", count=materials)
        self._units = units(place.instances)
        self._batch = place.batch(min(EPISODES, len(self._units)))
        self.found: dict[TrustConstants, float] = {}
        self.played: dict[TrustConstants, list[Record]] = {}  # a row for each material

    @property
    def best(self) -> TrustConstants:
        """Best constants so far."""
        return max(self.found, key=lambda constants: self.found[constants])

    def reach(self, constants: TrustConstants) -> FloatArray:
        """Play every material: utilities ``(M,)``."""
        ended = play(self._batch, Trust(self._batch, constants=constants), self._units)
        return np.array([each.values["utility"] for each in ended])

    def try_out(self, constants: TrustConstants) -> None:
        """Enter constants, if they are new."""
        if constants not in self.found:
            reached = self.reach(constants)
            self.found[constants] = float(reached.mean())
            self.played[constants] = [
                {"instance": unit.instance.name, "seed": unit.seed, "utility": float(value)}
                for unit, value in zip(self._units, reached, strict=True)
            ]


def tune(
    row: EnvRow, *, trials: int, rounds: int, materials: int, final: int, seed: int = 0
) -> Search:
    """Search the constants for the tier that an environment plays; gives the last comparison."""
    search = Search(row, materials)
    generator = np.random.default_rng(seed)
    for known in dict.fromkeys((DEFAULT, *TABLE.values())):
        search.try_out(known)
    for _ in range(trials):
        drawn = {name: float(generator.choice(values)) for name, values in GRID.items()}
        search.try_out(TrustConstants(**drawn))
    for _ in range(rounds):
        for name, values in GRID.items():
            for value in values:
                changed: dict[str, Any] = {name: float(value)}
                search.try_out(replace(search.best, **changed))
    ranked = sorted(search.found, key=lambda constants: -search.found[constants])
    judge = Search(row, final)
    for constants in ranked[:FINALISTS]:
        judge.try_out(constants)
    return judge


COLUMNS = (
    text_column("tier", "tier", "name"),
    *(Column(each.name, each.name, "{:g}".format) for each in fields(TrustConstants)),
    Column("utility", "utility", "{:.4f}".format),
)


def study(
    tell: Tell,
    *,
    tier: Sequence[str],
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
        tables=[Table(COLUMNS, best)],
        notes=[f"utility: mean over the first {final} materials of the validation split."],
        scores=scores,
    )
