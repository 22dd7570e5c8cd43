"""The one form in which texts are held, so that equal texts are equal strings."""

from __future__ import annotations

import re
from unicodedata import normalize

HALVES = re.compile(r"[\ud800-\udfff]")
# Bytes of Windows in texts that call themselves ISO 8859-1, which browsers read alike.
WINDOWS = {n: bytes([n]).decode("cp1252", "ignore") or n for n in range(0x80, 0xA0)}
SPELT = str.maketrans(
    {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st"}
    | {0xFB06: "st", 0: None, 0xAD: None}  # no NULs, no hyphens that a line's end would show
    | WINDOWS
)


def normal_text(text: str) -> str:
    """Give a text in NFC, with halves of surrogate pairs joined, or replaced by U+FFFD if alone.

    NULs and soft hyphens are taken out, ligatures of letters (ﬁ) are spelt out, and characters of
    Windows that were read as controls (U+0080 for €) are put right.
    """
    if text.isascii():
        return text.replace("\0", "")
    if HALVES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return normalize("NFC", text.translate(SPELT))


def halves(text: str) -> int:
    """Count the halves of surrogate pairs in a text that stand alone."""
    if not HALVES.search(text):
        return 0
    before = text.count("\ufffd")
    return normal_text(text).count("\ufffd") - before
