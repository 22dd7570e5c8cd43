"""Reader of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memenvs.text.normal import normal_text
from memenvs.train.own_material import telegram_pages
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.passages import Document, Headings, Passage

CHARSET = re.compile(rb"""charset=["']?([\w-]+)""", re.IGNORECASE)
UNSEEN = {
    "title": "title of the page",
    "script": "script",
    "style": "style sheet",
    "noscript": "text for readers without scripts",
    "template": "template",
    "svg": "drawing",
    "head": "head of the page",
    "nav": "menu",
    "iframe": "frame",
    "select": "choice of a form",
    "datalist": "choice of a form",
    "textarea": "field of a form",
}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"),
    *("dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
    *("header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "ol", "p", "pre", "search"),
    *("section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", *HEADINGS),
}
APART = ("br", "td", "th", "wbr", "option")  # no blocks, but no parts of a word either
BOXES = ("button", "video", "audio", "canvas", "object", "meter", "progress")  # with words in them


def read_html(document: Document) -> Iterator[Passage]:
    """Give the text of each block of a page, under its headings, without menus and scripts.

    Of a chat that Telegram exported as pages the messages are given.
    """
    declared = CHARSET.search(document.content[:4096])
    text = ""
    if declared and document.encoding is None:
        try:
            text = normal_text(document.content.decode(declared[1].decode()))
        except (LookupError, UnicodeDecodeError):
            document.note(f"declares {declared[1].decode()}, which it is not")
    text = text or decoded(document)
    if telegram_pages.recognises(text):
        yield from telegram_pages.read(document, text)
    else:
        yield from blocks(document, text)


def text_of_html(document: Document, text: str) -> str:
    """Give the text of a piece of HTML as one, such as a message that is written in it."""
    return "\n".join(
        "\n".join(filter(None, (passage.group, passage.text))) for passage in blocks(document, text)
    )


def blocks(document: Document, text: str) -> Iterator[Passage]:
    """Give the text of each block of HTML, with its headings as its group."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    _leave_unseen(document, tree)
    headings = Headings(document)
    for tag, written in _runs(document, tree.root):
        if written and tag in HEADINGS:
            headings.add(int(tag[1]), written)
        elif written:
            yield Passage(written, headings.path())
    headings.end()


def alternatives(document: Document, tag: str) -> str:
    """Give what a single tag shows in place of a picture; a comment in it is left out."""
    from selectolax.lexbor import LexborHTMLParser

    if tag.startswith("<!--"):
        document.leave("comment of HTML left out", tag[4:-3])
        return ""
    image = LexborHTMLParser(tag).css_first("[alt]")
    return (image.attributes.get("alt") or "") if image is not None else " " * (tag[:3] == "<br")


def _leave_unseen(document: Document, tree: Any) -> None:
    from selectolax.lexbor import LexborHTMLParser

    for tag, what in UNSEEN.items():
        for node in tree.css(tag):
            if tag == "template":  # a document by itself, whose words are not its node's
                inside: Any = LexborHTMLParser(node.html.replace("<template", "<div"))
                text = inside.root.text(separator=" ")
            else:
                text = node.text(separator=" ")
            if text.strip():
                document.leave(f"{what} left out", text)
            node.replace_with(" ")
    for node in tree.css(", ".join(BOXES)):
        node.insert_before(" ")
        node.insert_after(" ")


def _runs(document: Document, root: Any) -> Iterator[tuple[str, str]]:
    """Give each run of text that stands in one block, with the block's tag."""
    owner: Any = None
    parts: list[str] = []
    known: dict[int, Any] = {}
    # Comments may stand before and after the root.
    for node in root.parent.traverse(include_text=True) if root is not None else ():
        if node.tag == "-text" or (node.tag in ("img", "area", "input") and _shown(node)):
            block = _block(node, known)
            if owner is not None and (block is None or block.mem_id != owner.mem_id):
                yield owner.tag, " ".join("".join(parts).split())
                parts = []
            owner = block
            parts.append(_shown(node) if node.tag != "-text" else _text(node))
        elif node.tag == "-comment":
            document.leave("comment of HTML left out", node.comment_content or "")
        elif node.tag in APART:
            parts.append(" ")
    if owner is not None:
        yield owner.tag, " ".join("".join(parts).split())


def _text(node: Any) -> str:
    """Give a text; how characters are read aloud (ruby) stands in brackets after them."""
    text = node.text(deep=False) or ""
    if node.parent is not None and node.parent.tag == "rt" and text.strip():
        return f" ({text.strip()}) "
    return "" if node.parent is not None and node.parent.tag == "rp" else text


def _shown(node: Any) -> str:
    """Give the words that stand for a picture, or in a button."""
    attributes = node.attributes
    if node.tag == "input" and attributes.get("type") not in ("button", "submit", "reset", "image"):
        return ""
    return f" {attributes.get('alt') or attributes.get('value') or ''} ".replace("  ", "")


def _block(node: Any, known: dict[int, Any]) -> Any:
    """Find the block that a node stands in; of nodes that were passed it is known."""
    passed = []
    while node is not None and node.tag not in BLOCKS:
        if node.mem_id in known:
            node = known[node.mem_id]
            break
        passed.append(node.mem_id)
        node = node.parent
    known.update(dict.fromkeys(passed, node))
    return node
