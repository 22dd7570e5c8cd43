"""From a name to a place: the environment, what is played in it, and batches of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from memenvs.counter import episode_key
from memenvs.envs.family import GUI, MEMORIZATION, POISONING, Family
from memenvs.envs.gui.gui_env import pages
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.rules import Rules
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
from memenvs.materials.poisoning.sets import Split as ScenarioSplit
from memenvs.policies.user_code import import_from_here

# Fresh materials are drawn from these seeds, whatever --seed says: a test set stays the same.
TEST_SEEDS = 0x7E57
COUNT = 20  # instances that are played, unless it is said
EVALUATED = "test"  # the split that is played, unless it is said


@dataclass(frozen=True)
class Instance:
    """What one episode is about: a material, a scenario, the number of a page."""

    name: str
    value: Any = None  # what ``reset`` is given; None where the seed alone decides


@dataclass(frozen=True)
class Place:
    """One environment with all its arguments, and the instances that are played in it.

    It is the environment of an id that is registered with Gymnasium, or the memorization
    environment over some materials.
    """

    id: str  # "" where materials were named
    arguments: Mapping[str, Any]
    instances: tuple[Instance, ...] = ()
    split: str | None = None  # of the instances, where they have any

    def make(self) -> gym.Env[Any, Any]:
        """Make the scalar environment; raises ``ValueError`` where that cannot be."""
        if not self.id:
            return MemorizationEnv(**self.arguments)
        try:
            return gym.make(self.id, disable_env_checker=True, **self.arguments)
        except (gym.error.Error, ImportError, TypeError) as error:
            raise ValueError(f"--env {self.id}: {error}") from None

    def batch(
        self, episodes: int, autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP
    ) -> VectorEnv[Any, Any, Any]:
        """Make so many episodes at once, natively where the environment has a form for that."""
        if not self.id:
            return MemorizationVectorEnv(
                **self.arguments, num_envs=episodes, autoreset_mode=autoreset_mode
            )
        if not self.native:
            singles = [partial(_OneOfMany, self, number) for number in range(episodes)]
            return SyncVectorEnv(singles, autoreset_mode=autoreset_mode)
        return gym.make_vec(
            self.id,
            num_envs=episodes,
            vectorization_mode="vector_entry_point",
            autoreset_mode=autoreset_mode,
            **self.arguments,
        )

    @cached_property
    def env(self) -> gym.Env[Any, Any]:
        """The scalar environment, made once."""
        return self.make()

    @property
    def native(self) -> bool:
        """Whether the environment has a batch of its own that is as the scalar one is."""
        if not self.id:
            return True
        return self.family is not None and gym.spec(self.id).vector_entry_point is not None

    @property
    def family(self) -> Family | None:
        """What the environment plays and ends with; None for one that is not of this package."""
        found: Family | None = getattr(self.env.unwrapped, "family", None)
        return found

    @property
    def rules(self) -> Rules | None:
        """The rules of a memorization environment."""
        found: Rules | None = getattr(self.env.unwrapped, "rules", None)
        return found if self.family is MEMORIZATION else None

    @property
    def capacity(self) -> int | None:
        """Slots of a memory, where there is one."""
        return None if self.rules is None else int(self.rules.capacity)


class _OneOfMany(gym.Wrapper[Any, Any, Any, Any]):
    """One environment of several; of a reset option that is a list it takes its own element."""

    def __init__(self, place: Place, number: int) -> None:
        super().__init__(place.make())
        self._number = number

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        given = {
            name: value[self._number] if isinstance(value, list) else value
            for name, value in (options or {}).items()
        }
        return self.env.reset(seed=seed, options=given or None)


def is_registered(id: str) -> bool:
    """Say whether Gymnasium knows an id; of ``MODULE:ID`` the module is imported first.

    Modules are found from the working directory, too. Raises ``ValueError`` for one that cannot be
    imported.
    """
    module, _, name = id.rpartition(":")
    if module:
        import_from_here()
        try:
            import_module(module)
        except (ImportError, TypeError) as error:  # TypeError: a relative name
            raise ValueError(f"{id}: the module cannot be imported: {error}") from None
    return name in gym.registry


def place_of_id(
    id: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    split: str | None = None,
    count: int = COUNT,
) -> Place:
    """Find the place of an id that is registered with Gymnasium, and up to ``count`` instances.

    ``arguments`` override those of the id; of what has splits the test split is played unless
    another is named. Raises ``ValueError`` for an unknown id, argument or split.
    """
    is_registered(id)  # imports what MODULE:ID names
    given = dict(arguments or {})
    found = Place(id, given)
    family = found.family
    if family is None:
        refuse_split(id, split)
        return replace(found, instances=(Instance(id),))
    instances, chosen = INSTANCES[family.name](found, split, count)
    if chosen is not None and family is not GUI:  # a page is told by its number alone
        given["split"] = chosen
    return Place(id, given, tuple(instances), chosen)


def place_of_materials(
    names: Sequence[str],
    arguments: Mapping[str, Any] | None = None,
    *,
    split: str | None = None,
    count: int = COUNT,
) -> Place:
    """Find the place of materials by their names and files, played as a stream.

    Of a tier ``count`` are played. Raises ``ValueError`` for unknown names, and for a tier beside
    other materials.
    """
    given = dict(arguments or {})
    materials = gather(names, split=split, count=count, tokens=given.get("budget") is not None)
    settings = {"material": materials, **preset_of(names), **given}
    tier = isinstance(source_of(names[0]), Tier)
    chosen = (split or EVALUATED) if tier else None
    return Place("", settings, tuple(_named(materials)), chosen)


def gather(
    names: Sequence[str], *, split: str | None = None, count: int = COUNT, tokens: bool = False
) -> list[Material]:
    """Give the materials of names and files, a number of each tier and what draws fresh ones.

    With ``tokens`` a generated claim costs its tokens.
    """
    materials: list[Material] = []
    for name in names:
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


def preset_of(names: Sequence[str], done: str = "compared") -> dict[str, Any]:
    """Give the arguments by which materials are played; raises ``ValueError`` for a tier beside."""
    sources = [source_of(name) for name in names]
    tiers = [source for source in sources if isinstance(source, Tier)]
    if tiers and len(sources) > 1:
        raise ValueError(f"the tier '{tiers[0].name}' is {done} by itself; name it alone")
    return {**LEVELS["2"], **tiers[0].preset} if tiers else LEVELS["1b"]


Found = tuple[Sequence[Instance], str | None]  # instances, and the split that they are of


def _materials(place: Place, split: str | None, count: int) -> Found:
    """Give the materials of a memorization environment."""
    env: Any = place.env.unwrapped
    source: Materials = env.materials
    if isinstance(source.fixed, Split):
        tokens = env.rules.budget is not None
        chosen = source.fixed.tier.split(split or EVALUATED, tokens=tokens)
        return _named(chosen[:count]), split or EVALUATED
    refuse_split(place.id, split)
    keys = (episode_key(generator) for generator in _generators(count))
    return _named(list(source.fixed) or [source.draw(key) for key in keys]), None


def _scenarios(place: Place, split: str | None, count: int) -> Found:
    """Give the scenarios of a poisoning environment."""
    chosen = ScenarioSplit(split or EVALUATED)
    return [Instance(each.name, each) for each in chosen[:count]], chosen.name


def _pages(place: Place, split: str | None, count: int) -> Found:
    """Give the numbered pages of a graphical interface."""
    task, chosen = place.env.unwrapped.task, split or EVALUATED  # type: ignore[attr-defined]
    numbered = enumerate(pages(chosen, count))
    return [Instance(f"{task}-{chosen}-{number}", page) for number, page in numbered], None


INSTANCES: dict[str, Callable[[Place, str | None, int], Found]] = {
    MEMORIZATION.name: _materials,
    POISONING.name: _scenarios,
    GUI.name: _pages,
}


def _named(materials: Sequence[Material]) -> list[Instance]:
    return [Instance(material.name, material) for material in _numbered(materials)]


def _generators(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng([TEST_SEEDS, place]) for place in range(count)]


def _numbered(materials: Sequence[Material]) -> list[Material]:
    """Tell apart materials that a generator gave one name."""
    if len({material.name for material in materials}) == len(materials):
        return list(materials)
    return [replace(m, name=f"{m.name}-{place}") for place, m in enumerate(materials)]
