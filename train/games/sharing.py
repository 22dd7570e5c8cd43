"""Writers of one memory, compared: one policy for all writers, or independent copies of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from memenvs.games.shared_writers import SharedWriters
from memenvs.games.vector_game import VectorGame
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.policies.predictor import Predictor
from memenvs.train.games.copies import play_copies
from memenvs.train.games.episodes import Values, play
from memenvs.train.games.game_setting import GameSetting, Record, ends, stacked, total
from memenvs.train.named_policy import NamedPolicy
from memenvs.train.optima import Best, Optima, load_of
from memenvs.train.statistics import difference, interval
from memenvs.train.terminal import Track, untracked

SPLITS = {":split": False, ":split-often": True}  # after a name: independent copies; how asked
SHOWN = ("utility", "precision", "coverage", "share", "size", "settled", "conflicts")


def sharing(setting: GameSetting, track: Track[Any] = untracked) -> list[Record]:
    """Play each policy as all writers; gives a record each.

    NAME:split is independent copies of NAME, each with its part of the slots, and NAME:split-often
    copies that are asked more often. Raises ``ValueError`` for unknown names, and for what does not
    fit.
    """
    experiment = setting.experiment
    names = list(dict.fromkeys([*experiment.policy, experiment.baseline]))
    optima, materials = Optima(experiment.time_limit), setting.base.materials
    slots = [float(capacity) for capacity in setting.base.envs]
    rows = []
    for capacity, game in setting.games():
        policies = {
            name: setting.named(_plain(name), game) for name in names
        }  # or nothing is played
        played = {
            name: _played(setting, game, name, policies[name])
            for name in track(names, f"policies at S = {capacity}")
        }
        optimum = [
            _best(optima, material, setting.objective, game, slots)
            for material in track(materials, f"frontiers at S = {capacity}")
        ]
        for name in dict.fromkeys(experiment.policy):
            told = setting.told(_plain(name), policies[name])
            rows.append(_row(setting, capacity, name, played, optimum) | told)
    return rows


def _plain(name: str) -> str:
    """Give the name of the policy alone."""
    return next((name.removesuffix(each) for each in SPLITS if name.endswith(each)), name)


def _played(
    setting: GameSetting, game: VectorGame, name: str, named: NamedPolicy
) -> tuple[Values, bool]:
    """Give ``(K, n)`` of each measure, and whether each material has models of its own."""
    plain = _plain(name)
    if plain != name:
        often = SPLITS[name.removeprefix(plain)]
        assert isinstance(game, SharedWriters)  # no other game has copies
        values, nested = play_copies(setting, game, plain, often=often)
        return setting.averaged(values), nested
    reached = []
    for member in range(named.size):

        def players_of(material: Material, member: int = member) -> dict[str, Predictor]:
            return dict.fromkeys(game.possible_agents, named.player(material.name, member))

        reached.append(play(game, players_of, setting.materials, setting.seeds))
    return setting.averaged(stacked(reached)), named.nested


def _row(
    setting: GameSetting,
    capacity: int,
    name: str,
    played: dict[str, tuple[Values, bool]],
    optimum: list[Best],
) -> Record:
    baseline = setting.experiment.baseline
    (own, nested), (other, other_nested) = played[name], played[baseline]
    reached, against = own["utility"], other["utility"]
    if name == baseline:  # it is itself, whichever seeds are drawn
        reached = against = reached.mean(axis=0, keepdims=True)
    seed = setting.experiment.seed
    values = own | {"share": _share(own["utility"], optimum)}
    row: Record = {
        "policy": name,
        "capacity": capacity,
        "seeds": len(own["utility"]),
        "materials": len(setting.base.materials),
        "episodes": len(setting.materials),
        "objective": setting.objective.name,
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
        "illegal": total(own["illegal"], setting),
    }


def _best(
    optima: Optima, material: Material, objective: Objective, game: VectorGame, slots: list[float]
) -> Best:
    """Give the best memory that the rules of a game allow in a material, by its objective."""
    limit, bounded = load_of(game.rules)
    also = slots if bounded is None else [limit]
    return optima.best(material, objective, [*also, limit], bounded)[limit]


def _share(utility: FloatArray, optimum: list[Best]) -> FloatArray:
    """Give utility over the best at S: ``(K, n)``, units of one material are its episodes."""
    return utility / [best.bound or math.nan for best in optimum]
