"""A reader, a reasoner and what counts as right, put together: the share that is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.incidence import BoolArray
from memenvs.material.material import Material
from memenvs.material.records import Item
from memenvs.reading.answerers import Answerer, BestSpan, ModelAnswerer
from memenvs.reading.correct import AnswerJudge, Correct, each_by, exact_match, f1
from memenvs.reading.readers import OWN, named_reader, split_name
from memenvs.reading.utility import Reader, SimilarityReader, end_to_end
from memenvs.text.chat import Chat, configured_chat

ITEM = "item"
REASONERS = {"best": ITEM, "span": "f1", "openai": "f1"}  # and what counts as right by default
CORRECT = (ITEM, "exact", "f1", "judge")

Search = Callable[[str, int], Iterable[int]]  # a memory's own: query and k, to claims by number


@dataclass(frozen=True)
class Layer:
    """What becomes of a memory when it is used, by names.

    ``reader``: "similarity", "bm25" or "own", each with ":K" for the K best; or "oracle".
    ``reasoner``: "best" names the best match among the items that answer; "span" and "openai"
    answer in words. ``correct``: "item": the named item is known in truth (eq. of u^e2e); "exact",
    "f1" or "judge": the words against the query's ``answer``. Raises ``ValueError`` for unknown
    names, and for those that do not go together.
    """

    reader: str = "similarity"
    reasoner: str = "best"
    correct: str = ""  # by default the reasoner's

    def __post_init__(self) -> None:
        """Check the names."""
        if self.reasoner not in REASONERS:
            known = ", ".join(REASONERS)
            raise ValueError(f"no reasoner is named '{self.reasoner}'; choose from {known}")
        object.__setattr__(self, "correct", self.correct or REASONERS[self.reasoner])
        if self.correct not in CORRECT:
            known = ", ".join(CORRECT)
            raise ValueError(f"'{self.correct}' says nothing of what is right; choose from {known}")
        if (self.reasoner == "best") != (self.correct == ITEM):
            raise ValueError(
                f"the reasoner '{self.reasoner}' does not go with '{self.correct}': best names an "
                "item, which 'item' checks; span and openai answer in words: exact, f1 or judge"
            )
        if split_name(self.reader)[0] != OWN:
            named_reader(self.reader)

    def answered(
        self, material: Material, memory: BoolArray, search: Search | None = None
    ) -> float:
        """Give the query mass that is answered from a memory ``(E,)``, in [0, 1].

        ``search`` is the memory's own, for the reader "own"; a memory without one is read by
        similarity. In words it is the mass of queries that have an answer. Raises ``MaterialError``
        where texts or answers are missing, ``ServerError`` where a model does not answer.
        """
        if self.correct == ITEM:
            reader = self._reader(material, memory, search, of_claims=False)
            return float(end_to_end(material, memory, reader))
        _check_texts(material)
        view = claims_as_items(material)
        reader = self._reader(material, memory, search, of_claims=True)
        retrieved = reader(view, memory)
        texts = [claim.text for claim in material.claims]
        masses = material.incidence.probability
        asked = [n for n, q in enumerate(material.queries) if q.answer and masses[n] > 0]
        queries = [material.queries[n] for n in asked]
        given = self._answerer.all(
            [
                (query.text, [texts[claim] for claim in np.flatnonzero(retrieved[n])])
                for n, query in zip(asked, queries, strict=True)
            ]
        )
        right = self._correct(
            [(query.text, said, query.answer) for query, said in zip(queries, given, strict=True)]
        )
        return float(masses[asked] @ right / masses[asked].sum())

    @property
    def chats(self) -> list[Chat]:
        """Conversations with models, for what they cost."""
        return [
            part.chat
            for part in (self._answerer, self._correct)
            if isinstance(part, ModelAnswerer | AnswerJudge)
        ]

    @cached_property
    def _answerer(self) -> Answerer:
        return ModelAnswerer(configured_chat("reasoner")) if self.reasoner == "openai" else SPAN

    @cached_property
    def _correct(self) -> Correct:
        if self.correct == "judge":
            return AnswerJudge(configured_chat("judge"))
        return each_by(exact_match if self.correct == "exact" else f1)

    def _reader(
        self, material: Material, memory: BoolArray, search: Search | None, *, of_claims: bool
    ) -> Reader:
        kind, k = split_name(self.reader)
        if kind != OWN:
            return named_reader(self.reader)
        if search is None:
            return SimilarityReader(k)
        read = np.zeros((len(material.queries), len(memory)), dtype=bool)
        for row, query in zip(read, material.queries, strict=True):
            row[list(search(query.text, k or len(memory)))] = True
        claims = read & memory
        retrieved = claims if of_claims else material.incidence.span(claims)
        return lambda _, __: retrieved


SPAN = BestSpan()
DEFAULT = Layer()


def claims_as_items(material: Material) -> Material:
    """Give the material in which each claim yields itself alone, and answers what it helps answer.

    So a reader of items reads claims, those that answer nothing among them.
    """
    key = "claims as items"
    if key not in material.derived:
        helps: dict[str, dict[str, None]] = {claim.id: {} for claim in material.claims}
        for item in material.items:
            for claim in {c for support in item.supports for c in support}:
                helps[claim].update(dict.fromkeys(item.answers))
        items = tuple(
            Item(
                id=claim.id,
                text=claim.text,
                supports=((claim.id,),),
                answers=tuple(helps[claim.id]),
                embedding=claim.embedding,
            )
            for claim in material.claims
        )
        material.derived[key] = Material(material.name, material.claims, items, material.queries)
    found: Material = material.derived[key]
    return found


def _check_texts(material: Material) -> None:
    if not any(query.answer and query.weight > 0 for query in material.queries):
        raise MaterialError(
            "have no 'answer' to compare words with; give them one, or use --correct item",
            file=material.name,
            record="queries",
            field="answer",
        )
    if not any(claim.text for claim in material.claims):
        raise MaterialError(
            "have no text to answer from", file=material.name, record="claims", field="text"
        )
