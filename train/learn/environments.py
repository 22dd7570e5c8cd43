"""The environments of a training: those that it learns in, and those that it is evaluated in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

import memenvs
from memenvs.envs.family import GUI, MEMORIZATION, POISONING, Family
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS, Tier
from memenvs.materials.library import draw, source_of, takes_generator
from memenvs.materials.poisoning import Split as Scenarios
from memenvs.text.encoder_files import encoder_of
from memenvs.text.encoders import Encoder, HashingEncoder, encoder_description
from memenvs.train.batches import materials_of
from memenvs.train.config_files import unknown
from memenvs.train.learn.settings import Stage, Training, dashed
from memenvs.train.learn.windows import cut_windows, share_of_slots
from memenvs.train.learn.wrapping import wrapped
from memenvs.train.vec_env import SB3VecEnv, make_batch

Arguments = dict[str, Any]
# What only memorization has: claims, settled queries, and policies that write.
OF_MEMORIZATION = (
    "material",
    "game",
    "imitation",
    "shaping",
    "windows",
    "feature_dropout",
    "leave_one_out",
)
AT_ONCE = 64  # episodes of an evaluation


@dataclass(frozen=True)
class Recipe:
    """How to make an environment: an id, or the memorization of materials, and its arguments."""

    id: str | None
    arguments: Arguments

    def changed(self, **arguments: Any) -> Recipe:
        """Give the recipe with other arguments."""
        return Recipe(self.id, {**self.arguments, **arguments})


Make = Callable[[Recipe, int], VecEnv]  # a batch of so many episodes


@dataclass(frozen=True)
class Environments:
    """What one training plays, and what its model's card says of that."""

    training: Recipe
    whole: Recipe  # the same with whole materials and all slots, where it trains on windows
    left_out: tuple[Material, ...]  # materials that it must not see
    make: Make

    def batch(self, envs: int) -> Any:
        """Make the batch to train in."""
        return self.make(self.training, envs)

    @cached_property
    def single(self) -> SB3VecEnv:
        """One environment as it is evaluated, without opponents and wrappers."""
        return plain_batch(self.whole, 1)

    @property
    def family(self) -> Family | None:
        """The family of environments; None for one that is not of memenvs."""
        return self.single.family

    @property
    def rules(self) -> Rules | None:
        """Rules by which whole materials are played; None in another family."""
        found: Rules | None = getattr(self.single.batch.unwrapped, "rules", None)
        return found if self.family is MEMORIZATION else None

    @property
    def trained_on(self) -> list[str]:
        """Name the materials, the split or the environment that it learns from."""
        if self.family is MEMORIZATION:
            return _names(self.whole.arguments["material"])
        if self.family is POISONING:
            return [f"poisoning-{self.whole.arguments.get('split', 'train')}"]
        return [str(self.whole.id)]

    @property
    def described(self) -> dict[str, Any]:
        """Give the rules as a card has them; empty in another family than memorization."""
        return {} if self.rules is None else asdict(self.rules)

    @property
    def encoder(self) -> dict[str, Any]:
        """Describe what embeds the texts; empty where nothing is known of it."""
        if self.family is not MEMORIZATION:
            return {}
        materials = self.single.batch.unwrapped.materials  # type: ignore[attr-defined]
        first = materials.fixed[0] if materials.fixed else materials.draw(np.uint64(0))
        if not first.has_embeddings:
            return encoder_description(HashingEncoder())
        found = _encoder_beside(self.whole.arguments["material"])
        return encoder_description(found) if found else {}

    def evaluation(self, split: str, count: int) -> tuple[VecEnv, list[Any]]:
        """Give a batch, and up to ``count`` instances that it plays to evaluate.

        They are materials or scenarios of the split, pages beyond those of the training, or in a
        foreign environment nothing but episodes of other seeds.
        """
        recipe, instances = self.whole, list[Any]([None] * count)
        if self.family is MEMORIZATION:
            recipe, instances = self._materials(split, count)
        elif self.family is POISONING:
            recipe = self.whole.changed(split=split)
            instances = list(range(min(count, len(Scenarios(split)))))
        elif self.family is GUI:
            known = self.single.get_attr("instances")[0]
            instances = list(range(known, known + count))
        return self.make(recipe, min(AT_ONCE, len(instances))), instances

    def evaluation_left_out(self) -> tuple[VecEnv, list[Material]]:
        """Give a batch and the materials that were left out."""
        recipe = self.whole.changed(material=self.left_out)
        return self.make(recipe, len(self.left_out)), list(self.left_out)

    def _materials(self, split: str, count: int) -> tuple[Recipe, list[Material]]:
        material = self.whole.arguments["material"]
        tier = isinstance(material, str) and material in TIERS
        recipe = self.whole.changed(split=split) if tier else self.whole
        batch = MemorizationVectorEnv(**recipe.arguments)
        fixed = batch.materials.fixed
        return recipe, materials_of(batch, min(count, len(fixed)) if len(fixed) > 1 else count)


def plain_batch(recipe: Recipe, envs: int) -> SB3VecEnv:
    """Make a batch for stable-baselines3, with nothing around it."""
    return SB3VecEnv(_bare_batch(recipe, envs))


