"""CLIMATE-FEVER (Diggelmann et al., 2020): claims about the climate, voted on by annotators.

A claim of the memory is one of the data set's claims, true with the probability that the votes
give it, or a sentence of Wikipedia, which is true. A query asks whether a claim holds: whoever
stored the claim answers from it, whoever stored a sentence that decides it answers from that.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, member
from memenvs.materials.datasets.questions import QUESTIONS, Draft, objects, read_questions

# A data hub gives labels as places in these lists.
CLAIM_LABELS = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO", "DISPUTED")
EVIDENCE_LABELS = CLAIM_LABELS[:3]
DECISIVE = ("SUPPORTS", "REFUTES")


def read_climate_fever(path: str | os.PathLike[str], questions: int = QUESTIONS) -> Conversion:
    """Read CLIMATE-FEVER JSON Lines: ``questions`` claims of it to a material, in order.

    A claim's ``truth`` is the share of SUPPORTS among its annotators' votes of SUPPORTS and
    REFUTES, over its five sentences; the votes are hidden from agents, so none is a
    ``confidence``. A sentence decides a claim where its label is one of the two. Source = the
    article, or "claim"; group = the first claim that has the sentence. A claim on which no vote
    decides is left out, its sentences are kept. Raises ``MaterialError`` that names the file, the
    claim and the field.
    """
    return read_questions(path, questions, _name, _add)


def _name(value: dict[str, Any]) -> str:
    return str(member(value, "claim_id", (str, int)))


def _add(draft: Draft, name: str, value: dict[str, Any]) -> None:
    text = member(value, "claim", str).strip()
    label = _label(value, "claim_label", CLAIM_LABELS)
    votes: Counter[str] = Counter()
    decisive = []
    for place, evidence in enumerate(
        objects(member(value, "evidences", list), "evidences", "a sentence")
    ):
        try:
            sentence = Claim(
                id=f"{name}:{place}",
                text=member(evidence, "evidence", str).strip(),
                source=member(evidence, "article", str),
                group=name,
            )
            decides = _label(evidence, "evidence_label", EVIDENCE_LABELS) in DECISIVE
            votes.update(_votes(evidence))
        except MaterialError as error:
            raise error.within("", f"evidences[{place}]") from None
        identifier = draft.claim((sentence.source, sentence.text), sentence)
        if decides:
            decisive.append((identifier,))
    decided = votes["SUPPORTS"] + votes["REFUTES"]
    if not decided:
        draft.note("left out", name, "no annotator's vote decides it", "votes")
        return
    truth = votes["SUPPORTS"] / decided
    stated = Claim(id=f"{name}:claim", text=text, source="claim", group=name, truth=truth)
    known = draft.claim(("claim", text), stated)
    if known != stated.id:
        draft.note("left out", name, "is worded as a claim before it", "claim", known)
        return
    draft.ask(Query(id=name, text=text, answer=label), (known,), *decisive)


def _label(owner: dict[str, Any], field: str, labels: tuple[str, ...]) -> str:
    label = member(owner, field, (str, int))
    if isinstance(label, int) and 0 <= label < len(labels):
        return labels[label]
    if label not in labels:
        raise MaterialError(f"{label!r} is none of {', '.join(labels)}", field=field)
    return str(label)


def _votes(evidence: dict[str, Any]) -> list[str]:
    """Give the votes cast; the list is filled up with nulls."""
    votes = [vote for vote in member(evidence, "votes", list) if vote is not None]
    for vote in votes:
        if vote not in EVIDENCE_LABELS:
            raise MaterialError(f"{vote!r} is none of {', '.join(EVIDENCE_LABELS)}", field="votes")
    return votes
