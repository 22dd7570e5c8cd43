"""The file of a tree: JSON lines, each a change that is on the disk before it is acknowledged."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from operator import index
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from memenvs.errors import MaterialError
from memenvs.policies.weighted_tree.configurations import Configuration, History, configuration
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.events import apply_checked
from memenvs.policies.weighted_tree.state import State
from memenvs.policies.weighted_tree.versions import CONSTANTS, EARLIER, raised
from memenvs.storage.handles import Handle, unopened
from memenvs.storage.reading import check_format, checked
from memenvs.storage.strict import Strict
from memenvs.storage.whole import write_whole
from memenvs.strict_json import parse_json

FORMAT = "memenvs.weighted-tree/3"
BEGINNINGS = tuple(f'{{"format":"{name}"'.encode() for name in (FORMAT, EARLIER))
NO_EVENT = "is no event of a tree; restore the file from a copy, or use WeightedTree.salvage"
SUM = 16  # characters of a line's sum
BEGUN = ""  # before the first line


class Journal:
    """Appends events to a file, each with fsync; opened by ``Journal.open``."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._size, self._sum = 0, BEGUN  # of what is acknowledged

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> tuple[Journal, list[Any]]:
        """Read the events of a file and go on writing it; a new file is made where none is.

        What a kill left of a last line is passed over, and written over. Raises ``MaterialError``
        that names the file and the line, also where the file is open already.
        """
        journal = cls(Handle(path))
        try:
            content = journal._handle.stream.readall()
            events, journal._size, journal._sum = read_events(content, os.fspath(path))
        except BaseException:
            journal.close()
            raise
        return journal, events

    def append(self, event: dict[str, Any]) -> None:
        """Write one event; it survives a kill once this returns.

        Raises ``OSError``, or ``ValueError`` for what JSON cannot hold, and for a file that is
        closed, belongs to another process or was replaced; the file stays as it was.
        """
        line, stream = line_of(event, self._sum), self._handle.stream
        stream.truncate(self._size)  # a rest would outlast a shorter line
        stream.seek(self._size)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[stream.write(rest) or 0 :]
            os.fsync(stream.fileno())
        except OSError:
            stream.truncate(self._size)
            raise
        self._size, self._sum = self._size + len(line), sum_of(line)

    def holds(self, path: str | os.PathLike[str]) -> bool:
        """Tell whether a path leads to this file, however it is spelled."""
        return Path(os.path.realpath(path)) == self._handle.path

    def rewrite(self, events: list[dict[str, Any]]) -> None:
        """Replace all events, whole or not at all, and go on; raises ``OSError``."""
        content, last = _written(events)
        self._handle.rewrite(content)
        self._size, self._sum = len(content), last

    def close(self) -> None:
        """Close the file."""
        self._handle.close()


def read_events(content: bytes, file: str) -> tuple[list[Any], int, str]:
    """Give the whole lines of a file, parsed, the bytes that they take, and the last one's sum."""
    size = content.rfind(b"\n") + 1
    if not any(content[: len(known)] == known[: len(content)] for known in BEGINNINGS):
        raise foreign(content, file)  # and no torn first line of a tree
    events, last = [], BEGUN
    for number, line in enumerate(content[:size].split(b"\n")[:-1], start=1):
        try:
            event, last = event_of(line, last)
        except ValueError:
            raise MaterialError(NO_EVENT, record=f"line {number}", file=file) from None
        events.append(event)
    return events, size, last


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
    try:
        head = checked(_Header, events[0], file)
        constants_then = CONSTANTS if head.format == EARLIER else {}
        kept = head.switches(), Constants(**(constants_then | head.constants))
    except (TypeError, ValueError):
        raise MaterialError(
            "names no configuration and constants of this version", record="line 1", file=file
        ) from None
    if (switches or kept[0], constants or kept[1]) != kept:
        raise MaterialError("was begun with another configuration or constants", file=file)
    return kept


def outdated(events: list[Any]) -> bool:
    """Tell whether a file is of an earlier version, to be written anew."""
    return bool(events) and events[0]["format"] == EARLIER


def replay(state: State, events: list[Any], file: str) -> None:
    """Make the changes of all lines but the first; raises ``MaterialError`` that names the line."""
    for number, event in enumerate(events, start=2):
        try:
            apply_checked(state, raised(event))
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
            raise MaterialError(NO_EVENT, record=f"line {number}", file=file) from None


def write_events(path: str | os.PathLike[str], events: list[dict[str, Any]]) -> None:
    """Write a file whole or not at all, and on the disk.

    Raises ``OSError``, and ``MaterialError`` where the file is open.
    """
    with unopened(path):
        write_whole(Path(path), _written(events)[0])


def line_of(event: dict[str, Any], before: str) -> bytes:
    """Give an event's line, with its sum; raises ``ValueError`` for what JSON cannot hold."""
    try:
        text = json.dumps(event, separators=(",", ":"), allow_nan=False, default=index)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"metadata holds what JSON cannot: {error}") from None
    body = text.encode()
    return b'%s,"sum":"%s"}\n' % (body[:-1], _sum(body, before).encode())


def sum_of(line: bytes) -> str:
    """Read the sum that a line says it has."""
    return line.rstrip(b"\n")[-SUM - 2 : -2].decode("ascii", "replace")


def _written(events: list[dict[str, Any]]) -> tuple[bytes, str]:
    lines, last = [], BEGUN
    for event in events:
        lines.append(line_of(event, last))
        last = sum_of(lines[-1])
    return b"".join(lines), last


def event_of(line: bytes, before: str) -> tuple[dict[str, Any], str]:
    """Parse a line whose sum holds; raises ``ValueError`` for any other."""
    end, found = b',"sum":"%s"}' % line[-SUM - 2 : -2], sum_of(line)
    body = line[: -len(end)] + b"}"
    if not line.endswith(end) or _sum(body, before) != found:
        raise ValueError("was changed")
    event = parse_json(body.decode(), "")
    if not isinstance(event, dict):
        raise ValueError("is no object")
    return event, found


def _sum(body: bytes, before: str) -> str:
    """Sum up a line and all before it: none can be changed, left out or put elsewhere unseen."""
    return hashlib.sha256(before.encode() + body).hexdigest()[:SUM]


LOOSE = Field(strict=False)  # a list is taken for a tuple


class _Header(Strict):
    format: str
    configuration: Annotated[tuple[str, History, bool, bool, bool, bool, bool], LOOSE]
    constants: dict[str, Any]

    def switches(self) -> Configuration:
        """Give the configuration."""
        return Configuration(*self.configuration)


def foreign(content: bytes, file: str) -> MaterialError:
    """Say that a file is no tree, or one of another version."""
    try:
        document = parse_json(content.partition(b"\n")[0].decode(), file)
        check_format(document, FORMAT, "tree", file)
    except MaterialError as error:
        if error.field == "format":  # another version
            return error
    except ValueError:
        pass
    return MaterialError(
        f"is no tree that this version reads ('{FORMAT}')", field="format", file=file
    )
