"""The environments of a training: those that it learns in, and those that it is evaluated in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

import memenvs
from memenvs.envs.family import GUI, MEMORIZATION, POISONING, Family
from memenvs.envs.gui.gui_env import pages
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.rules import Rules
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS, Tier
from memenvs.materials.library import draw, source_of, takes_generator
from memenvs.materials.poisoning import Split as Scenarios
from memenvs.materials.poisoning.sets import SPLITS
from memenvs.text.encoder_files import encoder_of
from memenvs.text.encoders import Encoder, HashingEncoder, encoder_description
from memenvs.train.learn.settings import Stage, Training, dashed
from memenvs.train.learn.windows import cut_windows, share_of_slots
from memenvs.train.learn.wrapping import wrapped
from memenvs.train.places import Instance, Place, is_registered, preset_of
from memenvs.train.vec_env import SB3VecEnv

# What only memorization has: claims, settled queries, and policies that write.
OF_MEMORIZATION = (
    "game",
    "imitation",
    "shaping",
    "windows",
    "feature_dropout",
    "leave_one_out",
)
ELSEWHERE = (
    "`memenvs envs` lists those that there are; write MODULE:ID for one that a module of yours "
    "registers"
)
AT_ONCE = 64  # episodes of an evaluation
DRAWS = 0x7E57  # seeds of materials that a callable draws


Make = Callable[[Place, int], VecEnv]  # a batch of so many episodes


@dataclass(frozen=True)
class Environments:
    """What one training plays, and what its model's card says of that."""

    training: Place
    whole: Place  # the same with whole materials and all slots, where it trains on windows
    left_out: tuple[Material, ...]  # materials that it must not see
    make: Make

    def batch(self, envs: int) -> Any:
        """Make the batch to train in."""
        return self.make(self.training, envs)

    @property
    def family(self) -> Family | None:
        """The family of environments; None for one that is not of memenvs."""
        return self.whole.family

    @property
    def rules(self) -> Rules | None:
        """Rules by which whole materials are played; None in another family."""
        return self.whole.rules

    @property
    def trained_on(self) -> list[str]:
        """Name the materials, the sets or the task that it learns from, where they have names."""
        if self.family is MEMORIZATION:
            return _names(self.whole.arguments["material"])
        if self.family is POISONING:
            split = self.whole.arguments.get("split", "train")
            return [f"poisoning-{split}-{number}" for number in range(len(SPLITS[split]))]
        if self.family is GUI:
            return [f"{self.whole.env.unwrapped.task}-train"]  # type: ignore[attr-defined]
        return []

    @property
    def described(self) -> dict[str, Any]:
        """Give the rules as a card has them; empty in another family than memorization."""
        return {} if self.rules is None else asdict(self.rules)

    @property
    def encoder(self) -> dict[str, Any]:
        """Describe what embeds the texts; empty where nothing is known of it."""
        if self.family is not MEMORIZATION:
            return {}
        materials = self.whole.env.unwrapped.materials  # type: ignore[attr-defined]
        first = materials.fixed[0] if materials.fixed else materials.draw(np.uint64(0))
        if not first.has_embeddings:
            return encoder_description(HashingEncoder())
        found = _encoder_beside(self.whole.arguments["material"])
        return encoder_description(found) if found else {}

    def evaluation(self, split: str, count: int) -> tuple[VecEnv, list[Instance]]:
        """Give a batch, and up to ``count`` instances that it plays to evaluate.

        They are materials or scenarios of the split, pages beyond those of the training, or in a
        foreign environment nothing but episodes of other seeds.
        """
        place, values = self.whole, list[Any]([None] * count)
        if self.family is MEMORIZATION:
            place, values = self._materials(split, count)
        elif self.family is POISONING:
            place = changed(self.whole, split=split)
            values = list(Scenarios(split)[:count])
        elif self.family is GUI:
            values = list(pages(split, count))
        return self.make(place, min(AT_ONCE, len(values))), named(values)

    def evaluation_left_out(self) -> tuple[VecEnv, list[Instance]]:
        """Give a batch and the materials that were left out."""
        place = changed(self.whole, material=self.left_out)
        return self.make(place, len(self.left_out)), named(self.left_out)

    def _materials(self, split: str, count: int) -> tuple[Place, list[Material]]:
        material = self.whole.arguments["material"]
        tier = isinstance(material, str) and material in TIERS
        place = changed(self.whole, split=split) if tier else self.whole
        source: Materials = place.env.unwrapped.materials  # type: ignore[attr-defined]
        return place, materials_of(source, count)


