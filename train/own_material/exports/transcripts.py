"""Transcripts of agents as JSON Lines: an event a line, some of which wrap a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import GROUPS, TIMES, Fields, strings
from memenvs.train.own_material.messages import CALLS, Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("type", "message", "payload", "timestamp")
WRAPPERS = ("message", "payload", "item", "event", "msg")


def recognises(head: Head) -> bool:
    """Whether a record wraps a message with its own role and content."""
    return any(_inner(record) for record in head.records())


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages; group = the session; events that are no message are left out."""
    chats = Chats(document)
    for _, value in head.entries():
        inner = _inner(value)
        if inner is None:
            kind = value.get("type", "") if isinstance(value, dict) else ""
            document.leave(
                f"record of the kind '{kind}' left out" if kind else "record left out",
                " ".join(strings(value)),
            )
            continue
        outer = Fields(value)
        told = {"time": outer.take(*TIMES), "session": outer.take(*GROUPS)}
        told["id"] = outer.take("uuid") or outer.peek("id")
        if inner.get("role") == value.get("type"):
            outer.skip("type")
        inner = {k: v for k, v in inner.items() if k not in ("id", "usage", "model", "stop_reason")}
        yield from chats.message({k: v for k, v in told.items() if v is not None} | inner)


def _inner(value: Any) -> dict[str, Any] | None:
    """Give the message that an event wraps."""
    if not isinstance(value, dict) or "role" in value:
        return None
    for name in WRAPPERS:
        inner = value.get(name)
        if not isinstance(inner, dict) or "role" not in inner:
            continue
        if "content" in inner or Fields(inner).has(*CALLS):
            return inner
    return None
