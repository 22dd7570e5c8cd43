"""Material files: JSON holds one material, JSON Lines one a line; read strictly, written whole."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from memenvs.errors import MaterialError
from memenvs.material import Material
from memenvs.records import Claim, Item, Query

if TYPE_CHECKING:
    from pydantic import BaseModel

FORMAT = "memenvs.material/1"
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
    texts = list(_documents(file))
    if not texts:
        raise MaterialError("is empty; a material file holds one JSON object or more", file=file)
    materials = [_material(text, file, where) for where, text in texts]
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
    """
    target = Path(path)
    documents = [as_document(material) for material in materials]
    if target.suffix == ".jsonl":
        text = "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents)
    elif len(documents) == 1:
        text = json.dumps(documents[0], ensure_ascii=False, indent=1) + "\n"
    else:
        raise MaterialError(
            f"cannot hold {len(documents)} materials; name a .jsonl file", file=os.fspath(path)
        )
    write_whole(target, text.encode())


def write_whole(target: Path, content: bytes) -> None:
    """Write a file under another name, then rename it: readers see the old one or the new one."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _documents(file: str) -> Iterator[tuple[str, str]]:
    """Yield each JSON text of a file with the place to blame (empty where there is only one)."""
    try:
        text = Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MaterialError(
            f"is not UTF-8 text (byte {error.start}); give a JSON file", file=file
        ) from None
    except OSError as error:
        raise MaterialError(f"cannot be read: {error.strerror}", file=file) from None
    if Path(file).suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"line {number}", line
    elif text.strip():
        yield "", text


def _material(text: str, file: str, where: str) -> Material:
    try:
        return _from_document(_parse(text))
    except MaterialError as error:
        raise error.within(file, where) from None


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise MaterialError(
            f"is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise MaterialError("is nested too deeply to be a material") from None
    except ValueError as error:  # an integer of thousands of digits
        raise MaterialError(f"is not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        owner = f"record '{result['id']}'" if isinstance(result.get("id"), str) else ""
        raise MaterialError("is given twice; keep one", record=owner, field=twice)
    return result


def _no_constant(name: str) -> float:
    raise MaterialError(f"{name} is not a finite number; give one")


def _from_document(document: Any) -> Material:
    if not isinstance(document, dict):
        raise MaterialError(f"holds a JSON {_json_type(document)}, not a material object")
    if document.get("format") != FORMAT:
        raise MaterialError(
            f"{document.get('format')!r:.60} is not '{FORMAT}'; this version reads no other",
            field="format",
        )
    for key in document:
        if key not in {"format", "name", *KINDS}:
            raise MaterialError("is unknown; remove it", field=key)
    records: dict[str, list[Any]] = {}
    for kind in KINDS:
        if not isinstance(document.get(kind), list):
            raise MaterialError(
                f"must be a list of {kind}, not {_json_type(document.get(kind))}", field=kind
            )
        records[kind] = [_record(kind, i, value) for i, value in enumerate(document[kind])]
    return Material(name=document.get("name", ""), **records)


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
    return f"{message}, not {_json_type(error['input'])}"


def _json_type(value: Any) -> str:
    names = {dict: "an object", list: "a list", tuple: "a list", str: "a string", bool: "a boolean"}
    if value is None:
        return "null or missing"
    return names.get(type(value), "a number")
