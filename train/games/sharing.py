"""Writers of one memory, compared: a policy in every seat, or independent copies of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from memenvs.games.shared_writers import SharedWriters
from memenvs.games.vector import VectorGame
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.policies.predictor import Predictor
from memenvs.train.cast import Cast
from memenvs.train.games.arena import Arena, Record, ends, stacked, total
from memenvs.train.games.copies import play_copies
from memenvs.train.games.play import Values, play
from memenvs.train.optima import Best, Optima, load_of
from memenvs.train.statistics import difference, interval
from memenvs.train.track import Track, untracked

SPLITS = {":split": False, ":split-often": True}  # after a name: independent copies; how asked
SHOWN = ("precision", "coverage", "share", "size", "settled", "conflicts")


def sharing(arena: Arena, track: Track[Any] = untracked) -> list[Record]:
    """Play each policy in the seats of all writers; gives a record each.

    NAME:split is independent copies of NAME, each with its part of the slots, and NAME:split-often
    copies that are asked more often. Raises ``ValueError`` for unknown names, and for what does not
    fit.
    """
    experiment = arena.experiment
    names = list(dict.fromkeys([*experiment.policy, experiment.baseline]))
    optima, materials = Optima(experiment.time_limit), arena.setting.materials
    slots = [float(capacity) for capacity in arena.setting.envs]
    rows = []
    for capacity, game in arena.games():
        casts = {name: arena.cast(_plain(name), game) for name in names}  # or nothing is played
        played = {
            name: _played(arena, game, name, casts[name])
            for name in track(names, f"policies at S = {capacity}")
        }
        optimum = [
            _best(optima, material, game, slots)
            for material in track(materials, f"frontiers at S = {capacity}")
        ]
        for name in dict.fromkeys(experiment.policy):
            told = arena.told(_plain(name), casts[name])
            rows.append(_row(arena, capacity, name, played, optimum) | told)
    return rows


def _plain(name: str) -> str:
    """Give the name of the policy alone."""
    return next((name.removesuffix(each) for each in SPLITS if name.endswith(each)), name)


def _played(arena: Arena, game: VectorGame, name: str, cast: Cast) -> tuple[Values, bool]:
    """Give ``(K, n)`` of each measure, and whether each material has models of its own."""
    plain = _plain(name)
    if plain != name:
        often = SPLITS[name.removeprefix(plain)]
        assert isinstance(game, SharedWriters)  # no other game has copies
        values, nested = play_copies(arena, game, plain, often=often)
        return arena.averaged(values), nested
    reached = []
    for member in range(cast.size):

        def seat(material: Material, member: int = member) -> dict[str, Predictor]:
            return dict.fromkeys(game.possible_agents, cast.player(material.name, member))

        reached.append(play(game, seat, arena.materials, arena.seeds))
    return arena.averaged(stacked(reached)), cast.nested


def _row(
    arena: Arena,
    capacity: int,
    name: str,
    played: dict[str, tuple[Values, bool]],
    optimum: list[Best],
) -> Record:
    baseline = arena.experiment.baseline
    (own, nested), (other, other_nested) = played[name], played[baseline]
    reached, against = own["precision"], other["precision"]
    if name == baseline:  # it is itself, whichever seeds are drawn
        reached = against = reached.mean(axis=0, keepdims=True)
    seed = arena.experiment.seed
    values = own | {"share": _share(own["precision"], optimum)}
    row: Record = {
        "policy": name,
        "capacity": capacity,
        "seeds": len(own["precision"]),
        "materials": len(arena.setting.materials),
        "episodes": len(arena.materials),
    }
    for measure in SHOWN:
        defined = values[measure][:, ~np.isnan(values[measure]).any(axis=0)]
        row[measure] = float(defined.mean()) if defined.size else None
        row |= ends(measure, defined, seed, nested=nested)
    found = interval([reached, against], difference, seed, nested=nested or other_nested)
    low, high = found or (None, None)
    return row | {
        "frontier_proved": all(best.proved for best in optimum),
        "difference": float(difference(reached, against)),
        "difference_low": low,
        "difference_high": high,
        "baseline": baseline,
        "illegal": total(own["illegal"], arena),
    }


def _best(optima: Optima, material: Material, game: VectorGame, slots: list[float]) -> Best:
    """Give the best precision that the rules of a game allow in a material."""
    limit, bounded = load_of(game.rules)
    also = slots if bounded is None else [limit]
    return optima.best(material, "precision", [*also, limit], bounded)[limit]


def _share(precision: FloatArray, optimum: list[Best]) -> FloatArray:
    """Give precision over the best at S: ``(K, n)``, units of one material are its episodes."""
    return precision / [best.bound or math.nan for best in optimum]
