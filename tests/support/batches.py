"""Native batches beside scalar environments: materials, and comparisons step by step."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium.vector import SyncVectorEnv

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.wrappers import FinalInfo


def random_material(rng, *, claims=None, certain=True, conflicts=0.0, dimension=4):
    """A material with sources, groups, composite items of several supports, and costs."""
    size = int(claims or rng.integers(2, 11))
    asked = int(rng.integers(1, 9))

    def vector():
        return tuple(rng.normal(size=dimension).tolist())

    def named(prefix, count):
        return f"{prefix}{rng.integers(count)}" if rng.random() < 0.8 else ""

    def some(most):
        chosen = rng.choice(size, min(size, int(rng.integers(1, most + 1))), replace=False)
        return tuple(f"c{c}" for c in chosen)

    records = tuple(
        Claim(
            id=f"c{i}",
            truth=bool(rng.random() < 0.6) if certain or rng.random() < 0.5 else rng.random(),
            source=named("s", 3),
            group=named("g", 3),
            confidence=float(rng.random()) if rng.random() < 0.8 else None,
            cost=float(np.round(rng.uniform(0.3, 3), 1)),
            time=float(i),
            cues={"importance": float(rng.random())},
            embedding=vector(),
        )
        for i in range(size)
    )
    items = []
    for i in range(int(rng.integers(0, 12))):
        supports = {frozenset(s): s for s in (some(3) for _ in range(rng.integers(1, 4)))}
        items.append(
            Item(
                id=f"n{i}",
                supports=tuple(supports.values()),
                answers=tuple(
                    f"q{q}" for q in rng.choice(asked, rng.integers(1, asked + 1), replace=False)
                ),
                conflicts=some(2) if rng.random() < conflicts else (),
                embedding=vector(),
            )
        )
    queries = tuple(
        Query(id=f"q{i}", weight=float(rng.random()) + 0.01, embedding=vector())
        for i in range(asked)
    )
    return Material("random", records, tuple(items), queries)


def pair(material, number, mode, limit=None, **kwargs):
    """The same episodes twice: scalar environments in a SyncVectorEnv, and the native batch."""

    def scalar():
        env = MemorizationEnv(material, **kwargs)
        return env if limit is None else FinalInfo(gym.wrappers.TimeLimit(env, limit))

    native = MemorizationVectorEnv(
        material, num_envs=number, autoreset_mode=mode, max_episode_steps=limit, **kwargs
    )
    return SyncVectorEnv([scalar] * number, autoreset_mode=mode), native
