"""The card of a saved model: what it is, what it was trained in, and which columns it reads."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from memenvs.envs.memorization.layout import Columns, Layout
from memenvs.errors import MaterialError
from memenvs.storage import archives
from memenvs.storage.archives import Archive, digests_of, packed
from memenvs.storage.messages import clipped
from memenvs.storage.reading import digest_of, read_bounded, read_sealed, sealed
from memenvs.storage.trusted import remember, remembered
from memenvs.storage.whole import write_whole

FORMAT = "memenvs.model/1"
LONGEST = 2**31  # bytes of a model, and that it unpacks to
MOST = 2**53
TOO_WIDE = re.compile(r"\*[0-9]{6}")  # of a column: more numbers than an encoder gives
ENTRY = "memenvs.json"  # of the model's zip file
KINDS = ("sb3", "estimator", "reader-estimator")


@dataclass(frozen=True)
class ModelCard:
    """What a saved model says of itself; it travels inside the model's zip file."""

    kind: str  # one of KINDS
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

    Who adds a card vouches for the file: pickles in it are trusted by this user from now on. Raises
    ``ValueError`` where the file is no zip file, ``OSError`` where it cannot be written.
    """
    archive = _opened(path)
    save_entries(path, {name: archive.read(name) for name in archive.names}, card)


def save_entries(
    path: str | os.PathLike[str], entries: Mapping[str, bytes], card: ModelCard
) -> None:
    """Write a model's entries with its card, whole or not at all; raises ``OSError``."""
    others = {name: content for name, content in entries.items() if name != ENTRY}
    document = asdict(card) | {
        "format": FORMAT,
        "entries": digests_of(others),
    }
    text = json.dumps(sealed(json.loads(json.dumps(document))), indent=1, sort_keys=True)
    content = packed({**others, ENTRY: text.encode()}, compress=False)
    write_whole(Path(path), content)
    remember(sha256(content).hexdigest())


def read_card(path: str | os.PathLike[str]) -> ModelCard:
    """Read the card of a model's zip file; raises ``ValueError`` that says what is wrong."""
    file, archive = os.fspath(path), _opened(path)
    if ENTRY not in archive.names:
        raise MaterialError(
            f"holds no '{ENTRY}', so it is no model that memenvs saved; train it with 'memenvs "
            "train', or add a card with write_card",
            file=file,
        )
    found = read_sealed(archive.read(ENTRY, archives.TEXT), FORMAT, "model", file)
    entries = found.pop("entries", None)
    card = _checked(found, file)
    archive.check(entries, ENTRY)
    return card


def check_trusted(path: str | os.PathLike[str], trust: bool) -> None:
    """Raise ``ValueError`` unless the pickles of a file may be loaded, which runs what they say.

    They may where the user says so, and where this very content was made, or trusted once, by this
    user on this machine.
    """
    if trust or remembered(digest_of(path)) is not None:
        return
    raise MaterialError(
        "holds pickles, and loading them runs whatever their maker wrote; if you trust its maker, "
        "give trust=True, or run once: memenvs trust FILE",
        file=os.fspath(path),
    )


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


def _opened(path: str | os.PathLike[str]) -> Archive:
    content = read_bounded(path, LONGEST)
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise MaterialError("is no zip file, so no saved model", file=os.fspath(path))
    return Archive(content, LONGEST, "model", os.fspath(path))


def _checked(found: Any, file: str) -> ModelCard:
    types = {"str": str, "int": int, "dict": dict, "list": list}
    known = {field.name: types[str(field.type).partition("[")[0]] for field in fields(ModelCard)}
    for name in sorted(known.keys() ^ found.keys()):
        what = "is missing" if name in known else "is unknown; a newer memenvs may have written it"
        raise _fault(f"'{clipped(name)}' {what}", file)
    for name, kind in known.items():
        if type(found[name]) is not kind:
            raise _fault(f"'{name}' is no {kind.__name__}", file)
        if kind is int and not 0 <= found[name] < MOST:
            raise _fault(f"'{name}' is no number from 0 to {MOST}", file)
    for name, texts in (*found["columns"].items(), ("trained_on", found["trained_on"])):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise _fault(f"'{clipped(name)}' is no list of texts", file)
        if any(len(text) > 2000 or TOO_WIDE.search(text) for text in texts):
            raise _fault(f"'{clipped(name)}' holds a name too long, or too wide a column", file)
    if found["kind"] not in KINDS:
        raise _fault(
            f"kind {found['kind']!r:.40} is unknown; it is one of {', '.join(KINDS)}", file
        )
    return ModelCard(**found)


def _fault(problem: str, file: str) -> MaterialError:
    return MaterialError(problem, record=ENTRY, file=file)
