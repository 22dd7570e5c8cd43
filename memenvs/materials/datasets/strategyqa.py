"""StrategyQA (Geva et al., 2021): yes-or-no questions and the facts that settle them together.

A claim is a fact, a query a question, its only support all its facts. Equal facts are one claim.
"""

from __future__ import annotations

import os
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, member
from memenvs.materials.datasets.questions import QUESTIONS, Draft, read_questions


def read_strategyqa(path: str | os.PathLike[str], questions: int = QUESTIONS) -> Conversion:
    """Read StrategyQA: ``questions`` to a material, in the file's order.

    Source = the question's term, group = the first question that has the fact; an answer is "yes"
    or "no". A question without facts or answer (the test set) is left out. Raises
    ``MaterialError`` that names the file, the question and the field.
    """
    return read_questions(path, questions, lambda value: str(member(value, "qid", str)), _add)


def _add(draft: Draft, name: str, value: dict[str, Any]) -> None:
    text = member(value, "question", str)
    if "answer" not in value or not value.get("facts"):
        draft.note("left out", name, "has no answer or no facts", "facts")
        return
    answer = "yes" if member(value, "answer", bool) else "no"
    term = member(value, "term", str) if "term" in value else ""
    facts = []
    for place, fact in enumerate(member(value, "facts", list)):
        if not isinstance(fact, str) or not fact.strip():
            raise MaterialError(f"entry {place} is no text", field="facts")
        facts.append(fact.strip())
    support = [
        draft.claim(fact, Claim(id=f"{name}:{place}", text=fact, source=term, group=name))
        for place, fact in enumerate(facts)
    ]
    if len(set(support)) < len(support):
        draft.note("normalised", name, "names a fact twice", "facts")
    draft.ask(Query(id=name, text=text, answer=answer), support)
