"""Telegram Desktop's export of a chat as pages: messages.html, messages2.html, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memenvs.train.own_material.passages import Document, Passage

MESSAGE = re.compile(r'<div class="message (?:default|service)[ "]')
PARTS = {  # of a message, by the classes of its nodes; the first match of a node counts
    ".pull_left.userpic_wrap": "initials of a person",
    ".reply_to": "reference to another message",
    ".media_wrap": "attachment",
    ".reactions": "reaction",
    ".signature": "signature",
}


def recognises(text: str) -> bool:
    """Whether a page is a chat of Telegram."""
    return 'class="history"' in text and bool(MESSAGE.search(text))


def read(document: Document, text: str) -> Iterator[Passage]:
    """Give the messages; source = the sender, also of what was forwarded; notices are left out."""
    from selectolax.lexbor import LexborHTMLParser

    tree: Any = LexborHTMLParser(text)
    chat = _taken(tree.css_first(".page_header .text.bold"))
    speaker = ""
    for node in tree.css("div.message"):
        if "service" in _classes(node):
            document.leave("notice of Telegram left out", _taken(node))
            continue
        forwarded = node.css_first(".forwarded > .from_name")
        if forwarded is not None:
            document.leave("name of who was forwarded left out", _taken(forwarded))
        for classes, what in PARTS.items():
            for part in node.css(classes):
                document.leave(f"{what} left out", _taken(part))
        date = node.css_first(".date.details")
        moment = date.attributes.get("title") if date is not None else None
        _taken(date)
        # A message right after another of its sender bears no name.
        speaker = _taken(node.css_first(".from_name")) or speaker
        said = " ".join(filter(None, (_taken(part) for part in node.css(".text"))))
        rest = _taken(node)
        if rest:
            document.leave("other part of a message left out", rest)
        if said:
            identifier = (node.attributes.get("id") or "").removeprefix("message")
            yield Passage(said, chat, source=speaker, moment=moment, id=identifier, whole=True)
        else:
            document.note("message without text left out")
    rest = " ".join((tree.body.text(separator=" ") if tree.body else "").split())
    if rest:
        document.leave("head or foot of the page left out", rest)


def _taken(node: Any) -> str:
    """Give the text of a node, on one line, and take it out of the page; "" without a node."""
    if node is None:
        return ""
    for line_end in node.css("br"):
        line_end.replace_with(" ")
    text = " ".join(node.text().split())
    for child in list(node.iter(include_text=True)):
        child.decompose()
    return text


def _classes(node: Any) -> list[str]:
    return (node.attributes.get("class") or "").split()
