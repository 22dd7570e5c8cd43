"""LoCoMo (Maharana et al., 2024): long conversations over many sessions, with questions.

A claim is a turn, a query a question of categories 1 to 4, its only support the turns that the
annotators named as evidence. Session summaries, event summaries and observations are annotations
of the same turns and are not read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from datetime import datetime
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.items import items_of
from memenvs.material.material import Material
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, Note, expect, member
from memenvs.strict_json import read_json

ADVERSARIAL = 5
CATEGORIES = range(1, 6)
SESSION = re.compile(r"session_([1-9][0-9]{0,8})")
DATED = re.compile(r"session_([1-9][0-9]{0,8})_date_time")
DATE = re.compile(r"(\d{1,2}):(\d{2}) ([ap])m on (\d{1,2}) ([a-z]+),? (\d{4})", re.IGNORECASE)
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
TURN = re.compile(r"D:?([0-9]{1,9}):([0-9]{1,9})")
SEPARATORS = re.compile(r"[;,\s]+")


def read_locomo(path: str | os.PathLike[str]) -> Conversion:
    """Read a LoCoMo file: one material a conversation, one claim a turn, one query a question.

    Source = speaker, group = session, time = the session's date in days since the conversation's
    first session, cue ``picture`` = 1 where the turn shares one, whose caption the text then
    holds. A question whose evidence cannot be resolved is left out, never given less. Raises
    ``MaterialError`` that names the file, the record and the field.
    """
    file = os.fspath(path)
    document = read_json(path)
    notes: list[Note] = []
    try:
        expect(document, list, "conversations")
        materials = tuple(
            _conversation(sample, f"conversation {place}", notes)
            for place, sample in enumerate(document)
        )
        if not materials:
            raise MaterialError("holds no conversation")
        for name, times in Counter(material.name for material in materials).items():
            if times > 1:
                raise MaterialError(f"two conversations are named '{name}'", field="sample_id")
    except MaterialError as error:
        raise error.within(file) from None
    return Conversion(materials, tuple(notes))


def _conversation(sample: Any, where: str, notes: list[Note]) -> Material:
    try:
        expect(sample, dict, "a conversation")
        where = name = member(sample, "sample_id", str)
        claims = _claims(member(sample, "conversation", dict), name, notes)
        turns = {claim.id for claim in claims}
        supports: dict[str, list[tuple[str, ...]]] = {}
        queries = []
        for place, question in enumerate(member(sample, "qa", list)):
            query = _query(question, place)
            evidence = _evidence(question, query, turns, name, notes) if query else None
            if query is None:
                notes.append(_unasked(question, place, name))
            elif evidence:
                supports[query.id] = [evidence]
                queries.append(query)
        return Material(name, claims, items_of(claims, supports), tuple(queries))
    except MaterialError as error:
        raise error.within("", where) from None


def _claims(conversation: dict[str, Any], name: str, notes: list[Note]) -> tuple[Claim, ...]:
    numbers = sorted(int(m[1]) for key in conversation if (m := SESSION.fullmatch(key)))
    dates = {number: _date(conversation, number, name, notes) for number in numbers}
    for key in conversation:
        if (match := DATED.fullmatch(key)) and int(match[1]) not in dates:
            notes.append(Note("left out", name, key, "dates a session that is not there"))
    first = min((date for date in dates.values() if date), default=None)
    claims = []
    for number in numbers:
        date = dates[number]
        days = (date - first).total_seconds() / 86_400 if date and first else None
        for place, turn in enumerate(member(conversation, f"session_{number}", list)):
            try:
                claims.append(_claim(turn, f"session-{number}", days))
            except MaterialError as error:
                raise error.within("", f"session_{number}[{place}]") from None
    return tuple(claims)


def _claim(turn: Any, group: str, days: float | None) -> Claim:
    expect(turn, dict, "a turn")
    text = member(turn, "text", str)
    picture = "blip_caption" in turn
    if picture:
        text = f"{text} [shares a picture: {member(turn, 'blip_caption', str)}]".lstrip()
    return Claim(
        id=member(turn, "dia_id", str),
        text=text,
        source=member(turn, "speaker", str),
        group=group,
        time=days,
        cues={"picture": float(picture)},
    )


def _date(
    conversation: dict[str, Any], number: int, name: str, notes: list[Note]
) -> datetime | None:
    """Read a date such as "1:56 pm on 8 May, 2023"; month names must not depend on a locale."""
    key = f"session_{number}_date_time"
    text = member(conversation, key, str) if key in conversation else ""
    match = DATE.fullmatch(text.strip())
    if match and match[5].lower() in MONTHS:
        hour, minute, half, day, month, year = match.groups()
        hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
        try:
            return datetime(
                int(year), MONTHS.index(month.lower()) + 1, int(day), hours, int(minute)
            )
        except ValueError:
            pass  # a 31 June
    notes.append(Note("left out", name, key, "gives no date, so its turns have no time", "", text))
    return None


def _query(question: Any, place: int) -> Query | None:
    """Check a question; give its query, or none where its category is not asked."""
    try:
        expect(question, dict, "a question")
        category = member(question, "category", int)
        if category not in CATEGORIES:
            raise MaterialError(f"{category} is none of 1 to 5", field="category")
        if category == ADVERSARIAL:
            return None
        answer = member(question, "answer", (str, int, float))
        return Query(id=f"q{place}", text=member(question, "question", str), answer=str(answer))
    except MaterialError as error:
        raise error.within("", f"qa[{place}]") from None


def _unasked(question: dict[str, Any], place: int, name: str) -> Note:
    reason = "adversarial (category 5), no answer"
    if "answer" in question:
        reason = "adversarial (category 5), although with an answer"
    return Note("left out", name, f"query 'q{place}'", reason)


def _evidence(
    question: dict[str, Any], query: Query, turns: set[str], name: str, notes: list[Note]
) -> tuple[str, ...]:
    """Resolve the turns that a question rests on; none at all where any one cannot be."""
    record = f"query '{query.id}'"

    def note(kind: str, reason: str, found: str = "") -> Note:
        left_out = kind == "left out"
        return Note(
            "left out" if left_out else "normalised", name, record, reason, "evidence", found
        )

    resolved: list[str] = []
    normalised: list[Note] = []
    try:
        strings = member(question, "evidence", list)
        for place, string in enumerate(strings):
            if not isinstance(string, str):
                member({f"evidence[{place}]": string}, f"evidence[{place}]", str)
    except MaterialError as error:
        raise error.within("", f"qa[{query.id[1:]}]") from None
    for string in strings:
        parts = [part for part in SEPARATORS.split(string) if part]
        if len(parts) != 1:
            normalised.append(note("normalised", "several turns in one string: split", string))
        for part in parts:
            turn = _turn(part, turns)
            if turn is None:
                shaped = TURN.fullmatch(part)
                reason = "names a turn that is not there" if shaped else "names no turn"
                notes.append(note("left out", reason, part))
                return ()
            if turn != part:
                normalised.append(note("normalised", "misspelt turn", f"{part} for {turn}"))
            if turn in resolved:
                normalised.append(note("normalised", "names a turn twice", turn))
            else:
                resolved.append(turn)
    if not resolved:
        notes.append(note("left out", "has no evidence"))
        return ()
    notes.extend(normalised)
    return tuple(resolved)


def _turn(part: str, turns: set[str]) -> str | None:
    """Find the turn that a piece of evidence names, as written or as "D:11:26" or "D1:03"."""
    if part in turns:
        return part
    match = TURN.fullmatch(part)
    plain = f"D{int(match[1])}:{int(match[2])}" if match else ""
    return plain if plain in turns else None
