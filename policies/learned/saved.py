"""The card of a saved model: what it is, what it was trained in, and which columns it reads."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from memenvs.envs.memorization.layout import Columns, Layout
from memenvs.material.files import write_whole

ENTRY = "memenvs.json"  # of the model's zip file
KINDS = ("sb3", "estimator")


@dataclass(frozen=True)
class ModelCard:
    """What a saved model says of itself; it travels inside the model's zip file."""

    kind: str  # "sb3" or "estimator"
    algorithm: str
    network: str
    settings: dict[str, Any]  # of the environment it was trained in
    columns: dict[str, list[str]]  # of each array of the observation: names, widths where not 1
    rules: dict[str, Any]  # dataclasses.asdict of the Rules
    encoder: dict[str, Any]  # {"name": ..., and its parameters}
    trained_on: list[str]  # names of the training materials, or "TIER-train"
    seed: int
    steps: int
    versions: dict[str, str]


def write_card(path: str | os.PathLike[str], card: ModelCard) -> None:
    """Add the card to a model's zip file, or replace the one it has; never leaves half a file.

    Raises ``ValueError`` where the file is no zip file, ``OSError`` where it cannot be written.
    """
    text = json.dumps(asdict(card), indent=1, sort_keys=True)
    changed = io.BytesIO()
    with _opened(path) as old, zipfile.ZipFile(changed, "w") as new:
        for entry in old.infolist():
            if entry.filename != ENTRY:
                new.writestr(entry, old.read(entry))
        new.writestr(zipfile.ZipInfo(ENTRY), text)  # no time of writing: equal cards, equal bytes
    write_whole(Path(path), changed.getvalue())


def read_card(path: str | os.PathLike[str]) -> ModelCard:
    """Read the card of a model's zip file; raises ``ValueError`` that says what is wrong."""
    with _opened(path) as archive:
        if ENTRY not in archive.namelist():
            raise ValueError(
                f"{os.fspath(path)}: holds no '{ENTRY}', so it is no model that memenvs saved; "
                "train it with 'memenvs train', or add a card with write_card"
            )
        try:
            found = json.loads(archive.read(ENTRY))
        except (ValueError, zipfile.BadZipFile):
            raise ValueError(f"{os.fspath(path)}: its '{ENTRY}' is damaged") from None
    return _checked(found, os.fspath(path))


def column_names(layout: Layout) -> dict[str, list[str]]:
    """Name the columns of each array of an observation, with the width where it is not 1.

    Two layouts with equal names show a network the same numbers in the same places.
    """
    names = {"claim": layout.claim, "memory": layout.memory}
    names |= {"queries": layout.queries, "context": layout.context}
    if layout.pool:
        names["claims"] = layout.claim
    return {array: names_of(columns, layout.limits.cues) for array, columns in names.items()}


def names_of(columns: Columns, cues: tuple[str, ...] = ()) -> list[str]:
    """Name the columns of one array, with the width where it is not 1."""
    names: list[str] = []
    for name, place in columns.slices.items():
        width = place.stop - place.start
        if name in ("cues", "source_cues"):
            names += [f"{name}.{cue}" for cue in cues]
        else:
            names.append(name if width == 1 else f"{name}*{width}")
    return names


def _opened(path: str | os.PathLike[str]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise ValueError(f"{os.fspath(path)}: is no zip file, so no saved model") from None
    except OSError as error:
        raise ValueError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from None


def _checked(found: Any, file: str) -> ModelCard:
    if not isinstance(found, dict):
        raise ValueError(f"{file}: '{ENTRY}' holds no JSON object")
    types = {"str": str, "int": int, "dict": dict, "list": list}
    known = {field.name: types[str(field.type).partition("[")[0]] for field in fields(ModelCard)}
    for name in sorted(known.keys() ^ found.keys()):
        what = "is missing" if name in known else "is unknown; a newer memenvs may have written it"
        raise ValueError(f"{file}: {ENTRY}: '{name}' {what}")
    for name, kind in known.items():
        if not isinstance(found[name], kind):
            raise ValueError(f"{file}: {ENTRY}: '{name}' is no {kind.__name__}")
    for name, texts in (*found["columns"].items(), ("trained_on", found["trained_on"])):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{file}: {ENTRY}: '{name}' is no list of texts")
    if found["kind"] not in KINDS:
        raise ValueError(
            f"{file}: {ENTRY}: kind {found['kind']!r} is unknown; it is one of {', '.join(KINDS)}"
        )
    return ModelCard(**found)
