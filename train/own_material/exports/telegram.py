"""Telegram Desktop's result.json: one chat, or a whole account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.errors import MaterialError
from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import Fields, strings
from memenvs.train.own_material.messages import Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("name", "type", "id", "messages", "chats")
CHATS = ("chats", "left_chats")
SAID_TWICE = ("id", "type", "date", "dateunixtime", "text", "textentities", "editedunixtime")


def recognises(head: Head) -> bool:
    """Whether the one record is a chat of Telegram, or an account with such."""
    records = head.records()
    return bool(records) and (_is_chat(records[0]) or any(_lists(records[0], c) for c in CHATS))


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages; source = the sender, also of what was forwarded; notices are left out."""
    chats = Chats(document)
    for _, value in head.entries():
        for chat in [value] if _is_chat(value) else [c for n in CHATS for c in _lists(value, n)]:
            group = chats.group(chat.get("name") or chat.get("type"))
            for place, message in enumerate(chat.get("messages") or ()):
                if not isinstance(message, dict):
                    raise MaterialError("is no message", record=f"{group}, message {place}")
                yield from _message(chats, group, message)
        for name, part in value.items():
            if not _is_chat(value) and name not in CHATS and part:
                document.leave(f"field '{name}' is not read", " ".join(strings(part)))


def _message(chats: Chats, group: str, value: dict[str, Any]) -> Iterator[Passage]:
    fields = Fields(value)
    text = _text(value.get("text"))
    if value.get("type") != "message":
        chats.document.leave("notice of Telegram left out", " ".join(strings(text or value)))
        return
    fields.skip(*SAID_TWICE)
    speaker, identifier = fields.take("from", "author"), fields.take("fromid")
    fields.report(chats.document)
    if not text.strip():
        chats.document.note("message without text left out")
        return
    yield Passage(
        text,
        group=group,
        source=chats.people.name(speaker or identifier, identifier),
        moment=value.get("date_unixtime") or value.get("date"),
        id=str(value.get("id", "")),
        whole=True,
    )


def _text(value: Any) -> str:
    """Join the pieces of a formatted text, which stand in one line."""
    if isinstance(value, list):
        return "".join(_text(piece) for piece in value)
    if isinstance(value, dict):
        return _text(value.get("text"))
    return value if isinstance(value, str) else ""


def _lists(value: Any, name: str) -> list[dict[str, Any]]:
    listed = value.get(name) if isinstance(value, dict) else None
    inner = listed.get("list") if isinstance(listed, dict) else None
    return [chat for chat in inner if isinstance(chat, dict)] if isinstance(inner, list) else []


def _is_chat(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    return any(
        isinstance(m, dict) and m.get("type") in ("message", "service") and "date" in m
        for m in value["messages"][:5]
    )
