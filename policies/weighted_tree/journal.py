"""The file of a tree: JSON lines, each a change that is on the disk before it is acknowledged."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from io import FileIO
from operator import index
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.files import sync_folder, write_whole
from memenvs.policies.weighted_tree.configurations import Configuration, configuration
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.state import State

FORMAT = "memenvs.weighted-tree/1"
BEGINNING = f'{{"format":"{FORMAT}"'.encode()
NO_EVENT = "is no event of a tree; restore the file from a copy"


class Journal:
    """Appends events to a file, each with fsync; opened by ``Journal.open``."""

    def __init__(self, path: Path, stream: FileIO) -> None:
        self.path, self._stream = path, stream
        self._size = 0  # of what is acknowledged

    @classmethod
    def open(cls, path: Path) -> tuple[Journal, list[Any]]:
        """Read the events of a file and go on writing it; a new file is made where none is.

        What a kill left of a last line is passed over, and written over. Raises ``MaterialError``
        that names the file and the line, also where the file is open already.
        """
        try:
            if not path.exists():
                path.open("xb").close()
                sync_folder(path.parent)
            stream = path.open("r+b", buffering=0)
        except OSError as error:
            raise MaterialError(f"cannot be opened: {error.strerror}", file=str(path)) from None
        journal = cls(path, stream)
        try:
            _lock(stream, path)
            events, journal._size = read_events(stream.readall(), str(path))
        except BaseException:
            journal.close()
            raise
        return journal, events

    def append(self, event: dict[str, Any]) -> None:
        """Write one event; it survives a kill once this returns.

        Raises ``OSError``, or ``ValueError`` for what JSON cannot hold; the file stays as it was.
        """
        line = line_of(event)
        self._stream.truncate(self._size)  # a rest would outlast a shorter line
        self._stream.seek(self._size)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._stream.write(rest) or 0 :]
            os.fsync(self._stream.fileno())
        except OSError:
            self._stream.truncate(self._size)
            raise
        self._size += len(line)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def read_events(content: bytes, file: str) -> tuple[list[Any], int]:
    """Give the whole lines of a file, parsed, and the bytes that they take."""
    size = content.rfind(b"\n") + 1
    if not size and content[: len(BEGINNING)] != BEGINNING[: len(content)]:
        raise _foreign(file)  # and no torn first line of a tree
    events = []
    for number, line in enumerate(content[:size].split(b"\n")[:-1], start=1):
        try:
            event = json.loads(line.decode())
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            raise MaterialError(NO_EVENT, record=f"line {number}", file=file)
        events.append(event)
    return events, size


def header(switches: Configuration, constants: Constants) -> dict[str, Any]:
    """Give the first line of a file."""
    return {
        "format": FORMAT,
        "configuration": list(switches),
        "constants": asdict(constants),
    }


def heading(
    events: list[Any], file: str, switches: Configuration | None, constants: Constants | None
) -> tuple[Configuration, Constants]:
    """Read the first line: switches and constants; raises ``MaterialError`` where others are given.

    A file without lines has the given ones, or else those of the full configuration.
    """
    if not events:
        return switches or configuration("full"), constants or Constants()
    head = events[0]
    if head.get("format") != FORMAT:
        raise _foreign(file)
    try:
        kept = Configuration(*head["configuration"]), Constants(**head["constants"])
    except (KeyError, TypeError, ValueError):
        raise MaterialError(
            "names no configuration and constants of this version", record="line 1", file=file
        ) from None
    if (switches or kept[0], constants or kept[1]) != kept:
        raise MaterialError("was begun with another configuration or constants", file=file)
    return kept


def replay(state: State, events: list[Any], file: str) -> None:
    """Make the changes of all lines but the first; raises ``MaterialError`` that names the line."""
    for number, event in enumerate(events, start=2):
        try:
            state.apply(event)
        except (LookupError, TypeError, AttributeError, ValueError):
            raise MaterialError(NO_EVENT, record=f"line {number}", file=file) from None


def write_events(path: Path, events: list[dict[str, Any]]) -> None:
    """Write a file whole or not at all, and on the disk; raises ``OSError``."""
    write_whole(path, b"".join(line_of(event) for event in events))


def line_of(event: dict[str, Any]) -> bytes:
    """Give an event's line; raises ``ValueError`` for what JSON cannot hold."""
    try:
        line = json.dumps(event, separators=(",", ":"), allow_nan=False, default=index)
        return line.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"metadata holds what JSON cannot: {error}") from None


def _foreign(file: str) -> MaterialError:
    return MaterialError(
        f"is no tree that this version reads ('{FORMAT}')", field="format", file=file
    )


def _lock(stream: FileIO, path: Path) -> None:
    """Keep others out while the file is open; the system lets go when this process ends."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise MaterialError("is open elsewhere; close that tree first", file=str(path)) from None
