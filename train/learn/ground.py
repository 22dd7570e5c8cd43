"""Where a training takes place: the materials it trains and is evaluated on, and its batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

import memenvs
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS, Tier
from memenvs.materials.library import draw, source_of, takes_generator
from memenvs.text.encoder_files import encoder_of
from memenvs.text.encoders import Encoder, HashingEncoder, encoder_description
from memenvs.train.batches import materials_of
from memenvs.train.config_files import unknown
from memenvs.train.learn.settings import Stage, Training
from memenvs.train.learn.windows import cut_windows, share_of_slots
from memenvs.train.vec_env import SB3VecEnv

Arguments = dict[str, Any]
Make = Callable[[Mapping[str, Any], int], VecEnv]


@dataclass(frozen=True)
class Ground:
    """The arguments of the environments of one training, and what names them."""

    training: Arguments  # of MemorizationVectorEnv, its material among them
    whole: Arguments  # the same with whole materials and all slots, where it trains on windows
    left_out: tuple[Material, ...]  # materials that it must not see
    trained_on: list[str]
    make: Make  # a batch of so many episodes, of arguments

    def batch(self, envs: int) -> Any:
        """Make the batch to train in."""
        return self.make(self.training, envs)

    @cached_property
    def _whole(self) -> MemorizationEnv:
        return MemorizationEnv(**self.whole)

    @property
    def rules(self) -> Rules:
        """Rules by which whole materials are played."""
        return self._whole.rules

    @property
    def encoder(self) -> dict[str, Any]:
        """Describe what embeds the texts; empty where materials bring vectors of an unknown one."""
        materials = self._whole.materials
        first = materials.fixed[0] if materials.fixed else materials.draw(np.uint64(0))
        if not first.has_embeddings:
            return encoder_description(HashingEncoder())
        found = _encoder_beside(self.whole["material"])
        return encoder_description(found) if found else {}

    def materials(self, split: str, count: int) -> tuple[VecEnv, list[Material]]:
        """Give up to ``count`` materials to evaluate on, and a batch that plays them."""
        tier = isinstance(self.whole["material"], str) and self.whole["material"] in TIERS
        arguments = self.whole | ({"split": split} if tier else {})
        probe = MemorizationVectorEnv(**arguments)
        fixed = probe.materials.fixed
        if len(fixed) > 1:
            count = min(count, len(fixed))
        materials = materials_of(probe, count)
        return self.make(arguments, min(64, len(materials))), materials


def make_batch(arguments: Mapping[str, Any], envs: int) -> SB3VecEnv:
    """Make a native batch for stable-baselines3."""
    return SB3VecEnv(MemorizationVectorEnv(**arguments, num_envs=envs, autoreset_mode="SameStep"))


def make_ground(training: Training, left_out: str | None = None) -> Ground:
    """Find the materials and the rules by which they are played.

    ``left_out`` is a material's name. Raises ``ValueError`` for a training that names neither an
    environment nor a material, or both, and for windows of what has none.
    """
    arguments = arguments_of(training)
    aside: tuple[Material, ...] = ()
    if left_out is not None:
        everything = _listed(arguments["material"], "leave-one-out")
        aside = tuple(m for m in everything if m.name == left_out)
        arguments["material"] = [m for m in everything if m.name != left_out]
    whole = dict(arguments)
    if training.windows is not None:
        shortest, longest = training.windows.claims
        if shortest > longest:
            raise ValueError(f"windows.claims: [{shortest}, {longest}] has its ends exchanged")
        materials = _listed(arguments["material"], "windows")
        windows = cut_windows(materials, shortest, longest, training.windows.stride)
        slots = MemorizationEnv(**whole).rules.capacity
        arguments["material"] = windows
        arguments["capacity"] = share_of_slots(slots, materials, windows)
    make: Make = make_batch
    if training.game is not None:
        from memenvs.train.games.making import check_seats, make_seats  # needs pettingzoo

        check_seats(training.game)
        make = partial(make_seats, training.game, training.seed[0])
    return Ground(arguments, whole, aside, _names(whole["material"]), make)


def names_left_out(training: Training) -> list[str]:
    """Name the materials that are left out in turn."""
    names = [m.name for m in _listed(arguments_of(training)["material"], "leave-one-out")]
    if len(names) < 2:
        raise ValueError("leave-one-out needs at least two materials")
    return names


def arguments_of(place: Training | Stage) -> Arguments:
    """Give the arguments of ``MemorizationEnv``: those of an id or a preset, and the settings."""
    if bool(place.env) == bool(place.material):
        raise ValueError("say where to train: 'env' or 'material', and only one of them")
    if place.env:
        rows = {row.id: row for row in memenvs.registered_envs()}
        if place.env not in rows:
            raise ValueError(f"env '{place.env}' {unknown(place.env, rows)}")
        return {**rows[place.env].kwargs, **place.settings}
    sources = [source_of(name) for name in place.material]
    tiers = [source for source in sources if isinstance(source, Tier)]
    if len(sources) == 1:
        preset = {**LEVELS["2"], **tiers[0].preset} if tiers else LEVELS["1b"]
        return {"material": place.material[0], **preset, **place.settings}
    if tiers:
        raise ValueError(f"the tier '{tiers[0].name}' is trained on by itself; name it alone")
    materials = [m for name in place.material for m in _listed(name, "several materials")]
    return {"material": materials, **LEVELS["1b"], **place.settings}


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


def _names(material: Any) -> list[str]:
    if isinstance(material, str):
        if material in TIERS:
            return [f"{material}-train"]
        source = source_of(material)
        if callable(source) and takes_generator(source):
            return [material]
    return [m.name for m in _listed(material, "")]
