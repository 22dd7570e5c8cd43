"""Words of others in our messages and tables: one line, bounded, and nothing that is obeyed."""

from __future__ import annotations

import re
from typing import Any

LONGEST = 1_000  # characters of a message
PART = 80  # characters of a name or a value inside one
# Control characters, marks of direction and of invisible text, halves of surrogate pairs.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet takes for the start of one


def one_line(text: str, longest: int = LONGEST) -> str:
    """Give a text as one line of at most so many characters, control characters by their codes.

    Of a longer one the beginning and the end stay: what is wrong, and what to do about it.
    """
    if len(text) > 4 * longest:  # before the rest is looked at
        text = f"{text[: 2 * longest]} … {text[-2 * longest :]}"
    return clipped(visible(" ".join(text.split())), longest)


def clipped(text: str, longest: int = PART) -> str:
    """Give a text, or its beginning and its end."""
    if len(text) <= longest:
        return text
    head = (longest - 3) * 2 // 3
    return f"{text[:head]} … {text[head + 3 - longest :]}"


def visible(text: str) -> str:
    """Show by their codes what a terminal would obey, what turns text round, and half characters.

    Line ends and tabs stay.
    """
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def csv_cell(value: Any) -> Any:
    """Give a cell of a CSV file: a text that a spreadsheet would compute has a quote before it."""
    return f"'{value}" if isinstance(value, str) and _formula(value) else value


def text_of_cell(cell: str) -> str:
    """Give the text that ``csv_cell`` made a cell of."""
    return cell[1:] if cell.startswith("'") and _formula(cell) else cell


def _formula(text: str) -> bool:
    """Say of a text whether it is a formula, or one with quotes before it, and no number."""
    if not text.lstrip("'").startswith(FORMULA):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


class VisibleStream:
    """A text stream on which nothing that is written can steer a terminal."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write a text, control characters by their codes; gives its length."""
        self.raw.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)
