"""Representations that fit on a screen, whatever an object holds."""

from __future__ import annotations

import dataclasses
import reprlib
from typing import Any

LONGEST = 299  # characters of a representation
PART = 60  # of one value in it
SHORT = reprlib.Repr()
SHORT.maxtuple = SHORT.maxlist = SHORT.maxdict = SHORT.maxlevel = 2
SHORT.maxstring = SHORT.maxother = PART


def short_repr(self: Any) -> str:
    """Name the fields of a dataclass that differ from their defaults, each cut to a few words."""
    shown = [field for field in dataclasses.fields(self) if field.repr]
    parts = [
        f"{field.name}={' '.join(SHORT.repr(getattr(self, field.name)).split())}"
        for field in shown
        if not _is(getattr(self, field.name), field.default)
    ]
    text = f"{type(self).__name__}({', '.join(parts)})"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}...)"


def _is(value: Any, default: Any) -> bool:
    """Compare without asking arrays, which answer for each element."""
    return value is default or (isinstance(value, str | float | int) and bool(value == default))
