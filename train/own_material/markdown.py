"""Reader of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.html import alternatives, blocks
from memenvs.train.own_material.passages import Document, Headings, Passage

NESTED = 100  # blocks within blocks, two for a list: what lies deeper is dropped by the parser
FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)(?:\r?\n)?---[^\S\n]*(?:\r?\n|\Z)", re.DOTALL)


def read_markdown(document: Document) -> Iterator[Passage]:
    """Give the passages of a Markdown file."""
    text = decoded(document)
    front = FRONT_MATTER.match(text)
    if front:
        document.leave("front matter left out", front[1])
        text = text[front.end() :]
    headings = Headings(document)
    yield from markdown_passages(document, text, headings)
    headings.end()


def markdown_passages(document: Document, text: str, headings: Headings) -> Iterator[Passage]:
    """Give paragraphs, list items, table rows and code blocks, each under its headings."""
    from markdown_it import MarkdownIt

    row: list[str] | None = None
    level = 0
    known: dict[str, Any] = {}
    for token in (
        MarkdownIt("commonmark", {"maxNesting": NESTED}).enable("table").parse(text, known)
    ):
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag[1]) if token.type == "heading_open" else 0
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            if any(row):
                yield Passage("; ".join(filter(None, row)), headings.path(), whole=True)
            row = None
        elif token.type == "inline":
            written = _inline(document, token)
            if row is not None:
                row.append(written)
            elif level:
                headings.add(level, written)
            elif written:
                yield Passage(written, headings.path())
        elif token.type in ("fence", "code_block"):
            if token.info.strip():
                document.leave("language of a code block left out", token.info)
            if token.content.strip():
                yield Passage(token.content, headings.path(), whole=True)
        elif token.type == "html_block":
            for passage in blocks(document, token.content):
                yield Passage(passage.text, headings.path())
    told = [*known.get("references", {}).items()]
    told += [(again["label"], again) for again in known.get("duplicate_refs", ())]
    yield from _definitions(document, told, headings)


def _definitions(
    document: Document, references: Sequence[tuple[str, dict[str, str]]], headings: Headings
) -> Iterator[Passage]:
    """Give one-word footnotes, which look like targets of links; report titles of the latter."""
    for label, target in references:
        if label.startswith("^"):
            yield Passage(f"{target['href']} {target['title']}".strip(), headings.path())
        elif target["title"]:
            document.leave("title of a link left out", target["title"])


def _inline(document: Document, token: Any) -> str:
    parts = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)  # what stands for it
        elif child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "html_inline":
            parts.append(alternatives(document, child.content))
        title = child.attrGet("title")
        if title:
            document.leave("title of a link left out", str(title))
    return "".join(parts).strip()