def materials_of(source: Materials, count: int) -> list[Material]:
    """Give up to ``count`` materials: the fixed ones, or freshly drawn ones.

    One material alone is given again and again: its queries are drawn anew in each episode.
    """
    fixed = source.fixed
    if len(fixed) == 1:
        return [fixed[0]] * count
    return list(fixed[:count]) or [source.draw(np.uint64(DRAWS + n)) for n in range(count)]


def named(values: Sequence[Any]) -> list[Instance]:
    """Name what is played: the name decides on the seeds of its episodes."""
    return [Instance(str(getattr(value, "name", value)), value) for value in values]


def changed(place: Place, **arguments: Any) -> Place:
    """Give a place with other arguments."""
    return Place(place.id, {**place.arguments, **arguments})


def plain_batch(place: Place, envs: int) -> SB3VecEnv:
    """Make a batch for stable-baselines3, with nothing around it."""
    return SB3VecEnv(place.batch(envs, AutoresetMode.SAME_STEP))


def make_environments(training: Training, left_out: str | None = None) -> Environments:
    """Find what is played, and by which rules.

    ``left_out`` is a material's name. Raises ``ValueError`` for a training that names neither an
    environment nor a material, or both, and for settings that its environment knows nothing of.
    """
    whole = place_of(training)
    if whole.family is not MEMORIZATION:
        _refuse_memorization(training, whole.family)
    aside: tuple[Material, ...] = ()
    if left_out is not None:
        everything = _listed(whole.arguments["material"], "leave-one-out")
        aside = tuple(m for m in everything if m.name == left_out)
        whole = changed(whole, material=[m for m in everything if m.name != left_out])
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
        share = share_of_slots(int(whole.capacity or 0), materials, windows)
        learning = changed(whole, material=windows, capacity=share)
    return Environments(learning, whole, aside, _maker(training))


def names_left_out(training: Training) -> list[str]:
    """Name the materials that are left out in turn."""
    arguments = place_of(training).arguments
    if "material" not in arguments:
        raise ValueError("leave-one-out needs an environment with materials; leave it out")
    names = [m.name for m in _listed(arguments["material"], "leave-one-out")]
    if len(names) < 2:
        raise ValueError("leave-one-out needs at least two materials")
    return names


def place_of(named: Training | Stage) -> Place:
    """Say how to make what a training or a stage names: an id or materials, and the settings."""
    if bool(named.env) == bool(named.material):
        raise ValueError("say where to train: 'env' or 'material', and only one of them")
    if named.env:
        rows = {row.id: row for row in memenvs.registered_envs()}
        row = rows.get(named.env)
        if row is None and not is_registered(named.env):
            near = get_close_matches(named.env, rows, n=1)
            hint = f"did you mean '{near[0]}'?" if near else ELSEWHERE
            raise ValueError(f"env '{named.env}' is unknown; {hint}")
        if row is None or "material" not in row.kwargs:
            return Place(named.env, named.settings)
        return Place("", {**row.kwargs, **named.settings})  # its arguments say all
    preset, material = preset_of(named.material, "trained on"), named.material[0]
    if len(named.material) > 1:
        several = [m for name in named.material for m in _listed(name, "several materials")]
        return Place("", {"material": several, **preset, **named.settings})
    return Place("", {"material": material, **preset, **named.settings})


def _maker(training: Training) -> Make:
    """Say how the batches of a training are made: in a game, or with a wrapper around them."""
    if training.game is not None:
        from memenvs.train.games.making import check_agents, make_game_env  # needs pettingzoo

        check_agents(training.game)
        if training.wrapper is not None:
            raise ValueError("a wrapper cannot be put around a game; leave 'wrapper' or 'game' out")
        seats = partial(make_game_env, training.game, training.seed[0])
        return lambda place, envs: seats(place.arguments, envs)
    wrapper = training.wrapper
    if wrapper is None:
        return plain_batch
    if training.curriculum:
        raise ValueError(
            "a wrapper stays with one environment; leave 'wrapper' or 'curriculum' out"
        )
    return lambda place, envs: SB3VecEnv(
        wrapped(place.batch(envs, AutoresetMode.SAME_STEP), wrapper)
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
        raise ValueError(f"{what}: needs fixed materials; '{material}' draws new ones")
    return draw(source, np.random.default_rng(0))


def _encoder_beside(material: Any) -> Encoder | None:
    """Give the encoder that lies beside a material's file, as `memenvs build` writes it."""
    source = source_of(material) if isinstance(material, str) else None
    return encoder_of(source) if isinstance(source, Path) else None


def _names(material: str | Sequence[Material]) -> list[str]:
    if isinstance(material, str):
        if material in TIERS:
            return [f"{material}-train"]
        source = source_of(material)
        if callable(source) and takes_generator(source):
            return [material]
    return [m.name for m in _listed(material, "")]
