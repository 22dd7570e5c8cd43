"""Independent copies of a policy: each reads its own stream, into its own part of the slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.games.shared_writers import SharedWriters
from memenvs.games.streams import owners
from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.material.material import Material
from memenvs.train.games.episodes import COUNTED, EPISODES, MEASURES, Values, grouped
from memenvs.train.games.game_setting import GameSetting, stacked
from memenvs.train.named_policy import NamedPolicy
from memenvs.train.places import Instance
from memenvs.train.play import play
from memenvs.train.units import Unit

COPY = "copy"


def play_copies(
    setting: GameSetting, game: SharedWriters, name: str, *, often: bool
) -> tuple[Values, bool]:
    """Play a policy as independent copies; gives ``(K, M)`` of each measure, and if it is nested.

    Slots, and a budget, are shared out as evenly as can be. A copy settles queries of the whole p_D
    with its own claims, after ``every`` decisions of its own: all copies together as many as shared
    writers do, or ``often``, each copy no fewer than these hear of. What the memories together are
    worth is measured; what was settled together is undefined.
    """
    writers, capacity = len(game.possible_agents), game.rules.capacity
    if capacity < writers:
        raise ValueError(f"{writers} copies cannot share {capacity} slots; give more --capacity")
    kept: list[list[set[str]]] = []  # by seed and episode
    illegal, nested = np.zeros(len(setting.materials)), False
    for copy in range(writers):
        of = {
            material.name: part_of(material, chosen)
            for material in setting.base.materials
            if (chosen := owners(material, writers, game.streams) == copy).any()
        }
        slots = capacity // writers + (copy < capacity % writers)
        read = [place for place, m in enumerate(setting.materials) if m.name in of]
        if not read:
            continue
        arguments = _arguments(setting, capacity, writers, often=often)
        arguments |= {"capacity": slots, "material": list(of.values())}
        batch = MemorizationVectorEnv(**arguments, num_envs=min(EPISODES, len(read)))
        named = setting.named(name, batch)
        nested |= named.nested
        kept = kept or [[set() for _ in setting.materials] for _ in range(named.size)]
        streams = [of[setting.materials[place].name] for place in read]
        seeds = [setting.seeds[place] + copy for place in read]
        for member, memories in enumerate(kept):
            found, broken = _copy(batch, named, member, streams, seeds)
            for place, memory in zip(read, found, strict=True):
                memories[place] |= memory
            illegal[read] += broken
    return stacked([_values(setting, memories, illegal / len(kept)) for memories in kept]), nested


def part_of(material: Material, chosen: BoolArray) -> Material:
    """Give what a stream of some claims ``(E,)`` tells of a material, all queries among it."""
    claims = tuple(claim for claim, taken in zip(material.claims, chosen, strict=True) if taken)
    names = {claim.id for claim in claims}
    items = []
    for item in material.items:
        supports = tuple(support for support in item.supports if names.issuperset(support))
        conflicts = tuple(name for name in item.conflicts if name in names)
        if supports:
            items.append(replace(item, supports=supports, conflicts=conflicts))
    return replace(material, claims=claims, items=tuple(items))


def _arguments(setting: GameSetting, capacity: int, writers: int, *, often: bool) -> dict[str, Any]:
    """Give the rules of a copy, but for its slots."""
    arguments = setting.arguments(capacity)
    if often and arguments.get("every") is not None:
        arguments["every"] = max(1, arguments["every"] // writers)
    if arguments.get("budget") is not None:
        arguments["budget"] /= writers
    return arguments


def _copy(
    batch: MemorizationVectorEnv,
    named: NamedPolicy,
    member: int,
    streams: Sequence[Material],
    seeds: Sequence[int],
) -> tuple[list[set[str]], FloatArray]:
    """Play each stream once by a member; gives what it kept, and how often it broke the mask."""
    kept: list[set[str]] = [set() for _ in streams]
    broken = np.zeros(len(streams))
    for players, places in grouped(lambda m: {COPY: named.player(m.name, member)}, streams):
        own = [Unit(Instance(streams[i].name, streams[i]), 0, seeds[i]) for i in places]
        for i, ended in zip(places, play(batch, players[COPY], own), strict=True):
            assert ended.memory is not None
            broken[i] = ended.values["illegal"]
            kept[i] = {streams[i].claims[place].id for place in np.flatnonzero(ended.memory)}
    return kept, broken


def _values(setting: GameSetting, memories: Sequence[set[str]], illegal: FloatArray) -> Values:
    """Measure the memories of the copies together."""
    found = {name: np.full(len(memories), np.nan) for name in (*MEASURES, *COUNTED)}
    for place, (material, memory) in enumerate(zip(setting.materials, memories, strict=True)):
        reached = material.evaluate(memory)
        for name in ("precision", "coverage", "size"):
            found[name][place] = float(getattr(reached, name))
        found["utility"][place] = setting.objective.expected(material, memory)
    return found | {"illegal": illegal, "conflicts": np.zeros(len(memories))}
