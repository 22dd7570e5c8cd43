"""What was computed before, on disk by content: an interrupted piece of work goes on from there."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError


class Cache:
    """Bytes by key in one file of a folder; without a folder it holds nothing.

    Several processes may use it at once. Raises ``MaterialError`` where the folder cannot be used.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._connection: sqlite3.Connection | None = None
        if folder is None:
            return
        file = Path(folder) / "cache.sqlite"
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # it holds users' texts
            self._connection = sqlite3.connect(file, timeout=30.0)
            with self._connection:
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
                )
        except (OSError, sqlite3.Error) as error:
            raise MaterialError(
                f"cannot be used as a cache: {error}; name another folder", file=os.fspath(folder)
            ) from None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Give those of the keys that are known, with their values."""
        if self._connection is None:
            return {}
        found: dict[bytes, bytes] = {}
        for key in keys:
            rows = self._connection.execute("SELECT value FROM kept WHERE key = ?", (key,))
            found.update((key, value) for (value,) in rows)
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values; they are on disk, all or none, when this returns."""
        if self._connection is not None and values:
            with self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO kept VALUES (?, ?)", values.items()
                )

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def content_key(*parts: Any) -> bytes:
    """Give the key of JSON values and bytes: equal contents have equal keys, others do not."""
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(f"{len(content)}:".encode() + content)
    return digest.digest()
