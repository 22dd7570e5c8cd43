"""The tiers of generated materials by name, and their splits by disjoint seed ranges."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.materials.generator.assemble import assemble
from memenvs.materials.generator.draft import Draft, draw_draft
from memenvs.materials.generator.parameters import Family, Parameters, Size, World, draw_world

# Disjoint ranges of seeds. Nothing is chosen by looking at the test and out-of-distribution ones.
SEEDS: Mapping[str, range] = MappingProxyType(
    {
        "train": range(0, 4096),
        "validation": range(10_000, 10_512),
        "test": range(20_000, 21_024),
        "ood": range(30_000, 31_024),
    }
)
WORLD_SEED = 40_000  # of the one world of a tier without fresh ones


@dataclass(frozen=True)
class Tier:
    """A named distribution of materials; ``held_out`` is the family of the split ``"ood"``."""

    name: str
    parameters: Parameters
    settings: tuple[tuple[str, Any], ...]  # of the tier's environments, beyond those of level 2
    held_out: Family | None = None

    @property
    def preset(self) -> dict[str, Any]:
        """Arguments of ``MemorizationEnv`` that belong to the tier, its capacity among them."""
        return {"capacity": self.parameters.size.slots, **dict(self.settings)}

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits."""
        return tuple(name for name in SEEDS if name != "ood" or self.held_out is not None)

    @property
    def world(self) -> World | None:
        """The one world of all splits; None where each material has its own."""
        return None if self.parameters.fresh_worlds else _world(self)

    def split(self, name: str, *, tokens: bool = False) -> Split:
        """Give the materials of a split, made when asked for; raises ``MaterialError``.

        A claim costs 1, or its tokens where they are asked for.
        """
        if name not in self.splits:
            raise MaterialError(
                f"'{self.name}' has no split '{name}'; choose from {', '.join(self.splits)}"
            )
        return Split(self, name, range(len(SEEDS[name])), tokens)

    def draft(self, split: str, number: int) -> Draft:
        """Draw what lies behind material ``number`` of a split; for oracles and tests."""
        parameters = self.parameters
        if split == "ood" and self.held_out is not None:
            parameters = replace(parameters, family=self.held_out)
        generator = _generator(self.name, SEEDS[split][number])
        world = self.world or draw_world(parameters, generator)
        return draw_draft(parameters, world, generator)


@dataclass(frozen=True)
class Split(Sequence[Material]):
    """Materials of a tier by number, drawn anew at each access, whatever was drawn before."""

    tier: Tier
    name: str
    numbers: range
    tokens: bool

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Material: ...
    @overload
    def __getitem__(self, place: slice) -> Split: ...
    def __getitem__(self, place: int | slice) -> Material | Split:
        """Draw one material, or narrow the split without drawing any."""
        if isinstance(place, slice):
            return replace(self, numbers=self.numbers[place])
        number = self.numbers[place]
        draft = self.tier.draft(self.name, number)
        name = f"{self.tier.name}-{self.name}-{number}"
        return assemble(draft, name, tokens=self.tokens)

    def __iter__(self) -> Iterator[Material]:
        return (self[place] for place in range(len(self)))


@lru_cache(maxsize=64)
def _world(tier: Tier) -> World:
    """Draw the one world of a tier, which all of its splits share."""
    return draw_world(tier.parameters, _generator(tier.name, WORLD_SEED))


def _generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


SIZES: Mapping[str, Size] = MappingProxyType(
    {
        "": Size(claims=32, slots=6, sources=6, topics=5, queries=6, dimension=16),
        "-128": Size(claims=128, slots=16, sources=12, topics=8, queries=12, dimension=16),
        "-1000": Size(claims=1000, slots=100, sources=30, topics=20, queries=30, dimension=32),
    }
)

_SMALL = SIZES[""]
_HIDDEN = Parameters(
    size=_SMALL, family=Family(style_gaps=(0.0,), overclaims=(0.75,)), unreliable=0.6
)
_END_TO_END = (("every", 2), ("utility", "end-to-end"), ("clearing", True))

_BASE: tuple[Tier, ...] = (
    # Unreliable sources give themselves away.
    Tier(
        "readable",
        Parameters(
            size=_SMALL,
            family=Family(style_gaps=(4.0,), overclaims=(0.5,)),
            unreliable=0.5,
            importance_noise=0.3,
        ),
        settings=(("every", 4),),
    ),
    # Trust must come from settlement.
    Tier("hidden", _HIDDEN, settings=(("every", 2),)),
    # Only a rule that learns trust within the episode transfers.
    Tier(
        "worlds",
        replace(
            _HIDDEN,
            family=Family(
                style_gaps=(0.8, 4.0), directions=(-1.0, 1.0), overclaims=(0.0, 0.25, 0.75)
            ),
            fresh_worlds=True,
        ),
        # Settled more often, records alone carry a hand-written rule past 80 % of the optimum.
        settings=(("every", 3),),
        # Two topics of each mass, and liars that exaggerate otherwise or look modest.
        held_out=Family(
            skew=2.0,
            level=2,
            style_gaps=(2.0,),
            directions=(-1.0, 1.0),
            overclaims=(-0.5, 0.5),
        ),
    ),
    # Half of the queries need two or three claims together.
    Tier("composite", replace(_HIDDEN, composite=0.6, unreliable=0.5), settings=(("every", 2),)),
    # What is false shadows what is true of the same queries.
    Tier("end-to-end", replace(_HIDDEN, repeats=0.4, answers=(2, 4)), settings=_END_TO_END),
    # One item is read for a query, the most similar: what is close to many queries and answers
    # few takes the place of what answers, so that storing everything is a poor memory.
    Tier(
        "read-limited",
        replace(_HIDDEN, repeats=0.4, answers=(2, 4), embedding_noise=0.8),
        settings=(
            ("every", 2),
            ("utility", "end-to-end"),
            ("reader", "similarity:1"),
            ("clearing", True),
        ),
    ),
    # What is false withdraws what is true; what contradicts can be told apart.
    Tier(
        "conflicting",
        replace(
            _HIDDEN, repeats=0.45, independent=0.8, unreliable=0.5, stance=0.5, withdrawing=0.7
        ),
        settings=(("every", 2),),
    ),
    # Newcomers tell of weightier things than the established source, and few are reliable: a claim
    # of theirs is worth a slot for what its settlement says of the claims to come. All contents
    # answer equally many queries, so that nothing but the source's record tells them apart.
    Tier(
        "probe",
        replace(
            _HIDDEN,
            size=replace(_SMALL, topics=8),
            family=Family(skew=1.2, level=4, style_gaps=(0.0,), overclaims=(0.0,)),
            unreliable=0.8,
            answers=(2, 2),
            opening=0.3,
        ),
        settings=(("every", 1),),
    ),
)


def _sized(tier: Tier, suffix: str) -> Tier:
    size = SIZES[suffix] if suffix else tier.parameters.size
    return replace(tier, name=tier.name + suffix, parameters=replace(tier.parameters, size=size))


TIERS: Mapping[str, Tier] = MappingProxyType(
    {tier.name + suffix: _sized(tier, suffix) for tier in _BASE for suffix in SIZES}
)
