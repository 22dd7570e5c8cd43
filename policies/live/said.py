"""What a `WriteMemory` is given to read: a text, or messages as chats have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memenvs.text.times import Dates

Messages = Sequence[Mapping[str, Any]]
Time = float | str | datetime | None


class Said(NamedTuple):
    """A text, who said it, and when."""

    text: str
    source: str
    time: float | None


def what_is_said(given: str | Messages, source: str | None, time: Time) -> list[Said]:
    """List the texts of what was given; ``source`` and ``time`` stand in where a message has none.

    Raises ``ValueError`` for what is no message, content that is no text, and an unknown date.
    """
    if not isinstance(given, (list, tuple)):
        return [Said(given, source or "", days(time))]  # type: ignore[arg-type]
    said = []
    for message in given:
        if not isinstance(message, Mapping):
            kind = type(message).__name__
            raise ValueError(f'a message is {kind}, not like {{"role": "user", "content": "..."}}')
        text = message.get("content")
        if text is not None and not isinstance(text, str):
            raise ValueError(f"the content of a message is {type(text).__name__}, not a text")
        if text:
            who = message.get("name") or source or message.get("role") or ""
            own = message.get("time")
            said.append(Said(text, who, days(time if own is None else own)))
    return said


def days(time: Time) -> float | None:
    """Give a time as a number; raises ``ValueError`` for a text that is no date."""
    if time is None or isinstance(time, (int, float)):
        return time
    found = Dates().days(time)
    if found is None:
        raise ValueError(f"'{time}' is no date that is known; give a number, or 2024-01-31")
    return found
