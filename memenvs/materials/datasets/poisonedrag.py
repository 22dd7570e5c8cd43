"""PoisonedRAG (Zou et al., 2024): questions, and texts written to make a model answer them wrongly.

A claim is one of the published false texts, or the true answer; a query is a question. In the form
"attacked" a false text opens with the question and a full stop, as in the published attack on an
unknown retriever; in the form "bare" it stands alone. The files hold no true passages, so
the true claim states question and answer, and says so in the notes: of bare false texts it is then
the one that repeats the question.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.materials.datasets.conversion import Conversion, Note, expect, member
from memenvs.strict_json import read_json

QUESTIONS = 20  # of a material
FORMS = {"attacked": "{0}. {1}", "bare": "{1}"}  # of a false text, by question and text
PASSAGES = "true texts"  # of a question, where the file was given them
TRUE, FALSE = "reference", "injected"  # types of claims


def read_poisonedrag(
    path: str | os.PathLike[str], questions: int = QUESTIONS, form: str = "attacked"
) -> Conversion:
    """Read a PoisonedRAG file: one material for every ``questions`` questions, in its order.

    Each false text is a claim of truth 0 that supports the wrong answer, so that storing it
    inflates coverage; the claims of a question are one group, the true one first. A question that
    has a list of ``true texts`` has a claim for each of these instead. ``form`` says how the false
    texts stand: "attacked" or "bare". Raises ``MaterialError`` that names the file, the record and
    the field; ``ValueError`` where ``questions`` is not positive, and for another form.
    """
    if questions < 1:
        raise ValueError(f"questions is {questions}; give at least 1")
    if form not in FORMS:
        raise ValueError(f"form '{form}' is unknown; choose from {', '.join(FORMS)}")
    file = os.fspath(path)
    document = read_json(path)
    notes: list[Note] = []
    try:
        expect(document, dict, "questions by their id")
        if not document:
            raise MaterialError("holds no question")
        rows = list(document.items())
        materials = []
        for start in range(0, len(rows), questions):
            part = rows[start : start + questions]
            name = f"{Path(file).stem}-{start + 1}-{start + len(part)}"
            materials.append(_material(name, part, notes, form))
    except MaterialError as error:
        raise error.within(file) from None
    return Conversion(tuple(materials), tuple(notes))


def _material(name: str, rows: list[tuple[str, Any]], notes: list[Note], form: str) -> Material:
    claims: list[Claim] = []
    items: list[Item] = []
    queries: list[Query] = []
    for identifier, row in rows:
        record = f"question '{identifier}'"
        try:
            expect(row, dict, "a question")
            question, right, wrong = (
                _text(row, field) for field in ("question", "correct answer", "incorrect answer")
            )
            false = [FORMS[form].format(question, text) for text in _texts(row, "adv_texts")]
            true = _texts(row, PASSAGES) if PASSAGES in row else [f"{question} {right}"]
        except MaterialError as error:
            raise error.within("", record) from None
        if PASSAGES not in row:
            reason = "has no true text: the true claim states question and answer"
            notes.append(Note("normalised", name, record, reason))
        told = {
            f"{identifier}:{kind}-{place}": (text, kind)
            for kind, texts in ((TRUE, true), (FALSE, false))
            for place, text in enumerate(texts)
        }
        for claim, (text, kind) in told.items():
            claims.append(
                Claim(id=claim, text=text, truth=kind == TRUE, group=identifier, type=kind)
            )
        for kind, answer in ((TRUE, right), (FALSE, wrong)):
            supports = tuple((claim,) for claim, (_, own) in told.items() if own == kind)
            items.append(
                Item(
                    id=f"{identifier}:{kind}", text=answer, supports=supports, answers=(identifier,)
                )
            )
        queries.append(Query(id=identifier, text=question, answer=right))
    return Material(name, tuple(claims), tuple(items), tuple(queries))


def _text(row: dict[str, Any], field: str) -> str:
    text: str = member(row, field, str)
    if not text.strip():
        raise MaterialError("is empty; give a text", field=field)
    return text


def _texts(row: dict[str, Any], field: str) -> list[str]:
    texts: list[Any] = member(row, field, list)
    if not texts:
        raise MaterialError("is empty; give at least one text", field=field)
    for place, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise MaterialError("is no text", field=f"{field}[{place}]")
    return texts
