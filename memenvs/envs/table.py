"""The table of environments: ids, arguments, levels and tags, one row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from memenvs.envs.levels import LEVELS
from memenvs.envs.miniwob.tasks import TASKS as MINIWOB
from memenvs.envs.panels.tasks import TASKS as PANELS
from memenvs.materials.generator.tiers import TIERS
from memenvs.materials.scenarios import SCENARIOS
from memenvs.short_repr import short_repr

ENTRY_POINT = "memenvs.envs.memorization.memorization_env:MemorizationEnv"
VECTOR_ENTRY_POINT = "memenvs.envs.memorization.memorization_vector:MemorizationVectorEnv"


@dataclass(frozen=True)
class EnvRow:
    """One registered environment."""

    id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)  # names, paths and numbers alone
    level: str = ""  # of the taxonomy: 0, 1a, 1b, 2 or static
    tags: tuple[str, ...] = ()
    max_episode_steps: int | None = None
    entry_point: str = ENTRY_POINT
    vector_entry_point: str | None = VECTOR_ENTRY_POINT

    __repr__ = short_repr


def material_row(id: str, material: str, level: str, tags: Sequence[str], **kwargs: Any) -> EnvRow:
    """Make the row of a memorization environment over a material, at a level of the taxonomy."""
    settings = {"material": material, **LEVELS[level], **kwargs}
    return EnvRow(id, MappingProxyType(settings), level, tuple(tags))


def _fixed_row(id: str, material: str, level: str, *tags: str, **kwargs: Any) -> EnvRow:
    """Row over one generated material, named "TIER-SPLIT-NUMBER"."""
    tier = TIERS[material.rsplit("-", 2)[0]]
    settings = {"capacity": tier.parameters.size.slots, **kwargs}
    return material_row(id, material, level, ["generated", *tags], **settings)


def _tier_rows() -> Iterator[EnvRow]:
    """Rows of fresh materials: every tier at the sizes it is registered in."""
    for base, tags in TIER_TAGS.items():
        name = "".join(word.capitalize() for word in base.split("-"))
        for suffix, (word, tag, bases) in SIZE_NAMES.items():
            if base in bases:
                tier = TIERS[base + suffix]
                identifier = f"memenvs/{name}{word}-v0"
                yield material_row(
                    identifier, tier.name, "2", ["generated", tag, *tags], **tier.preset
                )


def _scenario_rows() -> Iterator[EnvRow]:
    for scenario in SCENARIOS:
        name = "".join(word.capitalize() for word in scenario.name.split("-"))
        material = f"scenario-{scenario.name}"
        yield material_row(
            f"memenvs/Scenario{name}-v0", material, "1b", ["scenario"], capacity=scenario.capacity
        )


def _poisoning_rows() -> Iterator[EnvRow]:
    """Rows of the poisoning environment, free and with a price for each token."""
    folder = "memenvs.envs.poisoning"
    for suffix, price in (("", 0.0), ("Priced", 0.2)):
        yield EnvRow(
            f"memenvs/Poisoning{suffix}-v0",
            MappingProxyType({"price": price}),
            tags=("poisoning", "false-claims"),
            entry_point=f"{folder}.poisoning_env:PoisoningEnv",
            vector_entry_point=f"{folder}.poisoning_vector:PoisoningVectorEnv",
        )


def _gui_rows() -> Iterator[EnvRow]:
    """Rows of graphical interfaces: simulated panels, and real pages that need a browser."""
    folder = "memenvs.envs"
    for task in PANELS:
        yield EnvRow(
            f"memenvs/Panels-{task}-v0",
            MappingProxyType({"task": task}),
            tags=("gui", "panels"),
            entry_point=f"{folder}.panels.panels_env:PanelsEnv",
            vector_entry_point=f"{folder}.panels.panels_vector:PanelsVectorEnv",
        )
    for task in MINIWOB:
        yield EnvRow(
            f"memenvs/MiniWoB-{task}-v0",
            MappingProxyType({"task": task}),
            tags=("gui", "browser"),
            entry_point=f"{folder}.miniwob.miniwob_env:MiniWoBEnv",
            vector_entry_point=None,
        )


TIER_TAGS: dict[str, tuple[str, ...]] = {
    "readable": ("false-claims",),
    "hidden": ("false-claims",),
    "worlds": ("false-claims", "out-of-distribution"),
    "composite": ("false-claims", "composite"),
    "end-to-end": ("false-claims", "end-to-end"),
    "conflicting": ("false-claims", "conflicts"),
    "probe": ("false-claims", "exploration"),
    "read-limited": ("false-claims", "read-limited"),
}
# Suffix of a tier: word of the id, tag, and the tiers that are registered in that size.
SIZE_NAMES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "": ("", "small", tuple(TIER_TAGS)),
    "-128": ("Medium", "medium", tuple(TIER_TAGS)),
    "-1000": ("Large", "large", ("readable", "hidden", "worlds", "read-limited")),
}

TABLE: tuple[EnvRow, ...] = (
    # One material, all queries known with their mass.
    material_row("memenvs/Odyssey-v0", "odyssey", "1a", ["odyssey"], capacity=3),
    material_row(
        "memenvs/OdysseyNoisy-v0", "odyssey-noisy", "1a", ["odyssey", "false-claims"], capacity=3
    ),
    material_row(
        "memenvs/OdysseyComposite-v0",
        "odyssey-composite",
        "1a",
        ["odyssey", "composite"],
        capacity=3,
    ),
    _fixed_row("memenvs/KnownQueries-v0", "hidden-train-6", "1a", "false-claims"),
    _fixed_row("memenvs/KnownQueriesMedium-v0", "hidden-128-train-0", "1a", "false-claims"),
    _fixed_row(
        "memenvs/KnownQueriesComposite-v0", "composite-train-5", "1a", "false-claims", "composite"
    ),
    # The same false claim before a reader of one item, and of two.
    *(
        material_row(
            f"memenvs/OdysseyRead{items}-v0",
            "odyssey-noisy",
            "1a",
            ["odyssey", "false-claims", "read-limited"],
            capacity=4,
            reader=f"similarity:{items}",
            clearing=True,
        )
        for items in (1, 2)
    ),
    # One query, known before writing.
    material_row(
        "memenvs/SingleQuery-v0", "readable", "0", ["generated", "single-query"], capacity=2
    ),
    # One material, queries known by being settled.
    material_row(
        "memenvs/OdysseyDisclosed-v0",
        "odyssey-noisy",
        "1b",
        ["odyssey", "false-claims"],
        capacity=3,
    ),
    _fixed_row("memenvs/DisclosedQueries-v0", "hidden-train-6", "1b", "false-claims"),
    _fixed_row("memenvs/DisclosedQueriesMedium-v0", "hidden-128-train-0", "1b", "false-claims"),
    *_tier_rows(),
    # Ways in which real memories are reported to fail.
    *_scenario_rows(),
    # Histories that mislead: choose the context of each prompt.
    *_poisoning_rows(),
    # Pages with a goal: what to remember is what a click led to.
    *_gui_rows(),
)
