"""The file of a GUI memory: JSON lines, each on the disk before it is acknowledged.

The first line says how many bytes behind it are acknowledged, and their checksum: what a kill left
behind them is cut off, and a file of which anything else is damaged is refused.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.files import sync_folder, write_whole

FORMAT = "memenvs.gui/1"
Event = list[Any]


def _head(size: int, checksum: int) -> bytes:
    return f'{{"format":"{FORMAT}","bytes":"{size:016d}","crc32":"{checksum:08x}"}}\n'.encode()


HEAD = len(_head(0, 0))


class Journal:
    """One open file, which no other process may open meanwhile."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._size = self._checksum = 0
        try:
            if not self.path.exists():
                write_whole(self.path, _head(0, 0))
            self._lock()
        except OSError as error:
            raise MaterialError(
                f"cannot be opened: {error.strerror}", file=os.fspath(path)
            ) from None

    def _lock(self) -> None:
        self._stream = self.path.open("r+b", buffering=0)
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._stream.close()
            raise MaterialError(
                "is open already; a memory has one writer", file=str(self.path)
            ) from None

    def read(self) -> list[Event]:
        """Give the acknowledged events; raises ``MaterialError`` where the file is damaged."""
        self._stream.seek(0)
        content = self._stream.readall() or b""
        try:
            head = json.loads(content[:HEAD])
            size, checksum = int(head["bytes"]), int(head["crc32"], 16)
            body = content[HEAD : HEAD + size]
            whole = content[:HEAD] == _head(size, checksum) and len(body) == size
            if not whole or zlib.crc32(body) != checksum:
                raise ValueError
            events = [json.loads(line) for line in body.splitlines()]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise MaterialError(
                "is no GUI memory, or was damaged; restore it from a copy", file=str(self.path)
            ) from None
        self._size, self._checksum = size, checksum
        self._stream.truncate(HEAD + size)
        return events

    def append(self, events: Iterable[Event]) -> None:
        """Write events; they survive a kill once this returns."""
        lines = _lines(events)
        self._write(HEAD + self._size, lines)
        size, checksum = self._size + len(lines), zlib.crc32(lines, self._checksum)
        self._write(0, _head(size, checksum))
        self._size, self._checksum = size, checksum

    def _write(self, place: int, content: bytes) -> None:
        self._stream.seek(place)
        while content:
            content = content[self._stream.write(content) :]
        os.fsync(self._stream.fileno())

    def replace(self, events: Iterable[Event]) -> None:
        """Put other events in place of all; the file holds the old ones or the new ones."""
        lines = _lines(events)
        write_whole(self.path, _head(len(lines), zlib.crc32(lines)) + lines)
        sync_folder(self.path.parent)
        self._stream.close()
        self._lock()
        self._size, self._checksum = len(lines), zlib.crc32(lines)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()


def _lines(events: Iterable[Event]) -> bytes:
    return b"".join(json.dumps(e, separators=(",", ":")).encode() + b"\n" for e in events)
