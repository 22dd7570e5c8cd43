"""Material files: JSON holds one material, JSON Lines one a line; read strictly, written whole."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.storage.whole import sweep, write_whole
from memenvs.strict_json import TOO_DEEP, json_type, read_json_documents

if TYPE_CHECKING:
    from pydantic import BaseModel

FORMAT = "memenvs.material/1"
BEGINNING = re.compile(rb'\s*\{\s*"format"\s*:\s*"memenvs\.material/')  # of what is saved
KINDS: dict[str, type[Claim] | type[Item] | type[Query]] = {
    "claims": Claim,
    "items": Item,
    "queries": Query,
}
SINGULAR = {"claims": "claim", "items": "item", "queries": "query"}


def load_material(path: str | os.PathLike[str]) -> Material:
    """Read the one material of a file.

    Raises ``MaterialError`` that names the file, the record and the field.
    """
    materials = load_materials(path)
    if len(materials) != 1:
        raise MaterialError(
            f"holds {len(materials)} materials where one is wanted; use load_materials",
            file=os.fspath(path),
        )
    return materials[0]


def load_materials(path: str | os.PathLike[str]) -> list[Material]:
    """Read every material of a JSON file (one) or a JSON Lines file (one a line, in order)."""
    file = os.fspath(path)
    materials = [_material(value, file, where) for where, value in read_json_documents(path)]
    sweep(Path(path).absolute().parent)
    seen: set[str] = set()
    for material in materials:
        if material.name in seen:
            raise MaterialError(
                f"two materials are named '{material.name}'; rename one", field="name", file=file
            )
        seen.add(material.name)
    return materials


def save_materials(materials: Iterable[Material], path: str | os.PathLike[str]) -> None:
    """Write materials so that reading them back gives equal ones; never leaves half a file.

    A name ending in ``.jsonl`` gives one line a material; otherwise there must be exactly one.
    Raises ``MaterialError`` where the file cannot be written.
    """
    listed = list(materials)
    if Path(path).suffix == ".jsonl":
        save_lines(listed, path)
    elif len(listed) == 1:
        _save(json.dumps(as_document(listed[0]), ensure_ascii=False, indent=1) + "\n", path)
    else:
        raise MaterialError(
            f"cannot hold {len(listed)} materials; name a .jsonl file", file=os.fspath(path)
        )


def save_lines(materials: Iterable[Material], path: str | os.PathLike[str]) -> None:
    """Write JSON Lines, one material a line, whatever the file is called."""
    lines = [json.dumps(as_document(m), ensure_ascii=False) + "\n" for m in materials]
    _save("".join(lines), path)


def is_material_file(path: Path) -> bool:
    """Tell by its first bytes whether a file holds materials as they are saved here."""
    with path.open("rb") as stream:
        return BEGINNING.match(stream.read(100)) is not None


def check_target(path: str | os.PathLike[str]) -> None:
    """See, before long work, that a material can be written there and destroys nothing else.

    Raises ``MaterialError`` for a folder, a folder that is not there, and a file that holds
    anything but materials: it may be what the material is made of.
    """
    target, file = Path(path), os.fspath(path)
    if target.is_dir():
        raise MaterialError("is a folder; name a file", file=file)
    if not target.parent.is_dir():
        raise MaterialError(f"the folder '{target.parent}' is not there; make it first", file=file)
    if target.is_file() and target.stat().st_size and not is_material_file(target):
        raise MaterialError(
            "is there and holds no material; name another file, or remove it", file=file
        )


def as_document(material: Material) -> dict[str, Any]:
    """Give the JSON form of a material, defaults left out."""
    document: dict[str, Any] = {"format": FORMAT, "name": material.name}
    for kind in KINDS:
        document[kind] = [_as_object(record) for record in getattr(material, kind)]
    return document


def _as_object(record: Claim | Item | Query) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.default is not MISSING and value == field.default:
            continue
        if field.name == "truth" and value in (0.0, 1.0):
            value = bool(value)
        result[field.name] = dict(value) if field.name == "cues" else value
    return result


def _save(text: str, path: str | os.PathLike[str]) -> None:
    file = os.fspath(path)
    try:
        write_whole(Path(path), text.encode())
    except UnicodeEncodeError:
        raise MaterialError(
            "cannot be written: a text holds half a surrogate pair", file=file
        ) from None
    except OSError as error:
        raise MaterialError(f"cannot be written: {error.strerror}", file=file) from None
    except ValueError as error:  # a NUL in the name
        raise MaterialError(f"cannot be written: {error}", file=repr(file)) from None


def _material(value: Any, file: str, where: str) -> Material:
    try:
        return _from_document(value)
    except MaterialError as error:
        raise error.within(file, where) from None
    except RecursionError:  # shallow enough for the parser, but not for the schema
        raise MaterialError(TOO_DEEP, record=where, file=file) from None


def _from_document(document: Any) -> Material:
    if not isinstance(document, dict):
        raise MaterialError(f"holds a JSON {json_type(document)}, not a material object")
    if document.get("format") != FORMAT:
        raise MaterialError(
            f"{document.get('format')!r:.60} is not '{FORMAT}'; this version reads no other",
            field="format",
        )
    for key in document:
        if key not in {"format", "name", *KINDS}:
            raise MaterialError("is unknown; remove it", field=key)
    records: dict[str, tuple[Any, ...]] = {}
    for kind in KINDS:
        if not isinstance(document.get(kind), list):
            raise MaterialError(
                f"must be a list of {kind}, not {json_type(document.get(kind))}", field=kind
            )
        records[kind] = tuple(_record(kind, i, value) for i, value in enumerate(document[kind]))
    name = document.get("name", "")
    return Material(name, records["claims"], records["items"], records["queries"])


def _record(kind: str, place: int, value: Any) -> Any:
    from pydantic import ValidationError

    try:
        checked = _schema(kind).model_validate(_frozen(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        named = isinstance(value, dict) and isinstance(value.get("id"), str) and value["id"]
        label = f"{SINGULAR[kind]} '{named}'" if named else f"{kind}[{place}]"
        field = ".".join(str(part) for part in first["loc"] if _in_file(part))
        raise MaterialError(_problem(first), record=label, field=field) from None
    return KINDS[kind](**{name: getattr(checked, name) for name in checked.model_fields_set})


@cache
def _schema(kind: str) -> type[BaseModel]:
    """Derive the strict schema of a record from its dataclass: one list of fields, not two."""
    from pydantic import ConfigDict, create_model

    record = KINDS[kind]
    types = get_type_hints(record)
    columns: dict[str, Any] = {
        field.name: (types[field.name], ... if field.default is MISSING else field.default)
        for field in fields(record)
    }
    config = ConfigDict(extra="forbid", strict=True)
    return create_model(record.__name__, __config__=config, **columns)


def _frozen(value: Any) -> Any:
    """Make lists tuples, as strict validation wants for immutable records."""
    if isinstance(value, list):
        return tuple(_frozen(part) for part in value)
    if isinstance(value, dict):
        return {key: _frozen(part) for key, part in value.items()}
    return value


def _in_file(part: object) -> bool:
    """Tell a field or a place in the file from the name of a type in a union."""
    return isinstance(part, int) or (str(part).isidentifier() and part not in ("bool", "float"))


def _problem(error: Any) -> str:
    if error["type"] == "missing":
        return "is missing; add it"
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return "is unknown; remove it"
    wanted = {"tuple_type": "a list", "model_type": "an object", "dict_type": "an object"}
    message = error["msg"].removeprefix("Input ")
    if error["type"] in wanted:
        message = f"should be {wanted[error['type']]}"
    return f"{message}, not {json_type(error['input'])}"
