"""What was computed before, on disk by content: an interrupted piece of work goes on from there."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError
from memenvs.storage.handles import Guard, one_at_a_time
from memenvs.storage.messages import one_line

MOST = 2**30  # bytes that a cache takes on disk


class Cache:
    """Bytes by key in one file of a folder; without a folder it holds nothing.

    Several threads and processes may use it at once. The file takes at most ``most`` bytes: of more
    the oldest values go. A value that was damaged is none. Raises ``MaterialError`` where the
    folder cannot be used, the file is damaged, or the disk is full.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, most: int = MOST) -> None:
        self.guard = Guard()
        self._most = most
        self._file = None if folder is None else Path(folder) / "cache.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        if self._file is not None:
            with self._using() as connection:
                connection.execute("SELECT 1 FROM checked LIMIT 1")

    @one_at_a_time
    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Give those of the keys that are known, with their values."""
        if self._file is None:
            return {}
        found: dict[bytes, bytes] = {}
        with self._using() as connection:
            for key in keys:
                rows = connection.execute("SELECT value, sum FROM checked WHERE key = ?", (key,))
                found.update((key, value) for value, sum_ in rows if _sum(key, value) == sum_)
        return found

    @one_at_a_time
    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values; they are on disk, all or none, when this returns."""
        if self._file is None or not values:
            return
        with self._using() as connection:
            self._make_room(connection)
            connection.executemany(
                "INSERT OR REPLACE INTO checked VALUES (?, ?, ?)",
                [(key, value, _sum(key, value)) for key, value in values.items()],
            )

    @one_at_a_time
    def close(self) -> None:
        """Let go of the file; it is opened again where it is used again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """Give the connection of this process, in a transaction."""
        assert self._file is not None
        try:
            if self._connection is None or self._process != os.getpid():
                self._connection, self._process = _opened(self._file), os.getpid()
            with self._connection:
                yield self._connection
        except (OSError, sqlite3.Error, OverflowError) as error:
            raise MaterialError(
                f"cannot be used as a cache: {one_line(str(error), 80)}; delete it, or name "
                "another folder",
                file=os.fspath(self._file),
            ) from None

    def _make_room(self, connection: sqlite3.Connection) -> None:
        def told(what: str) -> int:
            return int(connection.execute(f"PRAGMA {what}").fetchone()[0])

        if (told("page_count") - told("freelist_count")) * told("page_size") <= self._most:
            return
        count = connection.execute("SELECT COUNT(*) FROM checked").fetchone()[0]
        connection.execute(
            "DELETE FROM checked WHERE rowid IN (SELECT rowid FROM checked ORDER BY rowid LIMIT ?)",
            (count // 4 + 1,),
        )


def _opened(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # it holds users' texts
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(file, timeout=30.0, check_same_thread=False)
    with connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS checked "
            "(key BLOB PRIMARY KEY, value BLOB NOT NULL, sum BLOB NOT NULL)"
        )
    return connection


def _sum(key: bytes, value: object) -> bytes:
    return hashlib.sha256(key + value).digest() if isinstance(value, bytes) else b""


def content_key(*parts: Any) -> bytes:
    """Give the key of JSON values and bytes: equal contents have equal keys, others do not."""
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(f"{len(content)}:".encode() + content)
    return digest.digest()
