"""Materials that every process knows by name: a user's, from a small file, and those of packages.

``import memenvs`` reads names alone. A material is read, or its package imported, when it is made.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from memenvs.envs.levels import LEVELS
from memenvs.envs.registry import check_name, forget, register_named
from memenvs.errors import MaterialError
from memenvs.materials.registered import RegisteredFile, digest_of
from memenvs.storage.reading import read_bounded, read_sealed, sealed
from memenvs.storage.whole import write_whole

FORMAT = "memenvs.registry/2"
LONGEST = 2**24  # bytes of a registry
VARIABLE = "MEMENVS_REGISTRY"  # names another file
GROUP = "memenvs.materials"  # of entry points
LOG = logging.getLogger("memenvs")

Entries: TypeAlias = dict[str, dict[str, Any]]  # by name: file, digest, level, settings


def registry_path() -> Path:
    """Give the user's registry: what MEMENVS_REGISTRY names, or a file in the config folder."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else _config_folder() / "memenvs" / "materials.json"


def register_users() -> None:
    """Register the materials of the user's registry; what cannot be used is logged."""
    try:
        entries = _read(registry_path())
    except (ValueError, RuntimeError) as error:  # RuntimeError: a user without a home
        LOG.warning("no material of your own is registered: %s", error)
        return
    for name, entry in entries.items():
        source = RegisteredFile(name, entry["file"], entry["digest"])
        _register(name, source, entry["level"], entry["settings"], f"of {registry_path()}")


def register_packaged() -> None:
    """Register the materials of installed packages, without importing any.

    An entry point of the group "memenvs.materials" names a function that gives a material, or draws
    one with the generator that it is given, as "module:function".
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        by = f"of {point.dist.name}" if point.dist else "of an installed package"
        _register(point.name, point.value, "1b", {}, by)


def register_file(
    path: str | os.PathLike[str], name: str, *, level: str = "1b", **settings: Any
) -> str:
    """Write a file into the user's registry, and register it in this process; gives the id.

    ``level`` and ``settings`` are those of ``register_material``. Raises ``ValueError`` for a name
    that is taken or cannot be used, ``MaterialError`` for a bad file, ``OSError`` where the
    registry cannot be written.
    """
    from memenvs.envs.memorization.memorization_env import MemorizationEnv

    check_name(name, level)
    file = str(Path(path).resolve())
    try:
        digest = digest_of(file)
    except OSError as error:
        raise MaterialError(f"cannot be read: {error.strerror}", file=os.fspath(path)) from None
    MemorizationEnv(Path(file), **{**LEVELS[level], **settings})  # faults show now
    with _changed() as entries:
        if name in entries:  # by another process, since this one began
            raise ValueError(f"'{name}' is registered already; choose another name")
        entries[name] = {"file": file, "digest": digest, "level": level, "settings": settings}
    return register_named(name, RegisteredFile(name, file, digest), level, **settings)


def unregister(name: str) -> None:
    """Take a name out of the user's registry; its file stays.

    Raises ``ValueError`` for a name that is not there, ``OSError`` where it cannot be written.
    """
    with _changed() as entries:
        if name not in entries:
            known = f"it holds {', '.join(entries)}" if entries else "it holds no names"
            raise ValueError(f"'{name}' is not in {registry_path()}; {known}")
        del entries[name]
    forget(name)


def _register(name: str, source: Any, level: str, settings: dict[str, Any], by: str) -> None:
    try:
        register_named(name, source, level, **settings)
    except (TypeError, ValueError) as error:
        LOG.warning("the material '%s' %s is left out: %s", name, by, error)


def _config_folder() -> Path:
    """Give the folder that platformdirs gives, which is not imported: it would cost more than this.

    Raises ``RuntimeError`` for a user without a home.
    """
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _read(path: Path) -> Entries:
    """Read the registry, empty where there is none; raises ``ValueError`` that names the file."""
    if not path.exists():
        return {}
    document = read_sealed(read_bounded(path, LONGEST), FORMAT, "registry of materials", str(path))
    entries = document.get("materials")
    if not isinstance(entries, dict) or not all(map(_is_entry, entries.values())):
        raise MaterialError(
            "a material lacks a file, digest, level or settings; delete it, and register anew",
            file=str(path),
        )
    return entries


def _is_entry(entry: Any) -> bool:
    wanted = {"file": str, "digest": str, "level": str, "settings": dict}
    return (
        isinstance(entry, dict)
        and entry.keys() == wanted.keys()
        and all(isinstance(entry[field], kind) for field, kind in wanted.items())
        and len(entry["file"]) < 2**15
        and all(map(_is_setting, entry["settings"].values()))
    )


def _is_setting(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


@contextmanager
def _changed() -> Iterator[Entries]:
    """Give the entries to be changed, and write them; other processes wait meanwhile."""
    path = registry_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.with_name(f"{path.name}.lock")):
        entries = _read(path)
        yield entries
        document = sealed({"format": FORMAT, "materials": entries})
        write_whole(path, (json.dumps(document, indent=1) + "\n").encode())


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file's lock; the system frees it when the process ends, however it ends."""
    with path.open("ab") as stream:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
