"""Seeded changes of files: of their bytes, of the JSON in them, of the entries of an archive."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Random = np.random.Generator
ODD: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 2**31, 2**63, 2**70, -(2**70), 1e308, 0.5, float("nan")),
    *("", "x", "\x1b[2J", "\ud800", "x" * 100_000, "process:touch made", "os:system"),
    *([], {}, [[]], {"a": 1}, [0] * 10_000, "../../etc/passwd", "memenvs.memory/9"),
)


def bits(content: bytes, rng: Random) -> bytes:
    """Flip one to eight bits."""
    changed = bytearray(content)
    for place in rng.integers(0, len(changed), rng.integers(1, 9)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def span(content: bytes, rng: Random) -> bytes:
    """Leave out, repeat, overwrite or move a span, or cut off the rest."""
    a, b = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    b = min(b, a + int(rng.integers(1, 200)))
    part = content[a:b]
    return [
        content[:a] + content[b:],
        content[:b] + part * int(rng.integers(1, 50)) + content[b:],
        content[:a] + rng.bytes(b - a) + content[b:],
        content[:a] + bytes(b - a) + content[b:],
        content[:a] + content[b:] + part,
        content[:a],
        content[:a] + rng.bytes(int(rng.integers(1, 5000))) + content[a:],
    ][rng.integers(7)]


def json_value(content: bytes, rng: Random) -> bytes:
    """Change a value somewhere in JSON, or in a line of JSON Lines; else some bytes."""
    lines = content.split(b"\n") if content.count(b"\n") > 1 else [content]
    place = int(rng.integers(len(lines)))
    try:
        document = json.loads(lines[place])
    except ValueError:
        return bits(content, rng)
    lines[place] = json.dumps(changed(document, rng)).encode()
    if rng.random() < 0.02:
        lines[place] = b"[" * 200_000
    return b"\n".join(lines)


def changed(document: Any, rng: Random, depth: int = 0) -> Any:
    """Give a document with one value changed, left out, added or named otherwise."""
    if isinstance(document, dict) and document and (depth == 0 or rng.random() < 0.9):
        key = list(document)[rng.integers(len(document))]
        choice = rng.random()
        if choice < 0.1:
            return {k: v for k, v in document.items() if k != key}
        if choice < 0.2:
            return {**document, "x" * int(rng.integers(1, 500)): odd(rng)}
        return {**document, key: changed(document[key], rng, depth + 1)}
    if isinstance(document, list) and document and rng.random() < 0.9:
        place = int(rng.integers(len(document)))
        choice = rng.random()
        if choice < 0.1:
            return document[:place] + document[place + 1 :]
        if choice < 0.2:
            return [*document, document[place]]
        return [*document[:place], changed(document[place], rng, depth + 1), *document[place + 1 :]]
    return odd(rng)


def odd(rng: Random) -> Any:
    """Give a value that hardly any field may have."""
    return ODD[rng.integers(len(ODD))]


def entry(content: bytes, rng: Random) -> bytes:
    """Change an entry of an archive, whose checksums then hold again; else some bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return span(content, rng)
    name = list(entries)[rng.integers(len(entries))]
    choice = rng.random()
    if choice < 0.1:
        del entries[name]
    elif choice < 0.15:
        entries[name] = bytes(2**28)  # small while it is packed
    elif choice < 0.2:
        entries[f"../{name}"] = b"x"
    else:
        change = json_value if name.endswith(".json") else (bits, span)[rng.integers(2)]
        entries[name] = change(entries[name] or b"x", rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for each, value in entries.items():
            archive.writestr(each, value)
    return stream.getvalue()


MUTATORS: tuple[Callable[[bytes, Random], bytes], ...] = (bits, span, json_value, entry)
