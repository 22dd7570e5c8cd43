"""Our own formats, read strictly: bounded, complete, unchanged since written, in range."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memenvs.errors import MaterialError
from memenvs.storage.messages import clipped
from memenvs.storage.whole import sweep
from memenvs.strict_json import json_type, parse_json

if TYPE_CHECKING:
    from pydantic import BaseModel

Schema = TypeVar("Schema", bound="BaseModel")

SEAL = "sha256"  # the field that holds the checksum of all others
CHANGED = "was changed or damaged since it was written (its checksum differs); restore a copy"


def read_bounded(path: str | os.PathLike[str], longest: int) -> bytes:
    """Read a regular file of at most so many bytes; raises ``MaterialError`` that names it.

    What killed writers left beside it is removed.
    """
    file = os.fspath(path)
    try:
        sweep(Path(path).absolute().parent)
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(number, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise MaterialError("is no regular file", file=file)
            content = stream.read(longest + 1)
    except OSError as error:
        raise MaterialError(f"cannot be read: {error.strerror}", file=file) from None
    except ValueError as error:
        if isinstance(error, MaterialError):
            raise
        raise MaterialError(f"cannot be read: {error}", file=repr(file)) from None  # a NUL
    if len(content) > longest:
        raise MaterialError(
            f"has more than {longest:,} bytes, which no file of this kind has", file=file
        )
    return content


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Give a document with the checksum of what it says; raises ``ValueError`` for NaN."""
    return {**document, SEAL: _checksum(document)}


def read_sealed(content: bytes, format_: str, what: str, file: str) -> dict[str, Any]:
    """Parse a document that ``sealed`` made; gives it without its format and its checksum.

    Raises ``MaterialError`` for another document, another version and for changed content.
    """
    try:
        document = parse_json(content.decode(), file)
    except UnicodeDecodeError:
        raise MaterialError(f"is no {what} that memenvs saved", file=file) from None
    except MaterialError as error:
        raise MaterialError(
            f"is no {what} that memenvs saved: it {error.problem}", file=file
        ) from None
    check_format(document, format_, what, file)
    seal = document.pop(SEAL, None)
    try:
        whole = seal == _checksum(document)
    except ValueError:
        whole = False
    if not whole:
        raise MaterialError(CHANGED, file=file)
    del document["format"]
    return dict(document)


def check_format(document: Any, format_: str, what: str, file: str) -> None:
    """Raise ``MaterialError`` unless a document names this format and version."""
    found = document.get("format") if isinstance(document, dict) else None
    if found == format_:
        return
    name, _, _ = format_.partition("/")
    if isinstance(found, str) and found.startswith(f"{name}/"):
        raise MaterialError(
            f"'{clipped(found)}' is another version than '{format_}', which this memenvs reads; "
            "write it anew",
            field="format",
            file=file,
        )
    raise MaterialError(f"is no {what} that memenvs saved ({format_})", file=file)


def checked(schema: type[Schema], value: Any, file: str, record: str = "") -> Schema:
    """Check a value against a schema; raises ``MaterialError`` that names the field."""
    from pydantic import ValidationError

    try:
        return schema.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    except RecursionError:
        raise MaterialError("is nested too deeply", record=record, file=file) from None
    field = ".".join(str(part) for part in first["loc"])
    raise MaterialError(problem_of(first), record=record, field=clipped(field), file=file) from None


def problem_of(error: Any) -> str:
    """Say what pydantic found, without repeating what stands in the file at length."""
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "extra_forbidden":
        return "is unknown; a newer memenvs may have written it"
    message = clipped(error["msg"].removeprefix("Input ").removeprefix("Value error, "), 120)
    if isinstance(error["input"], int | float) and not isinstance(error["input"], bool):
        return f"{message}, not {clipped(_number(error['input']), 40)}"
    return f"{message}, not {json_type(error['input'])}"


def digest_of(path: str | os.PathLike[str]) -> str:
    """Give the SHA-256 of a file, of whatever size; raises ``MaterialError`` that names it."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise MaterialError(f"cannot be read: {error.strerror}", file=os.fspath(path)) from None


def _number(value: float) -> str:
    return hex(value) if isinstance(value, int) and value.bit_length() > 100 else repr(value)


def _checksum(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