def make_environments(training: Training, left_out: str | None = None) -> Environments:
    """Find what is played, and by which rules.

    ``left_out`` is a material's name. Raises ``ValueError`` for a training that names neither an
    environment nor a material, or both, and for settings that its environment knows nothing of.
    """
    whole = recipe_of(training)
    family = plain_batch(whole, 1).family
    if family is not MEMORIZATION:
        _refuse_memorization(training, family)
    aside: tuple[Material, ...] = ()
    if left_out is not None:
        everything = _listed(whole.arguments["material"], "leave-one-out")
        aside = tuple(m for m in everything if m.name == left_out)
        whole = whole.changed(material=[m for m in everything if m.name != left_out])
    learning = whole
    if training.windows is not None:
        shortest, longest = training.windows.claims
        if shortest > longest:
            raise ValueError(
                f"windows.claims: [{shortest}, {longest}]: the first number is the smallest "
                "length and must not be above the second"
            )
        materials = _listed(whole.arguments["material"], "windows")
        windows = cut_windows(materials, shortest, longest, training.windows.stride)
        slots = MemorizationVectorEnv(**whole.arguments).rules.capacity
        share = share_of_slots(slots, materials, windows)
        learning = whole.changed(material=windows, capacity=share)
    return Environments(learning, whole, aside, _maker(training))


def names_left_out(training: Training) -> list[str]:
    """Name the materials that are left out in turn."""
    arguments = recipe_of(training).arguments
    if "material" not in arguments:
        raise ValueError("leave-one-out needs an environment with materials; leave it out")
    names = [m.name for m in _listed(arguments["material"], "leave-one-out")]
    if len(names) < 2:
        raise ValueError("leave-one-out needs at least two materials")
    return names


def recipe_of(place: Training | Stage) -> Recipe:
    """Say how to make what a training or a stage names: an id or materials, and the settings."""
    if bool(place.env) == bool(place.material):
        raise ValueError("say where to train: 'env' or 'material', and only one of them")
    if place.env:
        rows = {row.id: row for row in memenvs.registered_envs()}
        if place.env in rows:
            return Recipe(place.env, {**rows[place.env].kwargs, **place.settings})
        if place.env not in gym.registry:
            raise ValueError(f"env '{place.env}' {unknown(place.env, rows)}")
        return Recipe(place.env, {**place.settings})
    sources = [source_of(name) for name in place.material]
    tiers = [source for source in sources if isinstance(source, Tier)]
    if len(sources) == 1:
        preset = {**LEVELS["2"], **tiers[0].preset} if tiers else LEVELS["1b"]
        return Recipe(None, {"material": place.material[0], **preset, **place.settings})
    if tiers:
        raise ValueError(f"the tier '{tiers[0].name}' is trained on by itself; name it alone")
    materials = [m for name in place.material for m in _listed(name, "several materials")]
    return Recipe(None, {"material": materials, **LEVELS["1b"], **place.settings})


def _maker(training: Training) -> Make:
    """Say how the batches of a training are made: in a game, or with a wrapper around them."""
    if training.game is not None:
        from memenvs.train.games.making import check_seats, make_seats  # needs pettingzoo

        check_seats(training.game)
        if training.wrapper is not None:
            raise ValueError("a wrapper cannot stand around a game; leave 'wrapper' or 'game' out")
        seats = partial(make_seats, training.game, training.seed[0])
        return lambda recipe, envs: seats(recipe.arguments, envs)
    wrapper = training.wrapper
    if wrapper is None:
        return plain_batch
    return lambda recipe, envs: SB3VecEnv(wrapped(_bare_batch(recipe, envs), wrapper))


def _bare_batch(recipe: Recipe, envs: int) -> Any:
    """Make the vector environment of a recipe."""
    if "material" in recipe.arguments and _is_memorization(recipe.id):
        return MemorizationVectorEnv(
            **recipe.arguments, num_envs=envs, autoreset_mode="SameStep"
        )
    return make_batch(str(recipe.id), envs, recipe.arguments)


def _is_memorization(id: str | None) -> bool:
    """Whether an id is one of ours that plays materials; they may be given in memory, too."""
    return id is None or any(
        row.id == id and "material" in row.kwargs for row in memenvs.registered_envs()
    )


def _refuse_memorization(training: Training, family: Family | None) -> None:
    """Raise ``ValueError`` for a setting that has no meaning in another family."""
    for name in OF_MEMORIZATION:
        if getattr(training, name):
            what = "an environment from outside of memenvs" if family is None else family.name
            raise ValueError(
                f"'{dashed(name)}' is for memorization environments and not for "
                f"'{training.env}' ({what}); leave it out"
            )


def _listed(material: Any, what: str) -> list[Material]:
    """Give the fixed materials behind what an environment is given."""
    if not isinstance(material, str):
        return list(material)
    source = source_of(material)
    if isinstance(source, Tier) or (callable(source) and takes_generator(source)):
        raise ValueError(f"{what}: needs materials that are fixed; '{material}' draws them")
    return draw(source, np.random.default_rng(0))


def _encoder_beside(material: Any) -> Encoder | None:
    """Give the encoder that lies beside a material's file, as `memenvs build` writes it."""
    source = source_of(material) if isinstance(material, str) else None
    return encoder_of(source) if isinstance(source, Path) else None


def _names(material: str | Sequence[Material] | Mapping[str, Any]) -> list[str]:
    if isinstance(material, str):
        if material in TIERS:
            return [f"{material}-train"]
        source = source_of(material)
        if callable(source) and takes_generator(source):
            return [material]
    return [m.name for m in _listed(material, "")]
