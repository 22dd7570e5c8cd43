"""Gemini: the activity that Google Takeout gives, and chats of AI Studio."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import Fields
from memenvs.train.own_material.html import text_of_html
from memenvs.train.own_material.messages import Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("header", "title", "time", "products", "safeHtmlItem")
PROMPTED = ("Prompted ", "Prompt: ", "Asked ", "Said ")  # other languages keep their word for it


def recognises(head: Head) -> bool:
    """Whether a record is an activity of Google's, or a chat of AI Studio."""
    return any(
        {"header", "title", "time"} <= set(record) or _chunks(record) for record in head.records()
    )


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give prompts, source "user", and answers, source "Gemini"; without an answer, the title."""
    chats = Chats(document)
    for _, value in head.entries():
        if not isinstance(value, dict):
            continue
        if _chunks(value):
            yield from _studio(chats, value)
            continue
        fields = Fields(value)
        title, moment = str(fields.take("title") or ""), fields.take("time")
        group = str(fields.take("header") or "")
        answers = fields.take("safehtmlitem") or []
        fields.skip("products", "activitycontrols", "titleurl")
        fields.report(document)
        for word in PROMPTED:
            title = title.removeprefix(word)
        said = [("user", title)] + [
            ("Gemini", text_of_html(document, answer["html"]))
            for answer in answers
            if isinstance(answer, dict) and isinstance(answer.get("html"), str)
        ]
        for source, text in said:
            if text.strip():
                yield Passage(
                    text, group=group, shared=True, source=source, moment=moment, whole=True
                )


def _studio(chats: Chats, value: dict[str, Any]) -> Iterator[Passage]:
    group = chats.group(value.get("title"))
    for chunk in _chunks(value):
        if chunk.get("isThought"):
            chats.document.leave("thought of a model left out", str(chunk.get("text") or ""))
            continue
        yield from chats.message({"text": "", **chunk}, group)
    fields = Fields(value)
    fields.skip("chunkedprompt", "title")
    fields.report(chats.document)


def _chunks(value: dict[str, Any]) -> list[dict[str, Any]]:
    prompt = value.get("chunkedPrompt")
    chunks = prompt.get("chunks") if isinstance(prompt, dict) else None
    return [c for c in chunks if isinstance(c, dict)] if isinstance(chunks, list) else []
