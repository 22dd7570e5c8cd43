"""What can be had of a damaged file of a tree: all whole lines up to the damage."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from memenvs.errors import MaterialError
from memenvs.policies.weighted_tree.events import apply_checked
from memenvs.policies.weighted_tree.journal import (
    BEGINNINGS,
    BEGUN,
    event_of,
    foreign,
    heading,
    sum_of,
    write_events,
)
from memenvs.policies.weighted_tree.state import State
from memenvs.policies.weighted_tree.versions import raised
from memenvs.storage.messages import clipped, visible
from memenvs.storage.reading import read_bounded

LONGEST = 2**31  # bytes of a file


@dataclass(frozen=True)
class Salvaged:
    """How many lines were kept, the first among them, and what was dropped: a sentence a line."""

    kept: int
    dropped: tuple[str, ...]


def salvaged(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Salvaged:
    """Write the changes before the first damaged line to another file; see ``WeightedTree``."""
    file = os.fspath(path)
    if os.path.realpath(path) == os.path.realpath(out):
        raise MaterialError("is what is to be salvaged; name another file", file=file)
    lines = read_bounded(path, LONGEST).split(b"\n")
    if not lines[0].startswith(BEGINNINGS):
        raise foreign(lines[0], file)
    kept: list[dict[str, Any]] = []
    dropped: list[str] = []
    before, state = BEGUN, State(*heading([], file, None, None))
    for number, line in enumerate(lines, start=1):
        if not line and number == len(lines):
            continue  # the file ends with a whole line
        try:
            event: dict[str, Any] | None = event_of(line, before)[0]
            if event is not None and not dropped:
                if kept:
                    apply_checked(state, raised(event))
                else:
                    state = State(*heading([event], file, None, None))
                kept.append(event)
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
            event = None
        if len(kept) + len(dropped) < number:
            dropped.append(_said(number, event))
        before = sum_of(line)
    if not kept:
        raise MaterialError("its first line is damaged: nothing can be had of it", file=file)
    write_events(out, kept)
    return Salvaged(len(kept), tuple(dropped))


def _said(number: int, event: dict[str, Any] | None) -> str:
    if event is None:
        return f"line {number}: damaged"
    told = f": {visible(clipped(str(event['text'])))}" if "text" in event else ""
    return f"line {number}: whole, after a damaged one ({clipped(str(event.get('op')))}){told}"
