"""Links found without evidence: by the answer's wording, and by similarity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from memenvs.material.incidence import FloatArray
from memenvs.material.records import Claim
from memenvs.text.encoders import Encoder, words
from memenvs.train.own_material.links import Found

# Scores are probabilities: logistic regressions on half of LoCoMo and MuSiQue (three conversations,
# sixty questions; all claims, and stretches of 100 and of 20), each question asked of claims that
# answer it and of claims that do not, with equal mass.
ANSWER = {"constant": -1.51, "cover": 8.16, "similarity": 5.77, "one word": -1.81}
SIMILARITY = {"constant": -4.68, "cover": 3.74, "similarity": 17.17, "margin": 1.18}
# The same with the vectors of a neural encoder, all-MiniLM-L6-v2, on one conversation.
NEURAL_ANSWER = {"constant": -3.36, "cover": 3.26, "similarity": 6.9, "one word": -2.67}
NEURAL_SIMILARITY = {"constant": -6.64, "cover": 2.62, "similarity": 7.15, "margin": 6.89}


@dataclass(frozen=True)
class Asked:
    """A question as it is sought: what it asks, and what is said in reply."""

    text: str
    answer: str


class Matcher:
    """Finds the claim that answers a question, and says how likely it is the right one.

    Similarity is that of an encoder's vectors; without one, of all TF-IDF weights of the words,
    which is what LSA approximates. A claim is read with its source before it. A question's terms
    weigh more the rarer they are in claims and in questions: "who" tells nothing.
    """

    def __init__(
        self, claims: Sequence[Claim], asked: Sequence[Asked], encoder: Encoder | None = None
    ) -> None:
        texts = [f"{claim.source} {claim.text}" for claim in claims]
        self._terms = [words(text) for text in texts]
        self._sets = [frozenset(terms) for terms in self._terms]
        self._joined = [f" {' '.join(terms)} " for terms in self._terms]
        self._frequency = Counter(term for terms in self._sets for term in terms)
        self._asked = Counter(term for one in asked for term in set(words(one.text)))
        self._questions = len(asked)
        self._encoder = encoder
        if encoder is None:
            self._place = {term: n for n, term in enumerate(self._frequency)}
            self._rows = self._weights(self._terms)
        else:
            self._vectors = encoder.encode(texts)

    def similarities(self, asked: Sequence[Asked]) -> FloatArray:
        """Give the similarity of questions with answers to claims: ``(questions, claims)``."""
        # The answer counts twice: it is what the claim must say, the question only names it.
        texts = [f"{one.text} {one.answer} {one.answer}" for one in asked]
        if self._encoder is None:
            product = self._weights([words(text) for text in texts]) @ self._rows.T
            found: FloatArray = product.toarray()
            return found
        return np.asarray(self._encoder.encode(texts) @ self._vectors.T)

    def by_answer(
        self, asked: Asked, similar: FloatArray, among: Sequence[int] = ()
    ) -> Found | None:
        """Give the claim that holds the answer's words and most of the question's; None if none."""
        answer = words(asked.answer)
        sought = f" {' '.join(answer)} "
        places = among or range(len(self._joined))
        holding = [n for n in places if answer and sought in self._joined[n]]
        if not holding:
            return None
        best = max(holding, key=lambda n: (similar[n], -n))
        score = _logistic(
            ANSWER if self._encoder is None else NEURAL_ANSWER,
            cover=self._cover(asked, best),
            similarity=similar[best],
            **{"one word": float(len(answer) == 1)},
        )
        return Found((best,), "answer", score)

    def by_similarity(
        self, asked: Asked, similar: FloatArray, among: Sequence[int] = ()
    ) -> Found | None:
        """Give the most similar claim; None where nothing is similar at all."""
        places = np.array(among or range(len(similar)))
        order = places[np.argsort(-similar[places], kind="stable")]
        top = float(similar[order[0]])
        if top <= 0:
            return None
        # Claims that say the same are one, so they do not make each other doubtful.
        others = [n for n in order[1:5] if self._sets[n] != self._sets[order[0]]]
        second = float(similar[others[0]]) if others else 0.0
        score = _logistic(
            SIMILARITY if self._encoder is None else NEURAL_SIMILARITY,
            cover=self._cover(asked, int(order[0])),
            similarity=top,
            margin=1 - max(second, 0.0) / top,
        )
        return Found((int(order[0]),), "similarity", score)

    def nearest(self, similar: FloatArray, count: int) -> list[int]:
        """Give the most similar claims, best first."""
        return [int(n) for n in np.argsort(-similar, kind="stable")[:count]]

    def _cover(self, asked: Asked, claim: int) -> float:
        """Give the share of a question's terms, by weight, that a claim holds."""
        weights = {
            term: math.log((1 + len(self._terms)) / (1 + self._frequency[term]))
            * math.log((1 + self._questions) / (0.5 + self._asked[term]))
            for term in sorted(set(words(asked.text)))
        }
        total = sum(weights.values())
        held = sum(weight for term, weight in weights.items() if term in self._sets[claim])
        return held / total if total > 0 else 0.0

    def _weights(self, texts: Sequence[Sequence[str]]) -> csr_matrix:
        """Give TF-IDF rows of length 1: (1 + ln tf) · ln((1 + n) / df), df ½ of an unknown term.

        Unknown terms count in the length alone: a question about something else is similar to
        nothing, whatever "is" and "the" it shares.
        """
        places: list[int] = []
        values: list[float] = []
        starts = [0]
        for text in texts:
            row = {
                term: (1 + math.log(count))
                * math.log((1 + len(self._terms)) / (self._frequency[term] or 0.5))
                for term, count in Counter(text).items()
            }
            length = math.sqrt(sum(value * value for value in row.values())) or 1.0
            known = [term for term in row if term in self._place]
            places += [self._place[term] for term in known]
            values += [row[term] / length for term in known]
            starts.append(len(places))
        return csr_matrix((values, places, starts), shape=(len(texts), len(self._place)))


def _logistic(coefficients: dict[str, float], **features: float) -> float:
    total = coefficients["constant"] + sum(
        coefficients[name] * value for name, value in features.items()
    )
    return 1 / (1 + math.exp(-total))
