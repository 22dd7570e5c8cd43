"""How well links are found where the supports are known: they are hidden, then compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memenvs.material.material import Material
from memenvs.text.encoders import Encoder
from memenvs.train.own_material.judging import LinkJudge
from memenvs.train.own_material.linking import MIN_SCORE, Linker
from memenvs.train.own_material.links import Method
from memenvs.train.own_material.questions import Question
from memenvs.train.own_material.segment import Placed

METHODS: tuple[Method, ...] = ("answer", "similarity", "judge")


@dataclass
class Tally:
    """What a way of linking found of the known supports, claim by claim."""

    questions: int = 0
    linked: int = 0
    right: int = 0  # claims linked that the support has
    named: int = 0  # claims linked
    known: int = 0  # claims of the supports
    whole: int = 0  # questions whose support was found exactly
    scores: list[float] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of linked claims that are right."""
        return self.right / self.named if self.named else float("nan")

    @property
    def recall(self) -> float:
        """Share of the supports' claims that were linked."""
        return self.right / self.known if self.known else float("nan")


def measure(
    materials: Sequence[Material],
    encoder: Encoder | None = None,
    judge: LinkJudge | None = None,
    min_score: float = MIN_SCORE,
) -> dict[str, Tally]:
    """Link the queries of materials by their wording and answers alone; tally each method.

    A row stands for the questions that a method linked within the chain, "all" for the chain. Of
    several known supports the one that shares most with what was found counts.
    """
    tallies = {name: Tally() for name in (*METHODS, "all")}
    for material in materials:
        for method, found, scores, known in _linked(material, encoder, judge, min_score):
            support = max(known, key=lambda claims: (len(claims & found), -len(claims)))
            for name in ("all",) if method is None else (method, "all"):
                tally = tallies[name]
                tally.questions += 1
                tally.linked += method is not None
                tally.right += len(found & support)
                tally.named += len(found)
                tally.known += len(support)
                tally.whole += found == support
                tally.scores += scores
    return {name: tally for name, tally in tallies.items() if tally.questions}


def _linked(
    material: Material, encoder: Encoder | None, judge: LinkJudge | None, min_score: float
) -> Iterator[tuple[Method | None, frozenset[int], list[float], list[frozenset[int]]]]:
    """Give, for each query that an item answers: the method, the claims, scores, known supports."""
    place = {claim: n for n, claim in enumerate(material.claim_ids)}
    known: dict[str, list[frozenset[int]]] = {}
    for item in material.items:
        for query in item.answers:
            sets = (frozenset(place[claim] for claim in support) for support in item.supports)
            known.setdefault(query, []).extend(sets)
    questions = [
        Question(query.id, query.text, query.answer, (), query.weight, "")
        for query in material.queries
        if query.id in known
    ]
    placed = [Placed(claim, material.name, None, None, False) for claim in material.claims]
    for entry in Linker(placed, questions, encoder, judge, min_score).linked():
        # Repetitions of a claim are alternatives: the first stands for them.
        found = frozenset(entry.found[0].claims) if entry.found else frozenset[int]()
        alternatives = [frozenset(other.claims) for other in entry.found]
        right = [
            claims for claims in alternatives if any(claims & k for k in known[entry.question])
        ]
        scores = [entry.found[0].score] if entry.found else []
        yield entry.method, right[0] if right else found, scores, known[entry.question]
