"""The memory as a file: JSON, written whole, read strictly."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from memenvs.errors import MaterialError
from memenvs.policies.bisimulation.constants import Constants
from memenvs.policies.bisimulation.graph import TERMINALS
from memenvs.storage.reading import checked, read_bounded, read_sealed, sealed
from memenvs.storage.strict import Strict
from memenvs.storage.whole import write_whole

if TYPE_CHECKING:
    from memenvs.policies.bisimulation.memory import TransitionMemory

FORMAT = "memenvs.bisimulation/2"
LONGEST = 2**29  # bytes of a file
Place = Annotated[int, Field(ge=0, lt=2**40)]
Times = Annotated[int, Field(ge=1, le=2**40)]
LOOSE = Field(strict=False)  # a list is taken for a tuple


class _Document(Strict):
    rule: str
    constants: dict[str, float | int]
    pages: list[Annotated[tuple[int, int, list[int]], LOOSE]]
    templates: list[int]
    begun: list[Annotated[tuple[Place, Times], LOOSE]]
    edges: list[Annotated[tuple[Place, Place, Place, Times, Place], LOOSE]]


def save_memory(memory: TransitionMemory, path: str | os.PathLike[str]) -> None:
    """Write a memory, which then is on the disk; an older file stays whole until the new one is."""
    pages = memory.pages()
    document = {
        "format": FORMAT,
        "rule": memory.rule,
        "constants": asdict(memory.constants),
        "pages": [[*page[:2], sorted(page[2])] for page in pages],
        "templates": memory.templates(),
        "begun": [[node - TERMINALS, times] for node, times in memory.graph.first.items()],
        "edges": memory.graph.edges.T.tolist(),
    }
    write_whole(Path(path), json.dumps(sealed(document)).encode())


def load_memory(path: str | os.PathLike[str], kind: type[TransitionMemory]) -> TransitionMemory:
    """Read what ``save_memory`` wrote; raises ``MaterialError`` for anything else."""
    file = os.fspath(path)
    found = read_sealed(read_bounded(path, LONGEST), FORMAT, "bisimulation memory", file)
    document = checked(_Document, found, file)
    try:
        return _memory(document, kind)
    except (ValueError, LookupError, TypeError, OverflowError):
        raise MaterialError(
            "is no bisimulation memory: its parts do not go together", file=file
        ) from None


def _memory(document: _Document, kind: type[TransitionMemory]) -> TransitionMemory:
    constants: dict[str, Any] = document.constants
    memory = kind(document.rule, Constants(**constants))
    for signature, label, elements in document.pages:
        memory.add_page(signature, label, frozenset(elements))
    for template in document.templates:
        memory.template(template)
    nodes, actions = memory.graph.nodes, len(document.templates)
    _check(nodes == len(document.pages) + TERMINALS and len({*document.templates}) == actions)
    for page, times in document.begun:
        _check(page < len(document.pages))
        memory.graph.begin(page + TERMINALS, times)
    for source, action, target, count, _ in document.edges:
        _check(TERMINALS <= source < nodes and target < nodes and action < actions)
        memory.graph.record(source, action, target, count)
    _check(memory.graph.edges.shape[1] == len(document.edges))  # each is told once
    memory.graph.restore([edge[-1] for edge in document.edges])
    return memory


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError
