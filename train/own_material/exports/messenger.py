"""Messenger and Instagram: a thread, newest message first, its accents broken by the export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import Fields
from memenvs.train.own_material.messages import Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("participants", "messages", "title", "thread_path")
PEOPLE, MESSAGE = "participants", ("sender_name", "senderName")


def recognises(head: Head) -> bool:
    """Whether a record is a thread of Messenger or Instagram."""
    return any(
        PEOPLE in record
        and any(isinstance(m, dict) and any(n in m for n in MESSAGE) for m in _messages(record))
        for record in head.records()
    )


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages, oldest first; reactions, photos, shares and calls are left out."""
    chats = Chats(document)
    for _, value in head.entries():
        thread = Fields(value)
        group = _mended(str(thread.take("title", "threadname") or ""))
        thread.skip("messages", "participants", "threadpath", "isstillparticipant", "magicwords")
        thread.report(document)
        for message in reversed(_messages(value)):
            fields = Fields(_mended(message))
            text = str(fields.take("content", "text") or "")
            speaker = fields.take("sendername")
            moment = fields.take("timestampms", "timestamp")
            fields.skip("type", "isunsent", "isgeoblockedforviewer", "isunsentimagebymessengerkid")
            fields.report(document)
            if not text.strip():
                document.note("message without text left out")
                continue
            yield Passage(
                text,
                group=group or chats.group(None),
                shared=bool(group),
                source=chats.people.name(speaker),
                moment=moment,
                whole=True,
            )


def _messages(value: Any) -> list[Any]:
    listed = value.get("messages") if isinstance(value, dict) else None
    return [m for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []


def _mended(value: Any) -> Any:
    """Read UTF-8 that was written as if each of its bytes were a character of Latin-1."""
    if isinstance(value, str):
        try:
            return value.encode("latin-1").decode()
        except UnicodeError:
            return value
    if isinstance(value, list):
        return [_mended(part) for part in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(part) for name, part in value.items()}
    return value
