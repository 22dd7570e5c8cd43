"""LangChain's messages, as messages_to_dict and dumpd write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.messages import Chats, nested_in
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("type", "data", "kwargs")


def recognises(head: Head) -> bool:
    """Whether a record wraps a message in ``data`` or ``kwargs``, alone or in a conversation."""
    return any(
        _inner(record) or any(map(_inner, record.get(nested_in(record), ())))
        for record in head.records()
    )


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages; source = name, else the kind of message: human, ai, tool."""
    chats = Chats(document)
    listed = len(head.values) == 1 and isinstance(head.values[0][1], list)
    alone = chats.group(None) if listed else ""
    for _, value in head.entries():
        nested = nested_in(value)
        if nested and not _inner(value):
            messages = [_unwrapped(message) for message in value[nested]]
            yield from chats.conversation({**value, nested: messages}, nested)
        else:
            yield from chats.message(_unwrapped(value), alone)


def _inner(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    for name in ("data", "kwargs"):
        inner = value.get(name)
        if isinstance(inner, dict) and "content" in inner and ("type" in value or "lc" in value):
            return inner
    return None


def _unwrapped(value: Any) -> Any:
    inner = _inner(value)
    if inner is None:
        return value
    dropped = ("type", "additional_kwargs", "response_metadata", "usage_metadata", "example")
    kind = inner.get("type") or value.get("type")
    if kind == "constructor" and isinstance(value.get("id"), list):
        kind = str(value["id"][-1]).removesuffix("Message").removesuffix("MessageChunk").casefold()
    return {"role": kind} | {k: v for k, v in inner.items() if k not in dropped}
