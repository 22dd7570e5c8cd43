"""HotpotQA (Yang et al., 2018) and 2WikiMultihopQA (Ho et al., 2020), which share a format.

A claim is a sentence of a paragraph, a query a question, its only support the sentences that are
named as supporting facts. Equal sentences of one article are one claim. Of several paragraphs of
one title the first is the one that supporting facts mean.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, expect, member
from memenvs.materials.datasets.questions import QUESTIONS, Draft, read_questions


def read_hotpotqa(path: str | os.PathLike[str], questions: int = QUESTIONS) -> Conversion:
    """Read HotpotQA or 2WikiMultihopQA: ``questions`` to a material, in the file's order.

    The published JSON list is read, and JSON Lines of the same or of its columns by name, as data
    hubs give it. Source = the article's title, group = the first question that has the sentence.
    A question without answer or supporting facts (the test sets), or with a supporting fact that
    its paragraphs lack (the full-wiki setting), is left out, its sentences are kept. Raises
    ``MaterialError`` that names the file, the question and the field.
    """
    return read_questions(path, questions, _name, _add)


def _name(value: dict[str, Any]) -> str:
    return str(member(value, "_id" if "_id" in value else "id", str))


def _add(draft: Draft, name: str, value: dict[str, Any]) -> None:
    there: dict[tuple[str, int], str] = {}
    titles: Counter[str] = Counter()
    for title, sentences in _pairs(value, "context", "sentences", list):
        titles[title] += 1
        article = title if titles[title] == 1 else f"{title}#{titles[title]}"
        for place, sentence in enumerate(sentences):
            if not isinstance(sentence, str):
                raise MaterialError(f"a sentence of '{title}' is no string", field="context")
            text = sentence.strip()
            if text:
                claim = Claim(id=f"{name}:{article}:{place}", text=text, source=title, group=name)
                there.setdefault((title, place), draft.claim((title, text), claim))
    query = Query(id=name, text=member(value, "question", str), answer=_answer(value))
    if not value.get("supporting_facts") or "answer" not in value:
        draft.note("left out", name, "has no answer or no supporting facts", "supporting_facts")
        return
    facts = _pairs(value, "supporting_facts", "sent_id", int)
    missing = [fact for fact in facts if fact not in there]
    if missing:
        reason = "names a sentence that is not there"
        found = f"{missing[0][0]}, {missing[0][1]}"
        draft.note("left out", name, reason, "supporting_facts", found)
    else:
        draft.ask(query, [there[fact] for fact in facts])


def _answer(value: dict[str, Any]) -> str:
    return str(member(value, "answer", str)) if "answer" in value else ""


def _pairs(value: dict[str, Any], field: str, second: str, kind: type) -> list[tuple[str, Any]]:
    """Read ``[[title, x], ...]`` or ``{"title": [...], second: [...]}`` with x of a ``kind``."""
    listed = member(value, field, (list, dict))
    if isinstance(listed, dict):
        titles, others = member(listed, "title", list), member(listed, second, list)
        if len(titles) != len(others):
            raise MaterialError(f"has {len(titles)} titles for {len(others)} others", field=field)
        listed = [list(pair) for pair in zip(titles, others, strict=True)]
    for place, pair in enumerate(listed):
        try:
            expect(pair, list, "a title and what belongs to it")
            if len(pair) != 2:
                raise MaterialError(f"holds {len(pair)} values, not a title and one more")
            member({"title": pair[0]}, "title", str)
            member({second: pair[1]}, second, kind)
        except MaterialError as error:
            raise error.within("", f"{field}[{place}]") from None
    return [(title, other) for title, other in listed]
