"""The memory as a file: JSON, written whole, read strictly."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memenvs.material.files import write_whole
from memenvs.policies.bisimulation.constants import Constants
from memenvs.policies.bisimulation.graph import TERMINALS

if TYPE_CHECKING:
    from memenvs.policies.bisimulation.memory import TransitionMemory

FORMAT = "memenvs.bisimulation/1"


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
    write_whole(Path(path), json.dumps(document).encode())


def load_memory(path: str | os.PathLike[str], kind: type[TransitionMemory]) -> TransitionMemory:
    """Read what ``save_memory`` wrote; raises ``ValueError`` for anything else."""
    try:
        document = json.loads(Path(path).read_text("utf-8"))
        if document.pop("format") != FORMAT:
            raise ValueError
        return _memory(document, kind)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ValueError(f"{os.fspath(path)} holds no bisimulation memory") from None


def _memory(document: dict[str, Any], kind: type[TransitionMemory]) -> TransitionMemory:
    memory = kind(document["rule"], Constants(**document["constants"]))
    for signature, label, elements in document["pages"]:
        memory.add_page(int(signature), int(label), frozenset(map(int, elements)))
    for template in document["templates"]:
        memory.template(int(template))
    nodes, actions = memory.graph.nodes, len(document["templates"])
    for page, times in document["begun"]:
        _check(0 <= page < len(document["pages"]) and times > 0)
        memory.graph.begin(page + TERMINALS, times)
    edges = document["edges"]
    for source, action, target, count, _ in edges:
        _check(TERMINALS <= source < nodes and 0 <= target < nodes)
        _check(0 <= action < actions and count > 0)
        memory.graph.record(source, action, target, count)
    memory.graph.restore([edge[-1] for edge in edges])
    return memory


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError
