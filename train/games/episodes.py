"""Plays episodes of a game, of all agents at once, and measures what they end with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from memenvs.games.vector_game import Infos, VectorGame
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.policies.predictor import Predictor
from memenvs.train.places import Instance
from memenvs.train.units import units

EPISODES = 64  # at once
# Of the memory at the end, and of what was settled on the way.
MEASURES = ("precision", "coverage", "utility", "size", "settled", "answered")
COUNTED = {"illegal": "final_illegal_action", "conflicts": "conflicts"}  # summed over the agents

Values = dict[str, FloatArray]  # of each measure
Players = Callable[[Material], Mapping[str, Predictor]]  # who plays a material, by agent


def units_of(
    instances: Sequence[Instance], episodes: int, seed: int
) -> tuple[list[Material], list[int]]:
    """List what is played: each material some times, with the seeds that ``evaluate`` gives it."""
    played = units(instances, episodes, seed)
    return [unit.instance.value for unit in played], [unit.seed for unit in played]


def play(
    game: VectorGame, players_of: Players, materials: Sequence[Material], seeds: Sequence[int]
) -> Values:
    """Play one episode of each material: ``(M,)`` of each measure.

    The chance of a player is of the episode and its agent alone, whatever else is played.
    """
    found = {name: np.zeros(len(materials)) for name in (*MEASURES, *COUNTED)}
    for players, places in grouped(players_of, materials):
        for start in range(0, len(places), game.num_envs):
            chunk = places[start : start + game.num_envs]
            ended = _play(game, players, [materials[i] for i in chunk], [seeds[i] for i in chunk])
            for name, values in ended.items():
                found[name][chunk] = values
    return found


def grouped(
    players_of: Players, materials: Sequence[Material]
) -> list[tuple[Mapping[str, Predictor], list[int]]]:
    """Put together the materials that the same players play."""
    groups: dict[tuple[int, ...], tuple[Mapping[str, Predictor], list[int]]] = {}
    for place, material in enumerate(materials):
        players = players_of(material)
        key = tuple(id(player) for player in players.values())
        groups.setdefault(key, (players, []))[1].append(place)
    return list(groups.values())


def _play(
    game: VectorGame,
    players: Mapping[str, Predictor],
    materials: Sequence[Material],
    seeds: Sequence[int],
) -> Values:
    """Play one episode in every row of a game; materials are repeated where they are fewer."""
    count, size = len(materials), game.num_envs
    seeded = np.array([seeds[place % count] for place in range(size)])
    filled = [materials[place % count] for place in range(size)]
    seen, _ = game.reset(seed=seeded.tolist(), options={"material": filled})
    states = {
        name: player.start(seeded + number) for number, (name, player) in enumerate(players.items())
    }
    over, begun = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    ended = {name: np.zeros(size) for name in (*MEASURES, *COUNTED)}
    first = game.possible_agents[0]
    while not over.all():
        actions = {}
        for name, player in players.items():
            actions[name], states[name] = player.predict(seen[name], states[name], begun)
        seen, _, _, _, infos = game.step(actions)
        begun = infos[first].get("final", np.zeros(size, dtype=bool))
        now = begun & ~over
        if now.any():
            for name, values in _measured(infos, first).items():
                ended[name][now] = values[now]
        over |= now
    return {name: values[:count] for name, values in ended.items()}


def _measured(infos: Infos, first: str) -> Values:
    found = {name: infos[first][name] for name in MEASURES}
    for name, key in COUNTED.items():
        counts = [info[key] for info in infos.values() if key in info]
        found[name] = np.sum(counts, axis=0) if counts else np.zeros(len(found["size"]))
    return found
