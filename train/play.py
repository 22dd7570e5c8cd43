"""Play policies over fixed episodes, the same ones for each, with masks respected."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np

from memenvs.material.material import Material
from memenvs.reading.layer import Layer
from memenvs.train.cast import Cast
from memenvs.train.places import Setting

Job = TypeVar("Job")
Track = Callable[[Sequence[Job], str], Iterable[Job]]


@dataclass(frozen=True)
class EpisodeResult:
    """One episode of one policy, with the expected utilities of the memory it ended with."""

    policy: str
    material: str
    capacity: int
    episode: int  # number within its material: equal numbers are the same episode
    member: int  # number among the seeds of a training
    size: float  # stored claims
    cost: float  # their summed cost
    coverage: float
    precision: float
    water_inflation: float
    span: float  # share of the material's items
    utility: float  # the one that the environment pays
    settled: float  # summed over the episode
    settlements: int  # queries settled
    illegal: int  # actions that broke the mask
    answered: float = math.nan  # query mass answered from the memory; NaN where not measured


@dataclass(frozen=True)
class Evaluation:
    """Episodes, and who played them under which name at which capacity."""

    results: list[EpisodeResult]
    casts: dict[tuple[int, str], Cast]  # by capacity, policy


def untracked(jobs: Sequence[Job], what: str) -> Iterable[Job]:
    """Run through jobs without showing progress."""
    return jobs


def evaluate(
    setting: Setting,
    policies: Sequence[str],
    *,
    episodes: int,
    seed: int = 0,
    layer: Layer | None = None,
    track: Track[Any] = untracked,
) -> Evaluation:
    """Play each policy at each capacity, ``episodes`` times on each material.

    Each seed of a training plays them all. ``layer`` answers queries from each memory. Raises
    ``ValueError`` for an unknown policy before anything is played.
    """
    names = [material.name for material in setting.materials]
    casts = {
        (capacity, name): Cast(name, env, seed, names)
        for (capacity, env), name in product(setting.envs.items(), policies)
    }
    results = []
    jobs = [
        (key, place, episode, member)
        for (key, cast), place, episode in product(
            casts.items(), range(len(setting.materials)), range(episodes)
        )
        for member in range(cast.size)
    ]
    for (capacity, name), place, episode, member in track(jobs, "episodes"):
        material = setting.materials[place]
        player = casts[capacity, name].player(material.name, member)
        env, own_seed = setting.envs[capacity], episode_seed(seed, material.name, episode)
        measured = play(env, player, material, own_seed, layer)
        results.append(EpisodeResult(name, material.name, capacity, episode, member, **measured))
    return Evaluation(results, casts)


def episode_seed(seed: int, material: str, episode: int) -> int:
    """Seed of an episode: of its material and number alone, whoever and whatever else plays."""
    entropy = (seed, zlib.crc32(material.encode()), episode)
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])


def play(
    env: gym.Env[Any, Any], policy: Any, material: Material, seed: int, layer: Layer | None = None
) -> dict[str, Any]:
    """Play one episode; gives what was measured, by the fields of ``EpisodeResult``.

    A system that is measured says itself what it ended with; the slots follow it with a delay.
    """
    observation, info = env.reset(seed=seed, options={"material": material})
    state, over = policy.start(np.array([seed])), False  # its chance is the episode's own, too
    while not over:
        action, state = policy.predict(
            observation, state, deterministic=True, action_masks=info["action_mask"]
        )
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    inner: Any = env.unwrapped
    memory = inner.memory
    if hasattr(policy, "kept"):
        memory = np.zeros_like(memory)
        memory[policy.kept(state)[0]] = True
    answered = math.nan
    if layer is not None:
        search = policy.search(state) if hasattr(policy, "search") else None
        answered = layer.answered(material, memory, search)
    if hasattr(policy, "conclude"):  # it learns while it is tested, or lets go of what it measured
        policy.conclude(state, float(inner.episode.earned))
    final = material.evaluate(memory)
    return {
        "size": float(final.size),
        "cost": float(final.cost),
        "coverage": float(final.coverage),
        "precision": float(final.precision),
        "water_inflation": float(final.water_inflation),
        "span": float(final.span),
        "utility": float(inner.episode.account.expected(memory)),
        "settled": float(inner.episode.earned),
        "settlements": int(inner.episode.settled),
        "illegal": int(inner.episode.illegal),
        "answered": answered,
    }
