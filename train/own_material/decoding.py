"""Bytes to text: UTF-8 first, then what the bytes look like, line by line where they are mixed."""

from __future__ import annotations

import codecs
import re

from memenvs.errors import MaterialError
from memenvs.train.own_material.passages import Document

SAMPLE = 2**20  # bytes from which an encoding is guessed
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
FEW = 64  # bytes beyond ASCII
BINARY = 0.01  # share of control characters above which it is no text


def decoded(document: Document) -> str:
    """Give a document's text; what was guessed is noted.

    Lines that are UTF-8 are read so even where others are not: files grow from several hands.
    Raises ``MaterialError`` where the bytes are no text.
    """
    content = document.content
    for mark, encoding in MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                raise MaterialError(
                    f"begins as {encoding} but is not", file=document.name
                ) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _guessed(document)
    controls = len(CONTROLS.findall(text[:SAMPLE]))
    if controls > BINARY * len(text[:SAMPLE]):
        raise MaterialError("is no text; name a kind of file that can be read", file=document.name)
    return text


def _guessed(document: Document) -> str:
    lines = document.content.split(b"\n")
    others = [n for n, line in enumerate(lines) if not _is_utf8(line)]
    wrong = set(others)
    mixed = any(not line.isascii() for n, line in enumerate(lines) if n not in wrong)
    if not mixed:
        encoding = _encoding(document.content)
        text = document.content.decode(encoding, errors="replace")
        document.note(f"not UTF-8: read as {encoding}")
        return text
    encoding = _encoding(b"\n".join(lines[n] for n in others))
    document.note(f"line not UTF-8, as others are: read as {encoding}", len(others))
    return "\n".join(
        line.decode(encoding, errors="replace") if n in wrong else line.decode("utf-8-sig")
        for n, line in enumerate(lines)
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _encoding(content: bytes) -> str:
    from charset_normalizer import from_bytes

    high = sum(byte > 127 for byte in content[:SAMPLE])
    if high < FEW and high < len(content) / 4:
        return "cp1252"  # a few accents in Latin letters are too little to guess from
    best = from_bytes(content[:SAMPLE]).best()
    return "cp1252" if best is None else best.encoding
