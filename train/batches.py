"""Episodes of one environment played in native batches: many materials, one each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS, Split
from memenvs.train.play import episode_seed

EPISODES = 64  # at once
DRAWS = 0x7E57  # seeds of materials that a callable draws


def make_batch(
    settings: Mapping[str, Any], episodes: int, split: str | None = None
) -> MemorizationVectorEnv:
    """Build the vector environment of a row's settings, for up to 64 of ``episodes``.

    ``split`` is for the materials that have any: those of tiers.
    """
    return MemorizationVectorEnv(**of_split(settings, split), num_envs=min(EPISODES, episodes))


def of_split(settings: Mapping[str, Any], split: str | None) -> dict[str, Any]:
    """Add the split to the settings of an environment whose materials have any."""
    return {**settings, "split": split} if settings["material"] in TIERS else dict(settings)


def materials_of(env: MemorizationVectorEnv, count: int) -> list[Material]:
    """Give ``count`` materials: a split's first, drawn ones, or the fixed ones again and again.

    Raises ``ValueError`` where a split has fewer.
    """
    fixed = env.materials.fixed
    if isinstance(fixed, Split):
        if count > len(fixed):
            raise ValueError(f"the split '{fixed.name}' has {len(fixed)} materials, not {count}")
        return list(fixed[:count])
    if fixed:
        return [fixed[place % len(fixed)] for place in range(count)]
    return [env.materials.draw(np.uint64(DRAWS + place)) for place in range(count)]


def episode_seeds(count: int, seed: int = 0) -> list[int]:
    """Seeds of the episodes, whoever plays them."""
    return [episode_seed(seed, "", place) for place in range(count)]


def play_batches(
    env: MemorizationVectorEnv,
    make: Callable[[MemorizationVectorEnv], Any],
    materials: Sequence[Material],
    seeds: Sequence[int],
) -> dict[str, FloatArray]:
    """Play one episode of each material; gives what ``info`` held at their ends: ``(M,)`` each."""
    chunks = [
        _play(env, make(env), materials[start : start + env.num_envs], seeds[start:])
        for start in range(0, len(materials), env.num_envs)
    ]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}


def _play(
    env: MemorizationVectorEnv, policy: Any, materials: Sequence[Material], seeds: Sequence[int]
) -> dict[str, FloatArray]:
    count, size = len(materials), env.num_envs
    filled = [materials[place % count] for place in range(size)]  # the rest plays along, uncounted
    seeded = [seeds[place % count] for place in range(size)]
    observation, _ = env.reset(seed=seeded, options={"material": filled})
    names = ("utility", "coverage", "precision", "settled", "illegal_action")
    ended = {name: np.zeros(size) for name in names}
    over, state, begun = np.zeros(size, dtype=bool), None, np.ones(size, dtype=bool)
    while not over.all():
        actions, state = policy.predict(observation, state, begun)
        observation, _, terminated, truncated, infos = env.step(actions)
        begun = np.zeros(size, dtype=bool)
        now = (terminated | truncated) & ~over
        for name in names if now.any() else ():
            ended[name][now] = infos[name][now]
        over |= now
    return {name: values[:count] for name, values in ended.items()}
