"""The user's questions: `question` with `evidence`, `answer`, or both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from memenvs.errors import MaterialError
from memenvs.materials.datasets.conversion import expect, member
from memenvs.strict_json import json_type
from memenvs.text.normal import normal_text
from memenvs.train.own_material.arranging import Note
from memenvs.train.own_material.question_files import AskedQuestion, asked_in

FIELDS = ("id", "question", "evidence", "answer", "weight", "context")
PARTS = ({"claim"}, {"quote"}, {"quote", "document"}, {"document", "start", "end"})

Evidence: TypeAlias = str | int | dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A question, and what is known about where its answer stands."""

    id: str
    text: str
    answer: str
    evidence: tuple[Evidence, ...]  # all of them are needed together
    weight: float
    where: str  # in the file
    others: tuple[str, ...] = ()  # answers that are as right as the first
    context: tuple[str, ...] = ()  # quotes in one of which the answer stands


def read_questions(path: str | os.PathLike[str]) -> tuple[list[Question], list[Note]]:
    """Read questions, and say which fields mean nothing here, and which questions have no answer.

    Raises ``MaterialError`` that names the file, the line and the field.
    """
    file = os.fspath(path)
    notes: dict[str, int] = {}
    questions: list[Question] = []
    seen: dict[str, str] = {}
    for place, asked in enumerate(_all(file), start=1):
        for name in asked.unread:
            reason = f"field '{name}' is not read"
            notes[reason] = notes.get(reason, 0) + 1
        if asked.unanswerable:
            reason = f"question left out: {asked.unanswerable}"
            notes[reason] = notes.get(reason, 0) + 1
            continue
        try:
            question = _question(asked.fields, f"q{place}", asked.where)
            if question.id in seen:
                raise MaterialError(
                    f"'{question.id}' names {seen[question.id]} already; rename one", field="id"
                )
        except MaterialError as error:
            raise error.within(file, asked.where) from None
        seen[question.id] = asked.where
        questions.append(question)
    if not questions:
        raise MaterialError("holds no question; write one a line", file=file)
    return questions, [Note(f"left out: {file}", reason, n) for reason, n in notes.items()]


def _all(file: str) -> Iterator[AskedQuestion]:
    for asked in asked_in(file):
        try:
            expect(asked.fields, dict, "a question")
        except MaterialError as error:
            raise error.within(file, asked.where) from None
        yield asked


def _question(value: Any, name: str, where: str) -> Question:
    text = normal_text(member(value, "question", str))
    if not text.strip():
        raise MaterialError("is empty; write the question", field="question")
    given = value.get("answer")
    answers = list(dict.fromkeys(map(_answer, given if isinstance(given, list) else [given])))
    answers = [answer for answer in answers if answer.strip()]
    evidence = value.get("evidence")
    listed = evidence if isinstance(evidence, list) else [evidence]
    parts = () if evidence is None else tuple(map(_part, listed))
    if not parts and not answers:
        raise MaterialError("has neither evidence nor answer; give one")
    weight = member(value, "weight", (int, float)) if "weight" in value else 1.0
    identifier = str(member(value, "id", (str, int))) if "id" in value else name
    first, *others = answers or [""]
    context = tuple(normal_text(part) for part in value.get("context") or ())
    return Question(identifier, text, first, parts, float(weight), where, tuple(others), context)


def _answer(value: Any) -> str:
    if value is None:
        return ""
    given = member({"answer": value}, "answer", (str, int, float, bool))
    return {True: "yes", False: "no"}[given] if isinstance(given, bool) else normal_text(str(given))


def _part(value: Any) -> Evidence:
    """Check one piece of evidence: a quote or claim id, an offset, or an object that says which."""
    if isinstance(value, str) and value.strip():
        return normal_text(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, dict) and set(value) in PARTS:
        texts = [name for name in ("claim", "quote", "document") if name in value]
        numbers = [name for name in ("start", "end") if name in value]
        if all(isinstance(value[name], str) and value[name].strip() for name in texts) and all(
            type(value[name]) is int and value[name] >= 0 for name in numbers
        ):
            if value.get("end", 1) < value.get("start", 0):
                raise MaterialError("ends before it starts", field="evidence")
            return value | {name: normal_text(value[name]) for name in texts}
    raise MaterialError(
        f"{json_type(value)} of another shape: give a quote, the id of a claim, an offset, "
        '{"document", "start", "end"}, or a list of these',
        field="evidence",
    )
