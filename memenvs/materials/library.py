"""Materials by name: built-in ones, generated tiers, those that users registered, and files."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.files import load_materials
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS, Tier
from memenvs.materials.registered import RegisteredFile
from memenvs.materials.scenarios import SCENARIOS

# A source is a material, a file (or one that a user registered by name), a callable that draws
# one, or a tier; a string names a file, a registered material, one material of a tier
# ("hidden-train-0"), or the callable as "module:attribute", so that specs stay JSON and workers can
# rebuild.
Source: TypeAlias = Material | Path | str | Callable[..., Material] | Tier | RegisteredFile

_REGISTERED: dict[str, Source] = {
    **TIERS,
    "odyssey": "memenvs.materials.odyssey:odyssey",
    "odyssey-noisy": "memenvs.materials.odyssey:odyssey_noisy",
    "odyssey-composite": "memenvs.materials.odyssey:odyssey_composite",
    "greedy-trap": "memenvs.materials.greedy_trap:greedy_trap",
    **{f"scenario-{scenario.name}": scenario.material for scenario in SCENARIOS},
}


def registered_materials() -> dict[str, Source]:
    """Names that can stand for a material, with what each stands for."""
    return dict(_REGISTERED)


def add_material(name: str, source: Source) -> None:
    """Let ``name`` stand for a source; raises ``ValueError`` where the name is taken."""
    if name in _REGISTERED:
        raise ValueError(f"a material named '{name}' is registered already; choose another name")
    _REGISTERED[name] = source


def drop_material(name: str) -> None:
    """Let ``name`` stand for nothing any more."""
    _REGISTERED.pop(name, None)


def find_materials(
    name: str,
    split: str | None = None,
    count: int | None = None,
    seed: int = 0,
    *,
    tokens: bool = False,
) -> Sequence[Material]:
    """Give the materials that a registered name or a file's path stands for, in order.

    Of a tier: those of ``split`` (default ``"test"``), the first ``count`` of them (default: all),
    each made when it is asked for; a generated claim costs 1, or its ``tokens``. Raises
    ``MaterialError`` for a split of what has none.
    """
    source = source_of(name, tokens=tokens)
    if isinstance(source, Tier):
        return source.split(split or "test", tokens=tokens)[:count]
    refuse_split(name, split)
    return draw(source, np.random.default_rng(seed))[:count]


def refuse_split(name: str, split: str | None) -> None:
    """Raise ``MaterialError`` where a split is asked of a source that has none."""
    if split is not None:
        raise MaterialError(
            f"has no split '{split}'; only tiers ({', '.join(TIERS)}) have splits: leave it out",
            file=name,
        )


def source_of(source: Source, *, tokens: bool = False) -> Source:
    """Follow a registered name, a path or "module:attribute" to what it stands for."""
    if isinstance(source, RegisteredFile):
        return source.checked()
    if not isinstance(source, str):
        return source
    if source in _REGISTERED:
        return source_of(_REGISTERED[source], tokens=tokens)
    if Path(source).exists():
        return Path(source)
    one = _one_of_a_tier(source, tokens)
    if one is not None:
        return one
    module, colon, attribute = source.partition(":")
    if colon and module.replace(".", "").isidentifier():
        return _imported(source, module, attribute)
    raise MaterialError(
        f"'{source}' is neither a registered material ({', '.join(_REGISTERED)}) nor a file"
    )


def is_generated(name: str) -> bool:
    """Tell the names of generated materials, "TIER-SPLIT-NUMBER", which stand for nothing else."""
    tier, split, number = ["", "", *name.rsplit("-", 2)][-3:]
    return tier in TIERS and split in TIERS[tier].splits and number.isdecimal()


def _one_of_a_tier(name: str, tokens: bool) -> Material | None:
    """Give the generated material of that name, "TIER-SPLIT-NUMBER", if it is one."""
    if not is_generated(name):
        return None
    tier, split, number = name.rsplit("-", 2)
    materials = TIERS[tier].split(split, tokens=tokens)
    if int(number) >= len(materials):
        raise MaterialError(
            f"'{name}' does not exist: the split has {len(materials)} materials, from number 0"
        )
    return materials[int(number)]


def draw(source: Source, generator: np.random.Generator) -> list[Material]:
    """Give all materials of a file, or the one that a callable or tier draws with ``generator``.

    A callable that takes no argument stands for a fixed material; a tier draws of its test split.
    """
    if isinstance(source, Material):
        return [source]
    if isinstance(source, Tier):
        split = source.split("test")
        return [split[int(generator.integers(len(split)))]]
    if isinstance(source, RegisteredFile):
        return load_materials(source.checked())
    if isinstance(source, str | Path):
        return load_materials(source)
    try:
        material: Any = source(generator) if takes_generator(source) else source()
    except MaterialError:
        raise
    except Exception as error:
        raise MaterialError(f"{source!r} raised {error!r:.200} instead of a Material") from error
    if not isinstance(material, Material):
        raise MaterialError(f"{source!r} gave a {type(material).__name__}, not a Material")
    return [material]


def takes_generator(source: Callable[..., Material]) -> bool:
    """Say whether a callable needs an argument: the random generator that it draws with."""
    import inspect

    try:
        parameters = inspect.signature(source).parameters.values()
    except (TypeError, ValueError):
        raise MaterialError(f"{source!r} is no material, file or callable") from None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.kind in positional and p.default is p.empty for p in parameters)


def _imported(source: str, module: str, attribute: str) -> Source:
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise MaterialError(f"'{source}' cannot be imported: {error}") from None
    if not (callable(found) or isinstance(found, Material)):
        raise MaterialError(f"'{source}' is a {type(found).__name__}, not a callable or a Material")
    result: Source = found
    return result
