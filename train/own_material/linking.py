"""Questions to claims: each method in its turn, until one is sure enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memenvs.material.incidence import FloatArray
from memenvs.text.encoders import Encoder
from memenvs.train.own_material.evidence import EvidenceIndex, Sought
from memenvs.train.own_material.judging import CANDIDATES, LinkJudge
from memenvs.train.own_material.links import ALTERNATIVES, Found, Linked
from memenvs.train.own_material.matching import Asked, Matcher
from memenvs.train.own_material.questions import Question
from memenvs.train.own_material.segment import Placed

MIN_SCORE = 0.5  # as likely right as wrong
BATCH = 64  # questions whose similarities are held at once


class Linker:
    """Links questions by given evidence, a unique quote, the answer, similarity, and a judge."""

    def __init__(
        self,
        placed: Sequence[Placed],
        questions: Sequence[Question],
        encoder: Encoder | None = None,
        judge: LinkJudge | None = None,
        min_score: float = MIN_SCORE,
    ) -> None:
        self._claims = [p.claim for p in placed]
        self._asked = [_asked(question) for question in questions]
        self._questions, self._judge, self._min = questions, judge, min_score
        self._index = EvidenceIndex(placed)
        self._matcher = Matcher(self._claims, self._asked, encoder)
        self._same: dict[str, list[int]] = {}
        for n, claim in enumerate(self._claims):
            self._same.setdefault(claim.text.casefold(), []).append(n)

    def linked(self) -> Iterator[Linked]:
        """Give what comes of each question, in their order."""
        for start in range(0, len(self._questions), BATCH):
            part = self._asked[start : start + BATCH]
            for n, similar in enumerate(self._matcher.similarities(part), start=start):
                yield self._one(self._questions[n], self._asked[n], similar)

    def _one(self, question: Question, asked: Asked, similar: FloatArray) -> Linked:
        sought = self._index.seek(question) if question.evidence else Sought()
        if not question.evidence and question.context:
            sought = Sought(among=self._index.within(question.context))
        if sought.found:
            return Linked(question.id, question.text, sought.found)
        if len(question.evidence) > 1:
            # One claim in place of the several that are needed would be a smaller support.
            return Linked(question.id, question.text, (), sought.reason)
        nearest: Found | None = None
        for found in self._guesses(question, asked, similar, sought.among):
            if found is not None and found.score >= self._min:
                found_all = self._with_repetitions(found)
                return Linked(question.id, question.text, found_all, sought.reason)
            if found is not None and (nearest is None or found.score > nearest.score):
                nearest = found
        reason = sought.reason or "no claim is likely enough to answer it"
        return Linked(question.id, question.text, (), reason, nearest)

    def _guesses(
        self, question: Question, asked: Asked, similar: FloatArray, among: Sequence[int]
    ) -> Iterator[Found | None]:
        wordings = [asked, *(replace(asked, answer=other) for other in question.others)]
        by_answer = [self._matcher.by_answer(wording, similar, among) for wording in wordings]
        yield max(filter(None, by_answer), key=lambda found: found.score, default=None)
        yield self._matcher.by_similarity(asked, similar, among)
        if self._judge is not None:
            places = list(among[:CANDIDATES]) or self._matcher.nearest(similar, CANDIDATES)
            yield self._judge.pick(asked, [self._claims[n].text for n in places], places)

    def _with_repetitions(self, found: Found) -> tuple[Found, ...]:
        """Add the claims that repeat the one found, word for word: any one of them suffices."""
        if len(found.claims) > 1:
            return (found,)
        same = self._same[self._claims[found.claims[0]].text.casefold()]
        others = [n for n in same if n != found.claims[0]][: ALTERNATIVES - 1]
        return (found, *(Found((n,), found.method, found.score) for n in others))


def _asked(question: Question) -> Asked:
    """Give what is sought: a quote that is not found word for word still says what to look for."""
    quotes = [part for part in question.evidence if isinstance(part, str)]
    return Asked(question.text, question.answer or " ".join(quotes))
