"""Where a comparison takes place: the materials, and environments of each capacity over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np

from memenvs.counter import episode_key
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.rules import Rules, Utility
from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import Split, Tier
from memenvs.materials.library import (
    draw,
    find_materials,
    refuse_split,
    source_of,
    takes_generator,
)
from memenvs.train.experiment import Experiment

# Fresh materials are drawn from these seeds, whatever --seed says: a test set stays the same.
TEST_SEEDS = 0x7E57


@dataclass(frozen=True)
class Setting:
    """Fixed materials, and one environment for each capacity, ascending."""

    materials: tuple[Material, ...]
    envs: dict[int, gym.Env[Any, Any]]  # by capacity
    budget: float | None  # bound on the summed cost of a memory
    utility: Utility  # what the environments pay


def make_setting(experiment: Experiment) -> Setting:
    """Gather the materials and build the environments of an experiment.

    A tier is played by its own preset; other materials as a stream with hidden queries (level 1b),
    all in one environment, whose capacity is by default a quarter of the largest one's claims, at
    least 1. An environment's id keeps its own arguments, but for the split: of tiers the test split
    is played unless another is named. Raises ``ValueError`` for an experiment that names neither or
    both, or a tier beside other materials.
    """
    if bool(experiment.env) == bool(experiment.material):
        raise ValueError(
            "give what to play: --material NAME_OR_FILE, --env ID or a CONFIG, and only one of them"
        )
    build: Callable[[dict[str, Any]], gym.Env[Any, Any]]
    if experiment.env:
        name = experiment.env

        def build(arguments: dict[str, Any]) -> gym.Env[Any, Any]:
            return _registered(name, arguments)

        source: Materials = build(experiment.overrides).unwrapped.materials  # type: ignore[attr-defined]
        if isinstance(source.fixed, Split):
            tokens = experiment.budget is not None
            split = source.fixed.tier.split(experiment.split or "test", tokens=tokens)
            materials = list(split[: experiment.materials])
        else:
            refuse_split(name, experiment.split)
            keys = (episode_key(generator) for generator in _generators(experiment.materials))
            materials = list(source.fixed) or [source.draw(key) for key in keys]
    else:
        materials = gather(experiment)
        preset = preset_of(experiment.material)

        def build(arguments: dict[str, Any]) -> gym.Env[Any, Any]:
            return MemorizationEnv(materials, **{**preset, **arguments})

    asked: list[dict[str, Any]] = [{"capacity": c} for c in sorted(set(experiment.capacity))]
    envs = [build({**experiment.overrides, **each}) for each in asked or [{}]]
    rules: list[Rules] = [env.unwrapped.rules for env in envs]  # type: ignore[attr-defined]
    by_capacity = {int(r.capacity): env for r, env in zip(rules, envs, strict=True)}
    return Setting(tuple(_numbered(materials)), by_capacity, rules[0].budget, rules[0].utility)


def gather(experiment: Experiment) -> list[Material]:
    """Give the materials of names and files, a number of each tier and what draws fresh ones.

    Under a budget a generated claim costs its tokens.
    """
    split, count, tokens = experiment.split, experiment.materials, experiment.budget is not None
    materials: list[Material] = []
    for name in experiment.material:
        source = source_of(name, tokens=tokens)
        if isinstance(source, Tier):
            materials += find_materials(name, split, count, tokens=tokens)
            continue
        refuse_split(name, split)
        fresh = callable(source) and takes_generator(source)
        generators = _generators(count if fresh else 1)
        found = [each for generator in generators for each in draw(source, generator)]
        materials += _numbered(found) if fresh else found
    for name, times in Counter(material.name for material in materials).items():
        if times > 1:
            raise MaterialError(f"two materials are named '{name}'; rename one or leave it out")
    return materials


def preset_of(names: Sequence[str]) -> dict[str, Any]:
    """Give the arguments by which materials are played."""
    sources = [source_of(name) for name in names]
    tiers = [source for source in sources if isinstance(source, Tier)]
    if tiers and len(sources) > 1:
        raise ValueError(f"the tier '{tiers[0].name}' is compared by itself; name it alone")
    return {**LEVELS["2"], **tiers[0].preset} if tiers else LEVELS["1b"]


def _generators(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng([TEST_SEEDS, place]) for place in range(count)]


def _numbered(materials: Sequence[Material]) -> list[Material]:
    """Tell apart materials that a generator gave one name."""
    if len({material.name for material in materials}) == len(materials):
        return list(materials)
    return [replace(m, name=f"{m.name}-{place}") for place, m in enumerate(materials)]


def _registered(name: str, arguments: dict[str, Any]) -> gym.Env[Any, Any]:
    try:
        env = gym.make(name, **arguments)
    except (gym.error.Error, ImportError, TypeError) as error:
        raise ValueError(f"--env {name}: {error}") from None
    if not hasattr(env.unwrapped, "materials"):
        raise ValueError(f"--env {name}: is no memorization environment")
    return env
