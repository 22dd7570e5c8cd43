"""What a system has to offer to be measured, and what of its entries is known again."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Entry: TypeAlias = str | Mapping[str, Any]  # its text, or {"text": ..., "id": ...}


class System(Protocol):
    """A memory that is to be measured. A ``search(query, k)`` besides is used for reading.

    Where its class or factory takes ``capacity``, it is told how many entries it may keep.
    """

    def add(self, text: str, **facts: Any) -> object:
        """Read a statement, and keep of it what it will.

        ``facts`` are ``id`` (a string that ``contents`` may give back) and, where they are known,
        ``source``, ``group``, ``time`` and ``confidence``.
        """
        ...

    def contents(self) -> Iterable[Entry]:
        """List what is stored, the oldest first."""
        ...


class Searchable(System, Protocol):
    """A memory that can be asked."""

    def search(self, query: str, k: int) -> Iterable[Entry]:
        """Give the ``k`` entries that serve a query best."""
        ...


class FaultySystemError(ValueError):
    """A system that cannot be measured; says in one line what it did."""


@dataclass(frozen=True)
class Known:
    """An entry whose shape is known."""

    text: str
    id: str | None


class Matcher:
    """Finds the claim behind an entry.

    By the id it was given; else by its text, which has to be the claim's but for case, white space
    and Unicode's forms (NFKC). Of several claims of one text each entry takes another, the first
    read first. Whatever is worded otherwise is no claim.
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._texts: dict[str, list[int]] = {}

    def read(self, identifier: str, text: str, claim: int) -> None:
        """Learn what the system was given."""
        self._ids[identifier] = claim
        self._texts.setdefault(_plain(text), []).append(claim)

    def match(self, entries: Iterable[Known]) -> list[int | None]:
        """Give the claim of each entry; None where it is no claim."""
        taken: set[int] = set()
        found: list[int | None] = []
        for entry in entries:
            claim = self._ids.get(entry.id) if entry.id is not None else None
            if claim is None:
                same = self._texts.get(_plain(entry.text), [])
                claim = next((c for c in same if c not in taken), same[0] if same else None)
            if claim is not None:
                taken.add(claim)
            found.append(claim)
        return found


def known_entries(entries: object, system: str, call: str) -> list[Known]:
    """Read what a system gave; raises ``FaultySystemError`` that names it and the call."""
    if isinstance(entries, str | Mapping) or not isinstance(entries, Iterable):
        raise FaultySystemError(
            f"the system '{system}' gave no list in {call}: {type(entries).__name__}"
        )
    found = []
    for entry in entries:
        text, identifier = (entry, None) if isinstance(entry, str) else _fields(entry)
        if not isinstance(text, str):
            raise FaultySystemError(
                f"the system '{system}' gave in {call} an entry without a text: {entry!a:.60}"
            )
        found.append(Known(text, None if identifier is None else str(identifier)))
    return found


def cut(costs: Sequence[float], capacity: int, allowance: float) -> int:
    """Say how many entries, from the last one backwards, fit: what is kept beyond is cut."""
    spent, kept = 0.0, 0
    for cost in reversed(costs):
        if kept == capacity or spent + cost > allowance:
            break
        spent, kept = spent + cost, kept + 1
    return kept


def _fields(entry: object) -> tuple[Any, Any]:
    if not isinstance(entry, Mapping):
        return None, None
    return entry.get("text"), entry.get("id")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
