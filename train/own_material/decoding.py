"""Bytes to text: UTF-8 first, then what the bytes look like, line by line where they are mixed."""

from __future__ import annotations

import codecs
import re

from memenvs.errors import MaterialError
from memenvs.text.normal import normal_text
from memenvs.train.own_material.encodings import guess
from memenvs.train.own_material.passages import Document

SAMPLE = 2**20  # characters that are looked at
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
BINARY = 0.01  # share of control characters above which it is no text
NULS = 0.2  # share of NULs in UTF-16 without a mark, at the even or the odd bytes


def decoded(document: Document) -> str:
    """Give a document's text in the normal form; what was guessed is noted.

    What is UTF-8 beyond ASCII is read so, also the lines of it where others are not: files grow
    from several hands. Then comes the encoding that the user names, then a guess. Raises
    ``MaterialError`` where the bytes are no text, or not of the encoding that was named.
    """
    text = _text(document)
    controls = len(CONTROLS.findall(text[:SAMPLE]))
    if controls > BINARY * len(text[:SAMPLE]):
        raise MaterialError("is no text; name a kind of file that can be read", file=document.name)
    return normal_text(text)


def _text(document: Document) -> str:
    content = document.content
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return _strictly(document, encoding, "begins as {} but is not")
    wide = _wide(content)
    if wide:
        document.note(f"not UTF-8: read as {wide}")
        return _strictly(document, wide, "looks like {} but is not")
    if document.encoding is not None and (content.isascii() or not _is_utf8(content)):
        return _strictly(document, document.encoding, "is not of the encoding {}")
    if _is_utf8(content):
        return content.decode("utf-8-sig")
    return _guessed(document)


def _strictly(document: Document, encoding: str, problem: str) -> str:
    try:
        return document.content.decode(encoding)
    except (UnicodeError, LookupError):
        raise MaterialError(problem.format(encoding), file=document.name) from None


def _wide(content: bytes) -> str:
    """Tell UTF-16 without a mark by its NULs, which stand at every second byte."""
    sample = content[:SAMPLE]
    if b"\0" not in sample:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < NULS * len(sample) or min(even, odd) > max(even, odd) / 10:
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _guessed(document: Document) -> str:
    lines = document.content.split(b"\n")
    others = [n for n, line in enumerate(lines) if not _is_utf8(line)]
    wrong = set(others)
    mixed = any(not line.isascii() for n, line in enumerate(lines) if n not in wrong)
    found = guess(b"\n".join(lines[n] for n in others) if mixed else document.content)
    if found.rival:
        document.note(
            f"warning: not UTF-8: read as {found.encoding}, but it may be {found.rival}; "
            "--encoding says it"
        )
    elif mixed:
        reason = f"line not UTF-8, as others are: read as {found.encoding}"
        document.note(reason, len(others))
    else:
        document.note(f"not UTF-8: read as {found.encoding}")
    if not mixed:
        return document.content.decode(found.encoding, errors="replace")
    return "\n".join(
        line.decode(found.encoding, errors="replace") if n in wrong else line.decode("utf-8-sig")
        for n, line in enumerate(lines)
    )


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
