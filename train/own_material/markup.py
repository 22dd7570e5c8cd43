"""Readers of plain text, Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.passages import Document, Passage

BLANK = re.compile(r"\n[^\S\n]*\r?\n\s*")
LINE = re.compile(r"[^\n]*\n?")
BULLET = re.compile(r"\s*(?:[-*•–+]|\d{1,3}[.)])\s")
WRAPPED = 50  # characters: prose broken into lines has longer ones, notes and lists have shorter
NESTED = 100  # blocks within blocks, two for a list: what lies deeper is dropped by the parser
FRONT_MATTER = re.compile(r"\A---\r?\n.*?\r?\n---\r?\n", re.DOTALL)
CHARSET = re.compile(rb"""charset=["']?([\w-]+)""", re.IGNORECASE)
UNSEEN = ("script", "style", "noscript", "template", "svg", "head", "nav", "iframe", "select")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "caption", "dd", "div", "dl", "dt"),
    *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li", "main"),
    *("ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul", *HEADINGS),
}


def read_text(document: Document) -> Iterator[Passage]:
    """Give the paragraphs of a plain text; a line that ends early or a bullet ends one, too."""
    text = decoded(document)
    document.plain = True
    start = 0
    for match in chain(BLANK.finditer(text), (None,)):
        end = match.start() if match else len(text)
        yield from _lines(text[start:end], start)
        start = match.end() if match else end


def _lines(paragraph: str, start: int) -> Iterator[Passage]:
    """Cut a paragraph where its line breaks are meant, and not made by a margin."""
    begin = 0
    for match in LINE.finditer(paragraph):
        line = match[0]
        ends = len(line.strip()) < WRAPPED or BULLET.match(paragraph, match.end())
        if ends or match.end() == len(paragraph):
            piece = paragraph[begin : match.end()]
            if piece.strip():
                yield Passage(piece, start=start + begin)
            begin = match.end()


def read_markdown(document: Document) -> Iterator[Passage]:
    """Give paragraphs, list items, table rows and code blocks, each under its heading."""
    from markdown_it import MarkdownIt

    text, front = FRONT_MATTER.subn("", decoded(document))
    if front:
        document.note("front matter left out")
    heading, in_heading = "", False
    row: list[str] | None = None
    for token in MarkdownIt("commonmark", {"maxNesting": NESTED}).enable("table").parse(text):
        if token.type in ("heading_open", "heading_close"):
            in_heading = token.type == "heading_open"
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            yield Passage("; ".join(filter(None, row)), group=heading, whole=True)
            row = None
        elif token.type == "inline":
            written = _inline(token)
            if row is not None:
                row.append(written)
                continue
            heading = written if in_heading else heading
            yield Passage(written, group=heading)
        elif token.type in ("fence", "code_block"):
            yield Passage(token.content, group=heading, whole=True)
        elif token.type == "html_block":
            for passage in _blocks(token.content):
                yield Passage(passage.text, group=heading)


def _inline(token: Any) -> str:
    parts = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)  # what stands for it
        elif child.type in ("text", "code_inline"):
            parts.append(child.content)
    return "".join(parts).strip()


def read_html(document: Document) -> Iterator[Passage]:
    """Give the text of each block of a page, under its heading, without menus and scripts."""
    declared = CHARSET.search(document.content[:4096])
    text = ""
    if declared:
        try:
            text = document.content.decode(declared[1].decode())
        except (LookupError, UnicodeDecodeError):
            document.note(f"declares {declared[1].decode()}, which it is not")
    yield from _blocks(text or decoded(document))


def _blocks(text: str) -> Iterator[Passage]:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    tree.strip_tags(list(UNSEEN))
    heading = ""
    for tag, written in _runs(tree.root):
        if written:
            heading = written if tag in HEADINGS else heading
            yield Passage(written, group=heading)


def _runs(root: Any) -> Iterator[tuple[str, str]]:
    """Give each run of text that stands in one block, with the block's tag."""
    owner: Any = None
    parts: list[str] = []
    for node in root.traverse(include_text=True) if root is not None else ():
        if node.tag == "-text":
            block = _block(node)
            if owner is not None and (block is None or block.mem_id != owner.mem_id):
                yield owner.tag, " ".join("".join(parts).split())
                parts = []
            owner = block
            parts.append(node.text(deep=False) or "")
        elif node.tag in ("br", "td", "th"):
            parts.append(" ")
    if owner is not None:
        yield owner.tag, " ".join("".join(parts).split())


def _block(node: Any) -> Any:
    """Find the block that a node stands in."""
    while node is not None and node.tag not in BLOCKS:
        node = node.parent
    return node
