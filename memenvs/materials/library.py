"""Materials by name: the built-in ones, those that users registered, and files."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from memenvs.errors import MaterialError
from memenvs.files import load_materials
from memenvs.material import Material

# A source is a material, a file, or a callable that draws one; a string names a file, a registered
# material, or the callable as "module:attribute", so that specs stay JSON and workers can rebuild.
Source: TypeAlias = Material | Path | str | Callable[..., Material]

_REGISTERED: dict[str, Source] = {
    "odyssey": "memenvs.materials.odyssey:odyssey",
    "odyssey-noisy": "memenvs.materials.odyssey:odyssey_noisy",
    "odyssey-composite": "memenvs.materials.odyssey:odyssey_composite",
}


def registered_materials() -> dict[str, Source]:
    """Names that can stand for a material, with what each stands for."""
    return dict(_REGISTERED)


def add_material(name: str, source: Source) -> None:
    """Let ``name`` stand for a source; raises ``ValueError`` where the name is taken."""
    if name in _REGISTERED:
        raise ValueError(f"a material named '{name}' is registered already; choose another name")
    _REGISTERED[name] = source


def find_materials(name: str, seed: int = 0) -> list[Material]:
    """Give the materials that a registered name or a file's path stands for, in order."""
    return draw(source_of(name), np.random.default_rng(seed))


def source_of(source: Source) -> Source:
    """Follow a registered name, a path or "module:attribute" to what it stands for."""
    if not isinstance(source, str):
        return source
    if source in _REGISTERED:
        return source_of(_REGISTERED[source])
    if Path(source).exists():
        return Path(source)
    module, colon, attribute = source.partition(":")
    if colon and module.replace(".", "").isidentifier():
        return _imported(source, module, attribute)
    raise MaterialError(
        f"'{source}' is neither a registered material ({', '.join(_REGISTERED)}) nor a file"
    )


def draw(source: Source, generator: np.random.Generator) -> list[Material]:
    """Give all materials of a file, or the one that a callable draws with ``generator``.

    A callable that takes no argument stands for a fixed material.
    """
    if isinstance(source, Material):
        return [source]
    if isinstance(source, str | Path):
        return load_materials(source)
    material: Any = source(generator) if takes_generator(source) else source()
    if not isinstance(material, Material):
        raise MaterialError(f"{source!r} gave a {type(material).__name__}, not a Material")
    return [material]


def takes_generator(source: Callable[..., Material]) -> bool:
    """Say whether a callable draws its material from a random generator."""
    import inspect

    return bool(inspect.signature(source).parameters)


def _imported(source: str, module: str, attribute: str) -> Source:
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise MaterialError(f"'{source}' cannot be imported: {error}") from None
    if not (callable(found) or isinstance(found, Material)):
        raise MaterialError(f"'{source}' is a {type(found).__name__}, not a callable or a Material")
    result: Source = found
    return result
