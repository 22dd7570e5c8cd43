"""Tune the constants of `trust` on validation materials.

``python -m memenvs.train.studies.tuning`` does it.

Random search, then one constant at a time from the best, on the first materials of the validation
split; the best of them are then compared on more. It prints the rows of the table of constants.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from memenvs.envs.registry import EnvRow, registered_envs
from memenvs.material.incidence import FloatArray
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies.rules.trust import Trust
from memenvs.policies.rules.trust_constants import DEFAULT, TABLE, TrustConstants
from memenvs.train.places import place_of_id
from memenvs.train.play import play, units

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
            self.found[constants] = float(self.reach(constants).mean())


def tune(
    row: EnvRow, *, trials: int, rounds: int, materials: int, final: int, seed: int = 0
) -> tuple[TrustConstants, float]:
    """Give the best constants for the tier that an environment plays, and their mean utility."""
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
    return judge.best, judge.found[judge.best]


def main(arguments: Sequence[str]) -> None:
    """Tune the tiers that are named, each in the environment registered for it."""
    program = "python -m memenvs.train.studies.tuning"
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("tier", nargs="*", help="default: every tier with an environment")
    parser.add_argument("--trials", type=int, default=60, help="random constants")
    parser.add_argument("--rounds", type=int, default=2, help="over all constants, one at a time")
    parser.add_argument("--materials", type=int, default=128)
    parser.add_argument("--final", type=int, default=512)
    options = parser.parse_args(arguments)
    rows = {
        row.kwargs["material"]: row
        for row in registered_envs()
        if row.level == "2" and row.kwargs["material"] in TIERS
    }
    for tier in options.tier or rows:
        constants, reached = tune(
            rows[tier],
            trials=options.trials,
            rounds=options.rounds,
            materials=options.materials,
            final=options.final,
        )
        values = ", ".join(f"{name}={value:g}" for name, value in asdict(constants).items())
        print(f'        "{tier}": TrustConstants({values}),  # {reached:.4f}', flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
