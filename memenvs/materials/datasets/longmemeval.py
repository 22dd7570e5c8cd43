"""LongMemEval (Wu et al., 2025): a question about a history of sessions with an assistant.

A claim is a turn, and a material one question with its history; its only support is the turns
that are marked as holding the answer.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, expect, member
from memenvs.materials.datasets.questions import Draft, in_time, objects, read_questions
from memenvs.text.times import Dates

DATES = Dates("ymd")  # "2023/05/20 (Sat) 02:21"
ABSTENTION = "_abs"


def read_longmemeval(path: str | os.PathLike[str], questions: int = 1) -> Conversion:
    """Read LongMemEval: one material a question, unless several are asked for.

    Source = role, group = session, time = days since the material's first session; sessions stand
    in order of time. Sessions that several questions share are one, unless their histories date
    them otherwise. A question of abstention
    ("_abs") has no answer to remember and is left out. Where a session of the answer has no turn
    marked, the support takes all its turns, which is noted. Raises ``MaterialError`` that names
    the file, the question and the field.
    """
    return read_questions(path, questions, _name, _add, in_time)


def _name(value: dict[str, Any]) -> str:
    return str(member(value, "question_id", str))


def _add(draft: Draft, name: str, value: dict[str, Any]) -> None:
    support: list[str] = []
    answering = member(value, "answer_session_ids", list)
    sessions = _sessions(value)
    there: set[str] = set()
    for session, days, turns in _in_order(draft, name, sessions):
        there.add(session)
        answers = session in answering
        session = _dated(draft, name, session, days)
        identifiers, marked = [], []
        for place, turn in enumerate(objects(turns, session, "a turn")):
            try:
                claim = Claim(
                    id=f"{session}:{place}",
                    text=member(turn, "content", str),
                    source=member(turn, "role", str),
                    group=session,
                    time=days,
                )
                holds = turn.get("has_answer") is not None and member(turn, "has_answer", bool)
            except MaterialError as error:
                raise error.within("", f"{session}[{place}]") from None
            identifier = draft.claim((session, place, claim.text), claim)
            identifiers.append(identifier)
            if holds:
                marked.append(identifier)
        if answers and not marked:
            reason = "no turn of a session of its answer is marked: all its turns"
            draft.note("normalised", name, reason, "has_answer", session)
            marked = identifiers
        support += marked
    query = Query(
        id=name,
        text=member(value, "question", str),
        answer=str(member(value, "answer", (str, int, float))),
    )
    missing = [session for session in answering if session not in there]
    if name.endswith(ABSTENTION):
        draft.note("left out", name, "asks for abstention: there is no answer to remember")
    elif missing:
        reason = "names a session that is not there"
        draft.note("left out", name, reason, "answer_session_ids", str(missing[0]))
    elif not support:
        draft.note("left out", name, "has no evidence", "answer_session_ids")
    else:
        draft.ask(query, support)


def _dated(draft: Draft, name: str, session: str, days: float | None) -> str:
    """Name a session; one that another history dates otherwise is another session."""
    known = {c.group: c.time for c in draft.claims.values() if c.group.split("@")[0] == session}
    if not known or days in known.values():
        return next((group for group, time in known.items() if time == days), session)
    draft.note(
        "normalised", name, "a session of another date in another history is two", "", session
    )
    return f"{session}@{len(known) + 1}"


def _sessions(value: dict[str, Any]) -> list[tuple[str, str, list[Any]]]:
    """Give the sessions with their names and dates as they stand; a name met again is numbered."""
    names, dates = (
        member(value, "haystack_session_ids", list),
        member(value, "haystack_dates", list),
    )
    turns = member(value, "haystack_sessions", list)
    if not len(names) == len(dates) == len(turns):
        raise MaterialError(
            f"has {len(turns)} sessions for {len(names)} names and {len(dates)} dates",
            field="haystack_sessions",
        )
    seen: Counter[str] = Counter()
    sessions = []
    for place, (name, date, listed) in enumerate(zip(names, dates, turns, strict=True)):
        try:
            member({"haystack_session_ids": name}, "haystack_session_ids", str)
            member({"haystack_dates": date}, "haystack_dates", str)
            expect(listed, list, "turns")
        except MaterialError as error:
            raise error.within("", f"session {place}") from None
        seen[name] += 1
        sessions.append((name if seen[name] == 1 else f"{name}#{seen[name]}", date, listed))
    return sessions


def _in_order(
    draft: Draft, name: str, sessions: list[tuple[str, str, list[Any]]]
) -> list[tuple[str, float | None, list[Any]]]:
    """Sort sessions by date, in days since 1970; as they stand, without time, if one has none."""
    dates = []
    for session, text, _ in sessions:
        date = DATES.days(text)
        if date is None:
            reason = "a session has no date, so none has a time"
            draft.note("left out", name, reason, f"haystack_dates of {session}", text)
            return [(session, None, turns) for session, _, turns in sessions]
        dates.append(date)
    if dates != sorted(dates):
        draft.note("normalised", name, "sessions put in order of time", "haystack_sessions")
    order = sorted(range(len(sessions)), key=dates.__getitem__)
    return [(sessions[n][0], dates[n], sessions[n][2]) for n in order]
