"""MuSiQue (Trivedi et al., 2022): multi-hop questions, each with twenty paragraphs.

A claim is a paragraph, a query a question, its only support the paragraphs that the annotators
marked. Equal paragraphs of several questions are one claim.
"""

from __future__ import annotations

import os
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, member
from memenvs.materials.datasets.questions import QUESTIONS, Draft, objects, read_questions


def read_musique(path: str | os.PathLike[str], questions: int = QUESTIONS) -> Conversion:
    """Read MuSiQue as JSON Lines or a JSON list: ``questions`` to a material, in order.

    MuSiQue-Full has each id twice, once with paragraphs that do not answer the question; HippoRAG's
    samples, which have the same shape with the paragraph in ``text`` and a list of answers, are
    read, too. Source = the paragraph's title, group = the first question that has it. An
    unanswerable question is left out, its paragraphs are kept. Raises ``MaterialError`` that names
    the file, the question and the field.
    """
    return read_questions(path, questions, _name, _add)


def _name(value: dict[str, Any]) -> str:
    name = str(member(value, "id", str))
    return name if value.get("answerable", True) else f"{name}:unanswerable"


def _add(draft: Draft, name: str, value: dict[str, Any]) -> None:
    support = []
    for place, paragraph in enumerate(
        objects(member(value, "paragraphs", list), "paragraphs", "a paragraph")
    ):
        try:
            title = member(paragraph, "title", str)
            held = "text" if "text" in paragraph else "paragraph_text"
            text = member(paragraph, held, str)
            marked = member(paragraph, "is_supporting", bool)
        except MaterialError as error:
            raise error.within("", f"paragraphs[{place}]") from None
        claim = Claim(id=f"{name}:{place}", text=f"{title}: {text}", source=title, group=name)
        identifier = draft.claim(claim.text, claim)
        if marked:
            support.append(identifier)
    query = Query(id=name, text=member(value, "question", str), answer=_answer(value))
    if not value.get("answerable", True):
        draft.note("left out", name, "its paragraphs do not answer it", "answerable")
    elif not support:
        draft.note("left out", name, "no paragraph is marked", "is_supporting")
    else:
        draft.ask(query, support)


def _answer(value: dict[str, Any]) -> str:
    """Give the answer, of several the first."""
    answer = member(value, "answer", (str, list))
    if isinstance(answer, list):
        return str(member({"answer": answer[0]}, "answer", str)) if answer else ""
    return str(answer)
