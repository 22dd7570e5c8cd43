"""Passages to claims: sentences, or passages as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memenvs.errors import MaterialError
from memenvs.material.records import Claim
from memenvs.train.own_material.passages import Document, Passage

By: TypeAlias = Literal["sentence", "passage"]

LIMIT = 100_000  # claims of a material: no environment takes more, nor does this machine's memory
LONGEST = 1_000  # characters of a claim; what is longer is cut, at the end of a sentence or a word
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
    own: str = ""  # the id that the document gives it


class TooManyClaimsError(MaterialError):
    """A material that no environment takes, whatever file of it is left out."""


def claims_of(
    document: Document, passages: Iterable[Passage], by: By | None, language: str | None, room: int
) -> list[Placed]:
    """Cut a document into claims, in its order; ``by`` None takes messages and rows whole.

    Source and time are the passage's, or else the document's name; the group is the document's
    name, with the passage's own in it, or the one that documents share; the cue ``position`` is
    the claim's place in the document from 0 to 1. Raises ``MaterialError`` where there are more
    than ``room`` claims, or none.
    """
    cut: list[tuple[Passage, str, str, int | None, int | None]] = []  # with the id of its own
    for passage in passages:
        whole = passage.whole if by is None else by == "passage"
        pieces = list(_pieces(document, passage, language, whole))
        for place, piece in enumerate(pieces, start=1):
            own = passage.id if len(pieces) == 1 or not passage.id else f"{passage.id}.{place}"
            cut.append((passage, own, *piece))
            if len(cut) > room:
                raise TooManyClaimsError(
                    f"gives more claims than a material may hold ({LIMIT} in all); "
                    "build from parts of it, or --by passage",
                    file=document.name,
                )
    if not cut:
        raise MaterialError(_nothing(document), file=document.name)
    last = max(len(cut) - 1, 1)
    placed = []
    for n, (passage, own, text, start, end) in enumerate(cut):
        claim = Claim(
            id=own or f"{document.name}#{n + 1}",
            text=text,
            source=passage.source or document.name,
            group=_group(document, passage),
            time=passage.time,
            cues={"position": n / last},
        )
        placed.append(Placed(claim, document.name, start, end, passage.dated, own))
    return placed


def _nothing(document: Document) -> str:
    """Say why a document gives no claim."""
    why = f" ({'; '.join(document.notes)})" if document.notes else ""
    return f"holds no text{why:.300}; leave it out"


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
    for piece in _cut_to_claims(document, passage.text, language, whole):
        end = start + len(piece)
        text = " ".join(piece.split())
        if any(map(str.isalnum, text)):
            if passage.start is None:
                yield text, None, None
            else:
                yield text, passage.start + start, passage.start + end
        start = end


def _cut_to_claims(
    document: Document, text: str, language: str | None, whole: bool
) -> Iterator[str]:
    """Cut a text into pieces that give it again when they are joined."""
    if not whole:
        yield from _sentences(document, text, language)
    elif len(text) <= LONGEST:
        yield text
    else:
        document.note(f"passage of more than {LONGEST} characters: cut")
        held = ""
        for sentence in _sentences(document, text, language):
            if held and len(held) + len(sentence) > LONGEST:
                yield held
                held = ""
            held += sentence
        yield held


def _sentences(document: Document, text: str, language: str | None) -> Iterator[str]:
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
