"""How relevant each node is to a query: an inverted index that grows with the tree."""

from __future__ import annotations

import math
from array import array
from collections import Counter

import numpy as np

from memenvs.material.incidence import FloatArray
from memenvs.text.encoders import words


class Index:
    """TF-IDF cosine in the SMART scheme lnc.ltc: only the query's side has inverse frequencies.

    A text so never changes its vector as others come: 1 + ln tf, of length 1. A query's word has
    (1 + ln tf) · ln(1 + n / df).
    """

    def __init__(self) -> None:
        self._postings: dict[str, tuple[array[int], array[float]]] = {}  # places and weights
        self._size = 0

    def add(self, text: str) -> None:
        """Enter the next text."""
        counts = Counter(words(text))
        damped = [1.0 + math.log(count) for count in counts.values()]
        length = math.sqrt(math.fsum(weight * weight for weight in damped))
        for word, weight in zip(counts, damped, strict=True):
            found = self._postings.get(word)
            if found is None:
                found = self._postings[word] = array("q"), array("d")
            found[0].append(self._size)
            found[1].append(weight / length)
        self._size += 1

    def forget(self, place: int, text: str) -> None:
        """Take out a text that was entered; its place stays, and is relevant to nothing."""
        for word in set(words(text)):
            places, weights = self._postings[word]
            at = places.index(place)
            places.pop(at)
            weights.pop(at)
            if not places:
                del self._postings[word]

    def relevance(self, query: str) -> FloatArray:
        """Give the cosine of each text to a query, in [0, 1]: ``(n,)``."""
        found = np.zeros(self._size)
        counts = Counter(word for word in words(query) if word in self._postings)
        squares = 0.0
        for word, count in sorted(counts.items()):
            places, weights = map(np.asarray, self._postings[word])
            weight = (1.0 + math.log(count)) * math.log1p(self._size / len(places))
            found[places] += weight * weights
            squares += weight**2
        return found / math.sqrt(squares) if squares else found
