"""TFRecords and the protocol buffers in AndroidControl's, as far as its fields need."""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError

# Fields of AndroidAccessibilityNodeInfo: number, name, and whether it is a text.
NODE = {3: "class_name", 4: "content_description", 5: "hint_text", 7: "text"}
FLAGS = {12: "is_checkable", 13: "is_checked", 14: "is_clickable", 15: "is_editable"}
FLAGS |= {16: "is_enabled", 22: "is_selected", 23: "is_visible"}
BOUNDS, WINDOWS, TREE, NODES = 2, 1, 11, 1
SIDES = {1: "x_min", 2: "y_min", 3: "x_max", 4: "y_max"}


def examples(path: str | os.PathLike[str]) -> Iterator[dict[str, list[Any]]]:
    """Give the features of each ``tf.train.Example`` in a file of TFRecords, gzipped or not."""
    content = Path(path).read_bytes()
    try:
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        at = 0
        while at < len(content):
            (size,) = struct.unpack_from("<Q", content, at)
            record = content[at + 12 : at + 12 + size]  # behind the length and its checksum
            if len(record) < size:
                raise ValueError("it ends within a record")
            yield _features(record)
            at += 16 + size
    except (ValueError, EOFError, OSError, struct.error, IndexError) as error:
        raise MaterialError(f"holds no TFRecords: {error}", file=os.fspath(path)) from None


def _features(record: bytes) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for _, features in fields(record):  # Example.features
        for _, entry in fields(features):  # Features.feature, a map
            parts = dict(fields(entry))
            values: list[Any] = []
            for kind, content in fields(parts[2]):  # Feature: bytes, float or int64 list
                for _, value in fields(content):
                    packed = isinstance(value, bytes) and kind == 3
                    values += list(_varints(value)) if packed else [value]
            found[parts[1].decode()] = values
    return found


def forest_elements(forest: bytes) -> list[dict[str, Any]]:
    """Give the visible nodes of an ``AndroidAccessibilityForest``, as AndroidWorld names them."""
    return [
        element
        for number, window in fields(forest)
        if number == WINDOWS
        for part, tree in fields(window)
        if part == TREE
        for kind, node in fields(tree)
        if kind == NODES
        for element in (_element(node),)
        if element.get("is_visible")
    ]


def _element(node: bytes) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(FLAGS.values(), False)
    for number, value in fields(node):
        if number in NODE:
            found[NODE[number]] = value.decode(errors="replace")
        elif number in FLAGS:
            found[FLAGS[number]] = bool(value)
        elif number == BOUNDS:
            sides = dict.fromkeys(SIDES.values(), 0)
            found["bbox_pixels"] = sides | {SIDES[n]: v for n, v in fields(value) if n in SIDES}
    return found


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Give number and value of each field of a message; raises ``ValueError`` where it is none."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
        elif wire in (1, 2, 5):
            size, at = _varint(message, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
            if at + size > len(message):
                raise ValueError("a field ends beyond its message")
            yield number, message[at : at + size]
            at += size
        else:
            raise ValueError(f"wire type {wire} is unknown")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a number is too long")


def _varints(content: bytes) -> Iterator[int]:
    at = 0
    while at < len(content):
        value, at = _varint(content, at)
        yield value
