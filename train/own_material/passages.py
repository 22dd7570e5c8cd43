"""What readers make of documents: passages, with what is known about each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

SECONDS = 86_400  # of a day, the unit of time
HALF = re.compile(r"[\ud800-\udfff]")
MILLISECONDS = 1e11  # epoch seconds are below, until the year 5138

# What fields of messages and columns of tables are called, the first that is there counts.
SPEAKERS = ("name", "speaker", "author", "sender", "role", "from", "user", "source")
TEXTS = ("content", "value", "text", "message", "body", "sentence", "claim", "note")
TIMES = ("time", "timestamp", "created_at", "create_time", "date", "datetime")
GROUPS = (
    *("session", "session_id", "conversation_id", "conversation", "thread_id", "thread"),
    *("chat_id", "channel", "group"),
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that belongs together."""

    text: str
    group: str = ""  # heading, page, session; "" stands for the document
    shared: bool = False  # whether other documents mean the same by the group
    source: str = ""  # speaker; "" stands for the document
    time: float | None = None  # in days
    dated: bool = False  # whether the time counts from 1970, not from the document's start
    start: int | None = None  # place of its first character in a plain text
    id: str = ""
    whole: bool = False  # one claim, however many sentences: a message, a row


@dataclass
class Document:
    """A file under reading: its content, and an account of what was not taken over."""

    name: str
    content: bytes
    notes: Counter[str] = field(default_factory=Counter)
    plain: bool = False  # whether passages know their place

    def note(self, reason: str, times: int = 1) -> None:
        """Count one thing that was left out or read otherwise than it stands."""
        self.notes[reason] += times


def whole_text(text: str) -> str:
    """Replace halves of surrogate pairs, which cut-off emoji and names of files leave behind."""
    return HALF.sub("\ufffd", text)


def first_of(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Give the value of the first of the names that has one."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def days_of(value: Any) -> float | None:
    """Read a time as days since 1970: an ISO date, or seconds or milliseconds; else None."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        try:
            date = datetime.fromisoformat(str(value).strip())
        except ValueError:
            return None
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return date.timestamp() / SECONDS
    if not abs(number) < MILLISECONDS * 1000:  # NaN too
        return None
    return number / (1000 * SECONDS) if abs(number) >= MILLISECONDS else number / SECONDS
