"""For the memories in use today: materials with vectors by angle, and what is held when."""

import math

import numpy as np

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies import make

AXES = "abcdefghijkl"  # each a plane of its own: claims of different letters have nothing in common


def vector(spot):
    """Turn "a" or "a+30" (degrees, in the plane of a) into a unit vector."""
    vector = np.zeros(2 * len(AXES))
    angle = math.radians(float(spot[1:] or 0))
    place = 2 * AXES.index(spot[0])
    vector[place : place + 2] = math.cos(angle), math.sin(angle)
    return vector


def told(spots, times=None, sources=None, importances=None, texts=None, answering=()):
    """Claims at these spots; one query, which the claims of these numbers answer."""
    claims = tuple(
        Claim(
            id=f"c{i}",
            text="" if texts is None else texts[i],
            time=None if times is None else times[i],
            source="s" if sources is None else sources[i],
            cues={} if importances is None else {"importance": importances[i]},
            embedding=tuple(vector(spot)),
        )
        for i, spot in enumerate(spots)
    )
    items = tuple(Item(id=f"n{i}", supports=((f"c{i}",),), answers=("q",)) for i in answering)
    return Material("told", claims, items, (Query(id="q", embedding=tuple(vector("l"))),))


def trace(name, material, capacity, **settings):
    """Give what is stored, and what the memory itself holds, after each claim."""
    env = MemorizationEnv(material, capacity=capacity, strict=True, **settings)
    policy = make(name, env)
    observation, _ = env.reset(seed=0)
    state, over, stored, held = None, False, [], []
    while not over:
        action, state = policy.predict(observation, state)
        observation, _, over, _, _ = env.step(action)
        slots = env.episode.slots.claims
        live = policy.held({k: v[None] for k, v in observation.items()}, state)[0]
        stored.append(sorted(slots[slots >= 0].tolist()))
        held.append(sorted(slots[live].tolist()))
    return stored, held
