"""The table of environments, and the registration of users' own materials."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gymnasium as gym

from memenvs.envs.levels import LEVELS
from memenvs.envs.miniwob.tasks import TASKS as MINIWOB
from memenvs.envs.panels.tasks import TASKS as PANELS
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS
from memenvs.materials.library import (
    Source,
    add_material,
    drop_material,
    is_generated,
    registered_materials,
)
from memenvs.materials.registered import RegisteredFile
from memenvs.materials.scenarios import SCENARIOS

ENTRY_POINT = "memenvs.envs.memorization.env:MemorizationEnv"
VECTOR_ENTRY_POINT = "memenvs.envs.memorization.vector:MemorizationVectorEnv"


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


def _material_row(id: str, material: str, level: str, tags: Sequence[str], **kwargs: Any) -> EnvRow:
    settings = {"material": material, **LEVELS[level], **kwargs}
    return EnvRow(id, MappingProxyType(settings), level, tuple(tags))


def _fixed_row(id: str, material: str, level: str, *tags: str, **kwargs: Any) -> EnvRow:
    """Row over one generated material, named "TIER-SPLIT-NUMBER"."""
    tier = TIERS[material.rsplit("-", 2)[0]]
    settings = {"capacity": tier.parameters.size.slots, **kwargs}
    return _material_row(id, material, level, ["generated", *tags], **settings)


def _tier_rows() -> Iterator[EnvRow]:
    """Rows of fresh materials: every tier at the sizes it is registered in."""
    for base, tags in TIER_TAGS.items():
        name = "".join(word.capitalize() for word in base.split("-"))
        for suffix, (word, tag, bases) in SIZE_NAMES.items():
            if base in bases:
                tier = TIERS[base + suffix]
                identifier = f"memenvs/{name}{word}-v0"
                yield _material_row(
                    identifier, tier.name, "2", ["generated", tag, *tags], **tier.preset
                )


def _scenario_rows() -> Iterator[EnvRow]:
    for scenario in SCENARIOS:
        name = "".join(word.capitalize() for word in scenario.name.split("-"))
        material = f"scenario-{scenario.name}"
        yield _material_row(
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
            entry_point=f"{folder}.env:PoisoningEnv",
            vector_entry_point=f"{folder}.vector:PoisoningVectorEnv",
        )


def _gui_rows() -> Iterator[EnvRow]:
    """Rows of graphical interfaces: simulated panels, and real pages that need a browser."""
    folder = "memenvs.envs"
    for task in PANELS:
        yield EnvRow(
            f"memenvs/Panels-{task}-v0",
            MappingProxyType({"task": task}),
            tags=("gui", "panels"),
            entry_point=f"{folder}.panels.env:PanelsEnv",
            vector_entry_point=f"{folder}.panels.vector:PanelsVectorEnv",
        )
    for task in MINIWOB:
        yield EnvRow(
            f"memenvs/MiniWoB-{task}-v0",
            MappingProxyType({"task": task}),
            tags=("gui", "browser"),
            entry_point=f"{folder}.miniwob.env:MiniWoBEnv",
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
    _material_row("memenvs/Odyssey-v0", "odyssey", "1a", ["odyssey"], capacity=3),
    _material_row(
        "memenvs/OdysseyNoisy-v0", "odyssey-noisy", "1a", ["odyssey", "false-claims"], capacity=3
    ),
    _material_row(
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
        _material_row(
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
    _material_row(
        "memenvs/SingleQuery-v0", "readable", "0", ["generated", "single-query"], capacity=2
    ),
    # One material, queries known by being settled.
    _material_row(
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

_rows: dict[str, EnvRow] = {}


def registered_envs() -> tuple[EnvRow, ...]:
    """List the rows of every registered environment: the table's, then users' own."""
    return tuple(_rows.values())


def register_table() -> None:
    """Register the table with Gymnasium; ``import memenvs`` does it once."""
    for row in TABLE:
        register_row(row)


def register_row(row: EnvRow) -> None:
    """Register one environment; raises ``ValueError`` where its id is taken."""
    if row.id in _rows or row.id in gym.registry:
        raise ValueError(f"an environment '{row.id}' is registered already; choose another name")
    gym.register(
        row.id,
        entry_point=row.entry_point,
        vector_entry_point=row.vector_entry_point,
        kwargs=dict(row.kwargs),
        max_episode_steps=row.max_episode_steps,
        disable_env_checker=True,  # the contract tests check every row, once
    )
    _rows[row.id] = row


def register_named(name: str, source: Source, level: str = "1b", **settings: Any) -> str:
    """Let a name stand for a source that every process finds by it; nothing is read. Gives the id.

    Raises ``ValueError`` for a name or level that cannot be used.
    """
    check_name(name, level)
    add_material(name, source)
    row = _material_row(f"memenvs/{name}-v0", name, level, ["user"], **settings)
    register_row(row)
    return row.id


def forget(name: str) -> None:
    """Undo ``register_named`` in this process."""
    identifier = f"memenvs/{name}-v0"
    drop_material(name)
    _rows.pop(identifier, None)
    gym.registry.pop(identifier, None)


def check_name(name: str, level: str) -> None:
    """Raise ``ValueError`` where a name is no name or taken, or a level is unknown."""
    if not name.strip("-") or not all(letter.isalnum() or letter in "-_" for letter in name):
        raise ValueError(f"{name!r} cannot name a material: use letters, digits, '-' and '_'")
    if name.startswith("-") or is_generated(name):
        other = "an option" if name.startswith("-") else "a generated material"
        raise ValueError(f"'{name}' is the name of {other}; choose another name")
    if level not in LEVELS:
        raise ValueError(f"level={level!r} is unknown; choose from {', '.join(LEVELS)}")
    known = registered_materials()
    if f"memenvs/{name}-v0" in gym.registry or name in known:
        kept = isinstance(known.get(name), RegisteredFile)
        undone = f", or run: memenvs unregister {name}" if kept else ""
        raise ValueError(f"'{name}' is registered already; choose another name{undone}")


def register_material(
    name: str,
    material: Material | str | os.PathLike[str] | Callable[..., Material],
    *,
    level: str = "1b",
    **settings: Any,
) -> str:
    """Make ``gym.make(f"memenvs/{name}-v0", capacity=...)`` play a material; gives the id.

    Args:
        name: letters, digits, ``-`` and ``_``; also a material's name on the command line.
        material: a file (JSON, or JSON Lines of many), ``"module:callable"``, a callable (one
            that takes an argument is given a ``numpy.random.Generator``), or a material. Files and
            importable callables work in every process. A material in memory, a lambda and the like
            are known to this process alone, and a log message says so.
        level: preset of the taxonomy: ``"0"``, ``"1a"``, ``"1b"``, ``"2"`` or ``"static"``.
        settings: further arguments of ``MemorizationEnv``, which ``gym.make`` can override.

    Raises ``ValueError`` for a name or level that cannot be used, ``MaterialError`` for a bad file.
    """
    from memenvs.envs.memorization.env import MemorizationEnv

    check_name(name, level)
    identifier = f"memenvs/{name}-v0"
    if not (callable(material) or isinstance(material, Material | str | os.PathLike)):
        raise ValueError(f"a {type(material).__name__} is no material, file or callable")
    source = _portable(material)
    MemorizationEnv(source, **{**LEVELS[level], **settings})  # faults show now, not in an episode
    add_material(name, source)
    if not isinstance(source, str):
        logging.getLogger("memenvs").warning(
            "'%s' is registered for this process alone: other processes need a file or an "
            "importable callable",
            identifier,
        )
    reference = source if isinstance(source, str) else name
    row = _material_row(identifier, reference, level, ["user"], **settings)
    register_row(row)
    return identifier


def _portable(material: Any) -> Source:
    """Give a string that other processes can follow, where there is one."""
    if isinstance(material, os.PathLike) or (isinstance(material, str) and Path(material).exists()):
        return str(Path(material).resolve())
    if callable(material) and not isinstance(material, Material):
        module = getattr(material, "__module__", "__main__")
        name = getattr(material, "__qualname__", "")
        if module != "__main__" and _found(module, name) is material:
            return f"{module}:{name}"
    source: Source = material
    return source


def _found(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None
