"""Exports of chats and logs as JSON: each shape has a module, which says whether it knows a file.

A module has ``KEYS``, the fields that its shape is told by, ``recognises(head)``, and
``read(document, head)``. A new shape is a new module and its name in ``EXPORTS``.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memenvs.errors import MaterialError
from memenvs.strict_json import json_type
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.passages import Document, Passage

EXPORTS = (  # the first that knows a file reads it
    *(
        "slack",
        "twitter",
        "telegram",
        "discord",
        "messenger",
        "chatgpt",
        "claude",
        "gemini",
        "openai",
    ),
    *("langchain", "transcripts", "captions", "articles", "generic"),
)
ASSIGNED = re.compile(r"\A\s*window\.YTD\.[\w.]{1,80}\s*=")  # what Twitter puts before its JSON
LOOKED_AT = 20  # records from which a shape is told


@dataclass(frozen=True)
class Head:
    """The values of a JSON file, each with its place: one, or those of its lines."""

    values: list[tuple[str, Any]]

    def records(self) -> list[dict[str, Any]]:
        """Give the first objects, whether they stand in a list, on lines, or alone."""
        first = self.values[0][1] if len(self.values) == 1 else None
        listed = first if isinstance(first, list) else [value for _, value in self.values]
        return [value for value in listed[:LOOKED_AT] if isinstance(value, dict)]

    def entries(self) -> Iterator[tuple[str, Any]]:
        """Give all entries with their places: of a list, of lines, or the one value."""
        for where, value in self.values:
            if isinstance(value, list):
                label = f"{where}, entry" if where else "entry"
                yield from ((f"{label} {n}", entry) for n, entry in enumerate(value))
            else:
                yield where, value


def read_json(document: Document) -> Iterator[Passage]:
    """Give the messages of a JSON or JSON Lines file by the first module that knows its shape.

    Raises ``MaterialError`` that names the record, and for a shape that nobody knows its fields
    and the nearest known shape.
    """
    head = Head(_values(ASSIGNED.sub("", decoded(document)), document.name))
    for name in EXPORTS:
        module = importlib.import_module(f"{__name__}.{name}")
        if module.recognises(head):
            try:
                yield from module.read(document, head)
            except MaterialError as error:
                raise error.within(document.name, "") from None
            return
    raise MaterialError(_unknown(head), file=document.name)


def _unknown(head: Head) -> str:
    """Say what an unknown file holds, and which known shape is the nearest."""
    records = head.records()
    if not records:
        return f"is no message or conversation: it holds {json_type(head.values[0][1])}"
    found = list(dict.fromkeys(key for record in records for key in record))
    said = f"is no message: it has the fields {', '.join(found[:12]) or 'none'}"
    shapes = {name: importlib.import_module(f"{__name__}.{name}").KEYS for name in EXPORTS}
    shared = {name: len(set(keys) & set(found)) / len(keys) for name, keys in shapes.items()}
    nearest = max(shared, key=shared.__getitem__)
    if not shared[nearest]:
        nearest = "generic"
    return f"{said}; the nearest known shape is {nearest}, with {', '.join(shapes[nearest])}"


def _values(text: str, name: str) -> list[tuple[str, Any]]:
    """Read a whole JSON value, or one a line."""
    if not text.strip():
        raise MaterialError("is empty; give messages", file=name)
    try:
        return [("", json.loads(text))]
    except (ValueError, RecursionError):
        pass
    values = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                values.append((f"line {number}", json.loads(line)))
            except (ValueError, RecursionError):
                raise MaterialError(
                    "is not valid JSON", record=f"line {number}", file=name
                ) from None
    return values
