"""The claims of all documents as one material: one name each, one origin of time, one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memenvs.train.own_material.segment import Placed

SHORT = 60  # characters of an answer that is told with its question
ASKS = ("?", "？", "؟", ";")


@dataclass(frozen=True)
class Note:
    """What of a document was left out or read otherwise, how often, and how many words it was."""

    document: str
    reason: str
    times: int = 1
    words: int = 0


def told_apart(placed: Sequence[Placed], notes: list[Note]) -> list[Placed]:
    """Name each claim once: an id that several claims have is told apart by document and group."""
    owners = Counter(p.claim.id for p in placed)
    if len(owners) == len(placed):
        return list(placed)
    within = Counter((p.document, p.claim.id) for p in placed)
    taken: set[str] = {name for name, times in owners.items() if times == 1}
    named, twice = [], Counter[str]()
    for p in placed:
        identifier = p.claim.id
        if owners[identifier] > 1:
            group = p.claim.group.removeprefix(f"{p.document}, ")
            told = p.document if within[p.document, identifier] == 1 else f"{p.document}, {group}"
            identifier = f"{told}#{identifier}"
            number = 1
            while identifier in taken:
                number += 1
                identifier = f"{told}#{p.claim.id} ({number})"
            twice[p.document] += number > 1
            taken.add(identifier)
        named.append(replace(p, claim=replace(p.claim, id=identifier)))
    notes += [
        Note(document, "id given twice: told apart by a number", times)
        for document, times in twice.items()
        if times
    ]
    return named


def in_time(placed: Sequence[Placed], notes: list[Note]) -> list[Placed]:
    """Give times as days since the first date, and dated claims in order of time.

    Claims without a date stay where they stand. Times of a recording count from its start, which
    no date tells; they are kept where it is all that has times.
    """
    dates = [p.claim.time for p in placed if p.dated and p.claim.time is not None]
    recordings = {p.document for p in placed if not p.dated and p.claim.time is not None}
    origin = min(dates, default=0.0)
    aligned = []
    for p in placed:
        time = p.claim.time
        if time is not None and p.dated:
            time -= origin
        elif time is not None and len(recordings) + bool(dates) > 1:
            time = None
        if time != p.claim.time:
            p = replace(p, claim=replace(p.claim, time=time))
        aligned.append(p)
    if len(recordings) + bool(dates) > 1:
        notes += [
            Note(name, "times left out: they count from its own start, which no date tells")
            for name in sorted(recordings)
        ]
    ordered = iter(sorted((p for p in aligned if p.dated), key=lambda p: p.claim.time or 0.0))
    return [next(ordered) if p.dated else p for p in aligned]


def with_questions(placed: Sequence[Placed]) -> list[Placed]:
    """Put a question and the short answer that another gives next in one claim, the answer's."""
    joined: list[Placed] = []
    for p in placed:
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.claim.text.endswith(ASKS)
            and not p.claim.text.endswith(ASKS)
            and len(p.claim.text) <= SHORT
            and (before.document, before.claim.group) == (p.document, p.claim.group)
            and before.claim.source != p.claim.source
        ):
            text = f"{before.claim.text} {p.claim.text}"
            joined[-1] = replace(p, claim=replace(p.claim, text=text), start=before.start)
        else:
            joined.append(p)
    return joined
