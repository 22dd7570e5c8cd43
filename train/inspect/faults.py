"""What is likely wrong with a material, in sentences with examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from memenvs.material.incidence import BoolArray
from memenvs.material.material import Material
from memenvs.train.inspect.duplicates import Duplicates
from memenvs.train.inspect.linked import LOW
from memenvs.train.inspect.structure import Structure

EXAMPLES = 5
SHOWN = 100  # characters of a text
EVERYTHING = 0.5  # of the mass: a query with as much decides alone
EASY = 0.95  # of the optimum: a rule of thumb that reaches it leaves nothing to learn


def find_faults(
    material: Material, structure: Structure, duplicates: Duplicates, found: dict[str, Any]
) -> list[dict[str, Any]]:
    """List likely faults, then what is worth knowing, each with up to five examples."""
    faults = [*_of_queries(material, structure), *_of_weights(material), *_of_links(found["links"])]
    faults += _of_duplicates(material, structure, duplicates)
    return [*faults, *_of_claims(material, structure), *_of_play(found)]


def _of_queries(material: Material, structure: Structure) -> Iterator[dict[str, Any]]:
    probability = material.incidence.probability
    unanswered = (structure.needed == 0) & (probability > 0)
    if unanswered.any():
        yield _fault(
            f"{_count(unanswered, 'query', 'queries')} that no claim answers "
            f"({structure.mass(unanswered, probability):.0%} of the mass): give evidence, or "
            "remove them",
            (_text(material.queries[q]) for q in np.flatnonzero(unanswered)),
        )
    false = (structure.needed > 0) & ~structure.true & (probability > 0)
    if false.any():
        yield _fault(
            f"{_count(false, 'query', 'queries')} that only false claims answer "
            f"({structure.mass(false, probability):.0%} of the mass): precision cannot pay for "
            "them",
            (_text(material.queries[q]) for q in np.flatnonzero(false)),
        )


def _of_weights(material: Material) -> Iterator[dict[str, Any]]:
    probability = material.incidence.probability
    largest = int(probability.argmax())
    if len(probability) > 1 and probability[largest] >= EVERYTHING:
        yield _fault(
            f"One query has {probability[largest]:.0%} of the mass: whoever keeps its claims is "
            "nearly done; lower its weight",
            [_text(material.queries[largest])],
        )
    never = probability == 0
    if never.any():
        yield _note(
            f"{_count(never, 'query', 'queries')} of weight 0: never asked.",
            (_text(material.queries[q]) for q in np.flatnonzero(never)),
        )


def _of_links(links: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    if links and links["low"]:
        yield _fault(
            f"{_number(len(links['low']), 'question', 'questions')} linked with a score below "
            f"{LOW}: read these links, and where one is wrong give the evidence",
            (f"{each['query']} by {each['method']}, {each['score']:.2f}" for each in links["low"]),
        )
    if links and links["unlinked"]:
        left = _number(links["unlinked"], "question", "questions")
        yield _note(f"{left} not linked, and so left out.")


def _of_duplicates(
    material: Material, structure: Structure, duplicates: Duplicates
) -> Iterator[dict[str, Any]]:
    groups: list[Sequence[int]] = [*duplicates.equal, *duplicates.near]
    unlike = [group for group in groups if len({structure.items[claim] for claim in group}) > 1]
    if unlike:
        yield _fault(
            f"{_number(len(unlike), 'group', 'groups')} of texts that say the same and do not "
            "answer the same: a memory that keeps the wrong one gets nothing; make each a support",
            (" | ".join(_text(material.claims[c]) for c in group) for group in unlike),
        )
    if not duplicates.complete:
        yield _note(
            "Too many texts are alike to compare them all: some near-equal ones are missed."
        )


def _of_claims(material: Material, structure: Structure) -> Iterator[dict[str, Any]]:
    idle = ~structure.asked
    if idle.any():
        yield _note(
            f"{_count(idle, 'claim', 'claims')} that nobody asks about ({idle.mean():.0%}): what a "
            "memory should pass by. If they matter, questions are missing.",
            (_text(material.claims[c]) for c in np.flatnonzero(idle)),
        )


def _of_play(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    saturates, play = found["frontier"]["saturates"], found["heuristics"]
    if play is None:
        yield _note("The claims that answer a query stand too far apart: no rule was played.")
        return
    if found["claims"] > play["claims"]:
        yield _note(
            f"It is long: rules were played on claims {play['start'] + 1} to "
            f"{play['start'] + play['claims']} alone."
        )
    elif saturates and play["capacity"] >= saturates > 1:
        yield _note(
            f"{saturates} claims hold everything, and a quarter of the claims is "
            f"{play['capacity']}: with a capacity below {saturates} there is more to choose."
        )
    best = max(play["utility"], key=lambda rule: play["utility"][rule])
    if play["utility"][best] >= EASY * play["optimum"] > 0:
        yield _fault(
            f"The rule '{best}' reaches {play['utility'][best] / play['optimum']:.0%} of the "
            f"optimum at S = {play['capacity']}: there is little to learn; try another capacity",
        )


def _fault(what: str, examples: Iterable[str] = ()) -> dict[str, Any]:
    return {"severity": "fault", "what": f"{what}.", "examples": _first(examples)}


def _note(what: str, examples: Iterable[str] = ()) -> dict[str, Any]:
    return {"severity": "note", "what": what, "examples": _first(examples)}


def _first(examples: Iterable[str]) -> list[str]:
    return [text for text, _ in zip(examples, range(EXAMPLES), strict=False)]


def _count(flags: BoolArray, one: str, many: str) -> str:
    return _number(int(flags.sum()), one, many)


def _number(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _text(record: Any) -> str:
    text = " ".join(record.text.split())
    shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    return f"{record.id}: {shown}" if shown else str(record.id)
