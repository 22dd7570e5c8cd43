"""What readers make of documents: passages, with what is known about each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memenvs.text.normal import halves, normal_text
from memenvs.text.times import Dates, Order

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that belongs together."""

    text: str
    group: str = ""  # headings, page, session; "" stands for the document
    shared: bool = False  # whether other documents mean the same by the group
    source: str = ""  # speaker; "" stands for the document
    moment: Any = None  # its date as it stands: read once all dates of the document are known
    time: float | None = None  # in days
    dated: bool = False  # whether the time counts from 1970, not from the document's start
    start: int | None = None  # place of its first character in a plain text
    id: str = ""
    whole: bool = False  # one claim, however many sentences: a message, a row


@dataclass
class Document:
    """A file under reading: its content, and an account of what was not taken over."""

    name: str
    content: bytes
    path: Path | None = None
    encoding: str | None = None  # of a text that is not UTF-8
    notes: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)  # that were left out, by the same reasons
    plain: bool = False  # whether passages know their place

    def note(self, reason: str, times: int = 1) -> None:
        """Count one thing that was read otherwise than it stands."""
        self.notes[reason] += times

    def leave(self, reason: str, text: str) -> None:
        """Count one thing that was left out, and the words in it."""
        self.notes[reason] += 1
        self.words[reason] += len(WORD.findall(text))


class Headings:
    """The headings that a passage stands under; one that has no text under it is reported."""

    def __init__(self, document: Document, under: str = "") -> None:
        self._document, self._under = document, under
        self._open: list[tuple[int, str]] = []
        self._used = 0  # how many of the open ones have text under them

    def add(self, level: int, text: str) -> None:
        """Begin a section; it ends those of its level and below."""
        self._close(level)
        if text:
            self._open.append((level, text))

    def path(self) -> str:
        """Give the headings above a text that stands here, as one name."""
        self._used = len(self._open)
        return " > ".join(filter(None, (self._under, *(text for _, text in self._open))))

    def end(self) -> None:
        """Report the last headings, if nothing stands under them."""
        self._close(0)

    def _close(self, level: int) -> None:
        while self._open and self._open[-1][0] >= level:
            _, text = self._open.pop()
            if len(self._open) >= self._used:
                self._document.leave("heading without text under it left out", text)
        self._used = min(self._used, len(self._open))


def finished(
    document: Document, passages: Iterable[Passage], order: Order | None = None
) -> Iterator[Passage]:
    """Give passages in the normal form of texts, with their dates read.

    ``order`` is that of day, month and year in the document's dates; None: as they show it.
    """
    listed = [_normal(document, passage) for passage in passages]
    moments = [passage.moment for passage in listed]
    dates = Dates.of(moments) if order is None else Dates(order)
    if dates.doubt:
        document.note(
            f"warning: dates such as '{dates.doubt}' are taken for {_spelt(dates.order)}, which "
            "is a guess; --dates says it"
        )
    unknown: list[Any] = []
    for passage in listed:
        if passage.moment in (None, ""):
            yield passage
            continue
        days = dates.days(passage.moment)
        if days is None:
            unknown.append(passage.moment)
        yield replace(passage, time=days, dated=days is not None, moment=None)
    if unknown:
        document.note(f"time such as '{unknown[0]!s:.40}' is no known date: left out", len(unknown))


def _normal(document: Document, passage: Passage) -> Passage:
    broken = halves(passage.text)
    if broken:
        document.note("half a character replaced by \ufffd", broken)
    held = (passage.text, passage.group, passage.source, passage.id)
    text, group, source, identifier = normal = tuple(map(normal_text, held))
    if normal == held:
        return passage
    return replace(passage, text=text, group=group, source=source, id=identifier)


def _spelt(order: Order) -> str:
    return "/".join({"d": "day", "m": "month", "y": "year"}[letter] for letter in order)
