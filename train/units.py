"""Units of what is played: which episodes there are, the same ones for every policy."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memenvs.train.places import Instance


@dataclass(frozen=True)
class Unit:
    """One episode, the same for every policy."""

    instance: Instance
    episode: int  # number within its instance: equal numbers are the same episode
    seed: int


def units(instances: Sequence[Instance], episodes: int = 1, seed: int = 0) -> list[Unit]:
    """List what is played: each instance so many times, one instance after another."""
    return [
        Unit(instance, episode, episode_seed(seed, instance.name, episode))
        for instance in instances
        for episode in range(episodes)
    ]


def units_of(instances: Sequence[Instance], count: int, seed: int = 0) -> list[Unit]:
    """List ``count`` units: each instance once, and again where there are fewer.

    Raises ``ValueError`` where there are none.
    """
    if not instances:
        raise ValueError("there is nothing to play: no material, scenario or page")
    return units_in([instances[place % len(instances)] for place in range(count)], seed)


def units_in(instances: Sequence[Instance], seed: int = 0) -> list[Unit]:
    """List a unit for each instance in order; where one stands again it is a further episode."""
    times: Counter[str] = Counter()
    found = []
    for instance in instances:
        episode = times[instance.name]
        found.append(Unit(instance, episode, episode_seed(seed, instance.name, episode)))
        times[instance.name] += 1
    return found


def episode_seed(seed: int, instance: str, episode: int) -> int:
    """Seed of an episode: it depends on the instance and the number of the episode alone."""
    entropy = (seed, zlib.crc32(instance.encode()), episode)
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
