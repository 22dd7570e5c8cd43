"""Reader of plain text, and of chats that are exported as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from memenvs.train.own_material import whatsapp
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.passages import Document, Headings, Passage

BLANK = re.compile(r"\n[^\S\n]*\r?\n\s*")
LINE = re.compile(r"[^\n]*\n?")
BULLET = re.compile(r"\s*(?:[-*•–+]|\d{1,3}[.)])\s")
WRAPPED = 50  # characters: prose broken into lines has longer ones, notes and lists have shorter
UNDERLINE = re.compile(r"([=\-~^\"'`*+#:._])\1{2,}\s*\Z")
OUTLINE = re.compile(r"(\*+)\s+(\S.*)")  # a heading of an outline in Org's form


def read_text(document: Document) -> Iterator[Passage]:
    """Give the paragraphs of a plain text; a line that ends early or a bullet ends one, too.

    A line that is underlined, or an Org heading, is the heading of what follows.
    """
    text = decoded(document)
    if whatsapp.recognises(text):
        yield from whatsapp.read(document, text)
        return
    document.plain = True
    org = document.name.lower().endswith(".org")
    headings = Headings(document)
    start = 0
    for match in chain(BLANK.finditer(text), (None,)):
        end = match.start() if match else len(text)
        yield from _paragraph(text[start:end], start, headings, org)
        start = match.end() if match else end
    headings.end()


def _paragraph(paragraph: str, start: int, headings: Headings, org: bool) -> Iterator[Passage]:
    """Cut a paragraph where its line breaks are meant, and not made by a margin."""
    lines = [match for match in LINE.finditer(paragraph) if match[0]]
    begin = 0
    for n, match in enumerate(lines):
        line, after = match[0].strip(), lines[n + 1][0].strip() if n + 1 < len(lines) else ""
        outline = OUTLINE.fullmatch(line) if org else None
        if begin == match.start() and (outline or _underlined(line, after)):
            headings.add(
                len(outline[1]) if outline else 1 + "=-~^\"'`*+#:._".index(after[0]),
                outline[2] if outline else line,
            )
            begin = match.end()
            continue
        ends = len(line) < WRAPPED or BULLET.match(paragraph, match.end())
        if ends or match.end() == len(paragraph):
            piece = paragraph[begin : match.end()]
            if any(map(str.isalnum, piece)):
                yield Passage(piece, group=headings.path(), start=start + begin)
            begin = match.end()


def _underlined(line: str, after: str) -> bool:
    """Whether a line is a title over its underline, which is about as long."""
    words = any(map(str.isalnum, line)) and not BULLET.match(line)
    return words and bool(UNDERLINE.match(after)) and abs(len(after) - len(line)) <= 3
