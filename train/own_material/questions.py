"""The user's questions: JSON Lines of `question` with `evidence`, `answer`, or both."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any, TypeAlias

from memenvs.errors import MaterialError
from memenvs.materials.datasets.conversion import expect, member
from memenvs.strict_json import json_type, read_json_documents

FIELDS = ("id", "question", "evidence", "answer", "weight")
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


def read_questions(path: str | os.PathLike[str]) -> tuple[list[Question], Counter[str]]:
    """Read questions, and count the fields that mean nothing here.

    Raises ``MaterialError`` that names the file, the line and the field.
    """
    file = os.fspath(path)
    documents = read_json_documents(path)
    if len(documents) == 1 and isinstance(documents[0][1], list):
        documents = [(f"question {n}", value) for n, value in enumerate(documents[0][1])]
    unread: Counter[str] = Counter()
    questions: list[Question] = []
    seen: dict[str, str] = {}
    for place, (where, value) in enumerate(documents, start=1):
        try:
            question = _question(value, f"q{place}", where)
            if question.id in seen:
                raise MaterialError(
                    f"'{question.id}' names {seen[question.id]} already; rename one", field="id"
                )
        except MaterialError as error:
            raise error.within(file, where) from None
        seen[question.id] = where
        questions.append(question)
        unread.update(key for key in value if key not in FIELDS)
    if not questions:
        raise MaterialError("holds no question; write one a line", file=file)
    return questions, unread


def _question(value: Any, name: str, where: str) -> Question:
    expect(value, dict, "a question")
    text = member(value, "question", str)
    if not text.strip():
        raise MaterialError("is empty; write the question", field="question")
    answer = value.get("answer")
    if answer is not None:
        answer = member(value, "answer", (str, int, float, bool))
        answer = {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)
    evidence = value.get("evidence")
    listed = evidence if isinstance(evidence, list) else [evidence]
    parts = () if evidence is None else tuple(map(_part, listed))
    if not parts and not (answer or "").strip():
        raise MaterialError("has neither evidence nor answer; give one")
    weight = member(value, "weight", (int, float)) if "weight" in value else 1.0
    identifier = str(member(value, "id", (str, int))) if "id" in value else name
    return Question(identifier, text, answer or "", parts, float(weight), where)


def _part(value: Any) -> Evidence:
    """Check one piece of evidence: a quote or claim id, an offset, or an object that says which."""
    if isinstance(value, str) and value.strip():
        return value
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
            return value
    raise MaterialError(
        f"{json_type(value)} of another shape: give a quote, the id of a claim, an offset, "
        '{"document", "start", "end"}, or a list of these',
        field="evidence",
    )
