"""Published data sets made into materials, with an account of everything that was not kept."""

from __future__ import annotations

import importlib
import inspect
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from memenvs.errors import MaterialError
from memenvs.material.files import save_lines
from memenvs.material.material import Material
from memenvs.strict_json import json_type

Kind: TypeAlias = Literal["left out", "normalised"]

# Names on the command line; strings, so that reading one data set imports no other's reader.
CONVERTERS: dict[str, str] = {
    "2wikimultihopqa": "memenvs.materials.datasets.hotpotqa:read_hotpotqa",
    "climate-fever": "memenvs.materials.datasets.climate_fever:read_climate_fever",
    "entailment-bank": "memenvs.materials.datasets.entailment_bank:read_entailment_bank",
    "friendsqa": "memenvs.materials.datasets.friendsqa:read_friendsqa",
    "hotpotqa": "memenvs.materials.datasets.hotpotqa:read_hotpotqa",
    "locomo": "memenvs.materials.datasets.locomo:read_locomo",
    "longmemeval": "memenvs.materials.datasets.longmemeval:read_longmemeval",
    "musique": "memenvs.materials.datasets.musique:read_musique",
    "poisonedrag": "memenvs.materials.datasets.poisonedrag:read_poisonedrag",
    "strategyqa": "memenvs.materials.datasets.strategyqa:read_strategyqa",
}


@dataclass(frozen=True)
class Note:
    """One thing of a data set that the materials hold otherwise, or not at all."""

    kind: Kind
    material: str
    record: str
    reason: str  # the same words for the same cause, so that causes can be counted
    field: str = ""
    found: str = ""  # what stood there

    def __str__(self) -> str:
        field = f"field '{self.field}'" if self.field else ""
        where = ", ".join(part for part in (self.material, self.record, field) if part)
        return f"{self.kind}: {where}: {self.reason}{f' ({self.found})' if self.found else ''}"


@dataclass(frozen=True)
class Conversion:
    """Materials in the data set's order, and what was left out of them or normalised."""

    materials: tuple[Material, ...]
    notes: tuple[Note, ...]

    def summary(self) -> dict[tuple[Kind, str], int]:
        """Count the notes by kind and reason, most frequent first."""
        return dict(Counter((note.kind, note.reason) for note in self.notes).most_common())

    def report(self) -> str:
        """Say what was made of the data set: a line a material, then a line a reason."""
        made = [
            f"{m.name}: {len(m.claims)} claims, {len(m.items)} items, {len(m.queries)} queries"
            for m in self.materials
        ]
        noted = [f"{kind}: {n} x {reason}" for (kind, reason), n in self.summary().items()]
        return "\n".join([*made, *noted])

    def save(self, path: str | os.PathLike[str], *, strict: bool = False) -> None:
        """Write one JSON Lines file, a material a line, whatever the file is called.

        Raises ``MaterialError`` where the file cannot be written and, if ``strict``, where there
        are notes; then nothing is written.
        """
        if strict and self.notes:
            raise MaterialError(
                f"{len(self.notes)} records were left out or normalised, which --strict forbids; "
                f"first: {self.notes[0]}"
            )
        save_lines(self.materials, path)


def convert(kind: str, path: str | os.PathLike[str], **options: Any) -> Conversion:
    """Read a data set of the ``kind`` that ``CONVERTERS`` names, with its reader's ``options``.

    Raises ``MaterialError`` for an unknown kind, an option that its reader has not, and a file of
    another shape.
    """
    if kind not in CONVERTERS:
        raise MaterialError(f"'{kind}' is no known data set; choose {' or '.join(CONVERTERS)}")
    module, _, function = CONVERTERS[kind].partition(":")
    read: Callable[..., Conversion] = getattr(importlib.import_module(module), function)
    unknown = [name for name in options if name not in inspect.signature(read).parameters]
    if unknown:
        raise MaterialError(f"--{unknown[0]} does not belong to {kind}; leave it out")
    return read(path, **options)


def expect(value: Any, wanted: type[dict[Any, Any]] | type[list[Any]], what: str) -> None:
    """Raise ``MaterialError`` unless a whole JSON value has the type that the data set has."""
    if not isinstance(value, wanted):
        raise MaterialError(f"holds {json_type(value)}, not {json_type(wanted())} of {what}")


def member(owner: dict[str, Any], field: str, wanted: type | tuple[type, ...]) -> Any:
    """Give a field of a JSON object, which must be there and of one of the ``wanted`` types.

    Raises ``MaterialError`` that names the field; a boolean is no number.
    """
    if field not in owner:
        raise MaterialError("is missing; add it", field=field)
    types = wanted if isinstance(wanted, tuple) else (wanted,)
    if type(owner[field]) not in types:
        names = " or ".join(dict.fromkeys(json_type(kind()) for kind in types))
        raise MaterialError(f"should be {names}, not {json_type(owner[field])}", field=field)
    return owner[field]
