"""What data sets of questions with their evidence share: several questions make one material."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.items import items_of
from memenvs.material.material import Material
from memenvs.material.records import Claim, Query
from memenvs.materials.datasets.conversion import Conversion, Note, expect
from memenvs.strict_json import read_json_documents

QUESTIONS = 20  # to a material, unless told otherwise


@dataclass
class Draft:
    """Claims, items and queries under way to a material; claims with one key are one claim."""

    name: str
    notes: list[Note]
    claims: dict[Hashable, Claim] = field(default_factory=dict)
    supports: dict[str, Sequence[Sequence[str]]] = field(default_factory=dict)  # by query
    queries: list[Query] = field(default_factory=list)

    def claim(self, key: Hashable, claim: Claim) -> str:
        """Add a claim unless its key is there; give the id of the one that is."""
        return self.claims.setdefault(key, claim).id

    def ask(self, query: Query, *supports: Sequence[str]) -> None:
        """Add a query that any of the supports answers."""
        self.supports[query.id] = supports
        self.queries.append(query)

    def note(self, kind: Any, question: str, reason: str, field: str = "", found: str = "") -> None:
        """Report what was left out of a question, or normalised."""
        self.notes.append(Note(kind, self.name, f"question '{question}'", reason, field, found))

    def material(self) -> Material:
        """Give the material; raises ``MaterialError``."""
        claims = tuple(self.claims.values())
        return Material(self.name, claims, items_of(claims, self.supports), tuple(self.queries))


def read_questions(
    path: str | os.PathLike[str],
    questions: int,
    named: Callable[[dict[str, Any]], str],
    add: Callable[[Draft, str, dict[str, Any]], None],
    finish: Callable[[Draft], None] = lambda draft: None,
) -> Conversion:
    """Read a list of questions, as one JSON value or JSON Lines, and put them into materials.

    ``questions`` of them make a material, in the file's order; what remains makes a smaller one,
    and where nothing of a material can be asked it is left out, which is noted. ``named`` gives a
    question's id, ``add`` puts it into a draft, ``finish`` is called with a whole one. Raises
    ``MaterialError`` that names the file, the question and the field; ``ValueError`` where
    ``questions`` is not positive.
    """
    if questions < 1:
        raise ValueError(f"questions is {questions}; give at least 1")
    file = os.fspath(path)
    notes: list[Note] = []
    made = []
    try:
        listed = [_named(where, value, named) for where, value in _records(path)]
        for name, times in Counter(name for _, name, _ in listed).items():
            if times > 1:
                raise MaterialError(f"two questions are named '{name}'", field="id")
        for start in range(0, len(listed), questions):
            part = listed[start : start + questions]
            draft = Draft(f"questions-{start + 1}-{start + len(part)}", notes)
            for where, name, value in part:
                try:
                    add(draft, name, value)
                except MaterialError as error:
                    raise error.within("", where) from None
            if draft.queries and draft.claims:
                finish(draft)
                made.append(draft.material())
            else:
                notes.append(Note("left out", draft.name, "", "nothing of it can be asked"))
        if not made:
            reasons = Counter(n.reason for n in notes if n.record and n.kind == "left out")
            why = "".join(f"; left out: {n} x {r}" for r, n in reasons.most_common(1))
            raise MaterialError(f"holds no question whose evidence is known{why}")
    except MaterialError as error:
        raise error.within(file) from None
    return Conversion(tuple(made), tuple(notes))


def in_time(draft: Draft) -> None:
    """Put claims in order of time, and count it from the first; claims without time stay first."""
    times = [claim.time for claim in draft.claims.values() if claim.time is not None]
    first = min(times, default=0.0)
    draft.claims = {
        key: claim if claim.time is None else replace(claim, time=claim.time - first)
        for key, claim in sorted(
            draft.claims.items(),
            key=lambda entry: (entry[1].time is not None, entry[1].time or 0.0),
        )
    }


def _records(path: str | os.PathLike[str]) -> list[tuple[str, Any]]:
    """Give the questions of a JSON list or of JSON Lines, each with its place."""
    documents = read_json_documents(path)
    if len(documents) == 1 and isinstance(documents[0][1], list):
        return [(f"question {place}", value) for place, value in enumerate(documents[0][1])]
    return [(where or "the file", value) for where, value in documents]


def _named(
    where: str, value: Any, named: Callable[[dict[str, Any]], str]
) -> tuple[str, str, dict[str, Any]]:
    try:
        expect(value, dict, "a question")
        name = named(value)
        if not name:
            raise MaterialError("is empty; give a name", field="id")
    except MaterialError as error:
        raise error.within("", where) from None
    return where, name, value


def objects(owner: Sequence[Any], name: str, what: str) -> list[dict[str, Any]]:
    """Give the entries of a list, each of which must be an object."""
    for place, entry in enumerate(owner):
        try:
            expect(entry, dict, what)
        except MaterialError as error:
            raise error.within("", f"{name}[{place}]") from None
    return list(owner)
