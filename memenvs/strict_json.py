"""JSON read strictly: what a parser would let pass, and fail on later, is refused at once."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError

ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
TOO_DEEP = "is nested too deeply to be a material"


def read_json(path: str | os.PathLike[str]) -> Any:
    """Give the value of a JSON file, read as strictly as a material.

    Raises ``MaterialError`` for what cannot be read, is not UTF-8, is empty, is not valid JSON, is
    nested too deeply, gives a key twice, or holds half a surrogate pair. NaN and infinity are left
    to those who know the record and the field.
    """
    file = os.fspath(path)
    return parse_json(_text(file), file, "")


def read_json_lines(path: str | os.PathLike[str]) -> list[tuple[str, Any]]:
    """Give the values of a JSON Lines file, each with its place ("line 3"); see ``read_json``."""
    file = os.fspath(path)
    return _line_values(_text(file), file)


def read_json_documents(path: str | os.PathLike[str]) -> list[tuple[str, Any]]:
    """Give the value of a JSON file, with the place "", or those of JSON Lines under any name."""
    file = os.fspath(path)
    text = _text(file)
    if Path(file).suffix == ".jsonl" or _looks_like_lines(text):
        return _line_values(text, file)
    return [("", parse_json(text, file, ""))]


def json_type(value: Any) -> str:
    """Name the JSON type of a parsed value, with its article."""
    names = {dict: "an object", list: "a list", tuple: "a list", str: "a string", bool: "a boolean"}
    if value is None:
        return "null or missing"
    return names.get(type(value), "a number")


def _text(file: str) -> str:
    try:
        text = Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MaterialError(
            f"is not UTF-8 text (byte {error.start}); give a JSON file", file=file
        ) from None
    except OSError as error:
        raise MaterialError(f"cannot be read: {error.strerror}", file=file) from None
    except ValueError as error:  # a NUL in the name
        raise MaterialError(f"cannot be read: {error}", file=repr(file)) from None
    if not text.strip():
        raise MaterialError("is empty; give a JSON file", file=file)
    return text


def _looks_like_lines(text: str) -> bool:
    """Tell JSON Lines under another name: its first line is a whole value, and more follows."""
    first, _, rest = text.strip().partition("\n")
    if not rest:
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _line_values(text: str, file: str) -> list[tuple[str, Any]]:
    lines = enumerate(text.split("\n"), start=1)
    places = [(f"line {number}", line) for number, line in lines if line.strip()]
    return [(where, parse_json(line, file, where)) for where, line in places]


def parse_json(text: str, file: str, where: str = "") -> Any:
    """Give the value of a JSON text as strictly as ``read_json``; ``where`` it stands in a file."""
    try:
        value = json.loads(text, object_pairs_hook=_unique)
        if ESCAPED_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()  # whole pairs have been joined by now
    except MaterialError as error:
        raise error.within(file, where) from None
    except json.JSONDecodeError as error:
        column = f"line {error.lineno}, column {error.colno}"
        problem = f"is not valid JSON: {error.msg} ({f'column {error.colno}' if where else column})"
    except RecursionError:
        problem = TOO_DEEP
    except UnicodeEncodeError:
        problem = "holds half a surrogate pair, which no text may"
    except ValueError:  # Python refuses it to spare the time
        problem = "holds an integer of thousands of digits"
    else:
        return value
    raise MaterialError(problem, record=where, file=file)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        twice = ""
        for twice, _ in pairs:
            if twice in seen:
                break
            seen.add(twice)
        owner = f"record '{result['id']}'" if isinstance(result.get("id"), str) else ""
        raise MaterialError("is given twice; keep one", record=owner, field=twice)
    return result
