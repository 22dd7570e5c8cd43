"""Registers the table of environments with Gymnasium, and users' own materials."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

from memenvs.envs.levels import LEVELS
from memenvs.envs.table import TABLE, EnvRow, material_row
from memenvs.material.material import Material
from memenvs.materials.library import (
    Source,
    add_material,
    drop_material,
    is_generated,
    registered_materials,
)
from memenvs.materials.registered import RegisteredFile

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
    row = material_row(f"memenvs/{name}-v0", name, level, ["user"], **settings)
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
    from memenvs.envs.memorization.memorization_env import MemorizationEnv

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
    row = material_row(identifier, reference, level, ["user"], **settings)
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
