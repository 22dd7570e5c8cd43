"""Passages to claims: sentences, or passages as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from memenvs.errors import MaterialError
from memenvs.material.records import Claim
from memenvs.train.own_material.passages import Document, Passage, whole_text

By: TypeAlias = Literal["sentence", "passage"]

LIMIT = 100_000  # claims of a material: no environment takes more, nor does this machine's memory
LONGEST = 4_000  # characters of a sentence; what is longer is cut at a blank
CHUNK = 100_000  # characters that are given to the segmenter at once
# Scripts whose letters tell the language well enough for the ends of sentences.
SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A claim and where it stands in its document."""

    claim: Claim
    document: str
    start: int | None  # characters of the plain text that it covers, if it is one
    end: int | None
    dated: bool


def claims_of(
    document: Document, passages: Iterable[Passage], by: By | None, language: str | None, room: int
) -> list[Placed]:
    """Cut a document into claims, in its order; ``by`` None takes messages and rows whole.

    Source and time are the passage's, or else the document's name; the group is the document's
    name, with the passage's own in it, or the one that documents share; the cue ``position`` is
    the claim's place in the document from 0 to 1. Raises ``MaterialError`` where there are more
    than ``room`` claims, or none.
    """
    placed: list[Placed] = []
    for passage in passages:
        whole = passage.whole if by is None else by == "passage"
        pieces = list(_pieces(document, passage, language, whole))
        for place, (text, start, end) in enumerate(pieces):
            identifier = passage.id if len(pieces) == 1 else f"{passage.id}.{place + 1}"
            claim = Claim(
                id=whole_text(identifier) if passage.id else f"{document.name}#{len(placed) + 1}",
                text=whole_text(text),
                source=whole_text(passage.source) or document.name,
                group=whole_text(_group(document, passage)),
                time=passage.time,
            )
            placed.append(Placed(claim, document.name, start, end, passage.dated))
            if len(placed) > room:
                raise MaterialError(
                    f"gives more claims than a material may hold ({LIMIT} in all); "
                    "build from parts of it, or --by passage",
                    file=document.name,
                )
    if not placed:
        raise MaterialError("holds no text; leave it out", file=document.name)
    last = max(len(placed) - 1, 1)
    return [
        replace(p, claim=replace(p.claim, cues={"position": n / last}))
        for n, p in enumerate(placed)
    ]


def since_the_first(placed: list[Placed]) -> list[Claim]:
    """Give the claims with dates as days since the first date among them."""
    dates = [p.claim.time for p in placed if p.dated and p.claim.time is not None]
    first = min(dates, default=0.0)
    return [
        replace(p.claim, time=p.claim.time - first)
        if p.dated and p.claim.time is not None
        else p.claim
        for p in placed
    ]


def _group(document: Document, passage: Passage) -> str:
    """Name the group: "page 1" of one document is not that of another."""
    if passage.shared and passage.group:
        return passage.group
    return f"{document.name}, {passage.group}" if passage.group else document.name


def _pieces(
    document: Document, passage: Passage, language: str | None, whole: bool
) -> Iterator[tuple[str, int | None, int | None]]:
    """Give the texts of a passage's claims, with their places in a plain text."""
    start = 0
    for sentence in [passage.text] if whole else _sentences(document, passage.text, language):
        end = start + len(sentence)
        text = " ".join(sentence.split())
        if any(map(str.isalnum, text)):
            if passage.start is None:
                yield text, None, None
            else:
                yield text, passage.start + start, passage.start + end
        start = end


def _sentences(document: Document, text: str, language: str | None) -> Iterator[str]:
    """Cut a text into sentences that give it again when they are joined."""
    import sentencex

    spoken = language or language_of(text)
    for chunk in _cut(text, CHUNK):
        for sentence in sentencex.segment(spoken, chunk):
            if len(sentence) > LONGEST:
                document.note(f"sentence of more than {LONGEST} characters: cut")
            yield from _cut(sentence, LONGEST)


def _cut(text: str, longest: int) -> Iterator[str]:
    start = 0
    while len(text) - start > longest:
        blank = text.rfind(" ", start + longest // 2, start + longest) + 1
        end = blank or start + longest
        yield text[start:end]
        start = end
    yield text[start:]


def language_of(text: str) -> str:
    """Guess a language by its script, as far as the ends of sentences differ; else English."""
    sample = text[:1000]
    if sample.isascii():
        return "en"
    return next((language for language, letters in SCRIPTS if letters.search(sample)), "en")
