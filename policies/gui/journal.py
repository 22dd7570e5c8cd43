"""The file of a GUI memory: JSON lines, each on the disk before it is acknowledged.

The first line says how many bytes behind it are acknowledged, and their checksum: what a kill left
behind them is cut off, and a file of which anything else is damaged is refused.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from typing import Any

from memenvs.errors import MaterialError
from memenvs.storage.handles import Handle

FORMAT = "memenvs.gui/1"
Event = list[Any]


def _head(size: int, checksum: int) -> bytes:
    return f'{{"format":"{FORMAT}","bytes":"{size:016d}","crc32":"{checksum:08x}"}}\n'.encode()


HEAD = len(_head(0, 0))


class Journal:
    """One open file, which no other process may open meanwhile."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._size = self._checksum = 0
        self._handle = Handle(path)
        self.path = self._handle.path
        if not self.path.stat().st_size:
            try:
                self._handle.rewrite(_head(0, 0))
            except OSError as error:
                self._handle.close()
                raise MaterialError(
                    f"cannot be opened: {error.strerror}", file=os.fspath(path)
                ) from None

    def read(self) -> list[Event]:
        """Give the acknowledged events; raises ``MaterialError`` where the file is damaged."""
        stream = self._handle.stream
        stream.seek(0)
        content = stream.readall() or b""
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
        stream.truncate(HEAD + size)
        return events

    def append(self, events: Iterable[Event]) -> None:
        """Write events; they survive a kill once this returns."""
        lines = _lines(events)
        self._write(HEAD + self._size, lines)
        size, checksum = self._size + len(lines), zlib.crc32(lines, self._checksum)
        self._write(0, _head(size, checksum))
        self._size, self._checksum = size, checksum

    def _write(self, place: int, content: bytes) -> None:
        stream = self._handle.stream
        stream.seek(place)
        while content:
            content = content[stream.write(content) :]
        os.fsync(stream.fileno())

    def replace(self, events: Iterable[Event]) -> None:
        """Put other events in place of all; the file holds the old ones or the new ones."""
        lines = _lines(events)
        self._handle.rewrite(_head(len(lines), zlib.crc32(lines)) + lines)
        self._size, self._checksum = len(lines), zlib.crc32(lines)

    def close(self) -> None:
        """Let go of the file."""
        self._handle.close()


def _lines(events: Iterable[Event]) -> bytes:
    return b"".join(json.dumps(e, separators=(",", ":")).encode() + b"\n" for e in events)
