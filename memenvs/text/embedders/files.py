"""Model folders: where a model lies, and whether it is still the one that was described."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError
from memenvs.storage.trusted import remember, remembered

CHUNK = 2**20


@cache
def digest_of(path: Path) -> str:
    """Give the SHA-256 of a file, or of a folder's files and their names."""
    if not path.exists():
        raise MaterialError("is not there; name the file or folder of a model", file=str(path))
    digest = hashlib.sha256()
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        digest.update(f"{file.relative_to(path).as_posix()}:{file.stat().st_size}:".encode())
        with file.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def described_path(description: Mapping[str, Any]) -> str:
    """Give the path of a described model, which the user named on this machine; no file says it.

    A description holds the model's digest alone. Raises ``MaterialError`` where the user never
    named such a model, or another one lies there now.
    """
    digest = str(description["digest"])
    path = remembered(digest)
    if not path:
        raise MaterialError(
            f"is a model (digest {digest:.12}) that was not used on this machine; give encoder=, "
            "or name it once: memenvs trust PATH"
        )
    if digest_of(Path(path)) != digest:
        raise MaterialError("is another model than the one described; embed anew", file=path)
    return path


def describe_path(path: str) -> dict[str, Any]:
    """Describe a model on disk by what it holds, and remember for this user where it lies."""
    digest = digest_of(Path(path))
    remember(digest, str(Path(path).absolute()))
    return {"digest": digest}
