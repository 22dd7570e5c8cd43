"""Readers of chats as JSON or JSON Lines: OpenAI's shape, ShareGPT's, and plain messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memenvs.errors import MaterialError
from memenvs.strict_json import json_type
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.passages import (
    GROUPS,
    SPEAKERS,
    TEXTS,
    TIMES,
    Document,
    Passage,
    days_of,
    first_of,
)

NESTED = ("messages", "conversations", "turns")  # OpenAI, ShareGPT, others
NAMES = ("id", *GROUPS)


def read_chat(document: Document) -> Iterator[Passage]:
    """Give the messages: of conversations (``messages``, ``conversations``) or one by one.

    Source = who speaks, group = the conversation, an ``id`` of a message names its claim. Raises
    ``MaterialError`` that names the line.
    """
    text = decoded(document)
    conversations = 0
    for where, value in _values(text, document.name):
        try:
            nested = value if isinstance(value, list) else _nested(value)
            if nested is None:
                yield from _message(document, value, "")
                continue
            conversations += 1
            known = first_of(value, NAMES) if isinstance(value, dict) else None
            group = f"conversation {conversations}" if known is None else str(known)
            for message in nested:
                yield from _message(document, message, group)
        except MaterialError as error:
            raise error.within(document.name, where) from None


def _values(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Read a whole JSON value (a list is read entry by entry), or one a line."""
    if not text.strip():
        raise MaterialError("is empty; give messages", file=name)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                try:
                    yield f"line {number}", json.loads(line)
                except (ValueError, RecursionError):
                    raise MaterialError(
                        "is not valid JSON", record=f"line {number}", file=name
                    ) from None
        return
    if isinstance(value, list) and not all(_is_message(entry) for entry in value):
        yield from ((f"entry {place}", entry) for place, entry in enumerate(value))
    else:
        yield "", value


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and not any(name in value for name in NESTED)


def _nested(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        raise MaterialError(f"is {json_type(value)}, not a message or a conversation")
    return next((value[name] for name in NESTED if isinstance(value.get(name), list)), None)


def _message(document: Document, message: Any, group: str) -> Iterator[Passage]:
    if not isinstance(message, dict):
        raise MaterialError(f"holds {json_type(message)} where a message should be")
    names = [name for name in TEXTS if name in message]
    if not names:
        raise MaterialError(f"is no message: it has none of {', '.join(TEXTS)}")
    text = _text(document, message[names[0]])
    if not text.strip():
        document.note("message without text left out")
        return
    if message.get("role", message.get("from")) == "system":
        document.note("system message left out")
        return
    time = days_of(first_of(message, TIMES))
    if time is None and first_of(message, TIMES) is not None:
        document.note("time that is no ISO date and no number left out")
    yield Passage(
        text,
        group=group or str(first_of(message, GROUPS) or ""),
        shared=not group,
        source=str(first_of(message, SPEAKERS) or ""),
        time=time,
        dated=True,
        id=str(message.get("id", "")),
        whole=True,
    )


def _text(document: Document, content: Any) -> str:
    """Read a message's content: a text, nothing, or OpenAI's list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise MaterialError(f"holds {json_type(content)} where a text should be", field="content")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            document.note("part of a message that is no text left out")
    return "\n".join(texts)
