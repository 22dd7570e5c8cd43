"""In which order a `WriteMemory` reads its stored claims for a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memenvs.reading.answers import ALL
from memenvs.reading.readers import BM25Reader, split_name
from memenvs.reading.utility import DECIMALS
from memenvs.text.encoders import words


def check_reader(name: str) -> str:
    """Give the reader's name; raises ``ValueError`` for one that no memory of an agent can have."""
    if split_name(name)[0] in ("similarity", "bm25") or name == ALL:
        return name
    raise ValueError(
        f"no reader of a memory is named '{name}'; choose {ALL}, similarity:K or bm25:K"
    )


def ranked(numbers: Sequence[int], scores: NDArray[np.floating]) -> list[tuple[int, float]]:
    """Pair claims ``(n,)`` with their scores ``(n,)``, the best first; ties go to the earlier."""
    scores = np.round(scores, DECIMALS)
    return [(numbers[n], float(scores[n])) for n in np.argsort(-scores, kind="stable").tolist()]


class Index:
    """The words of texts, by number; only texts that changed are counted again."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._lengths: dict[int, int] = {}
        self._places: dict[str, dict[int, int]] = {}  # how often each word stands in which text

    def update(self, texts: Mapping[int, str]) -> None:
        """Hold these texts, and no others."""
        for number in [n for n, text in self._texts.items() if texts.get(n) != text]:
            for word in set(words(self._texts.pop(number))):
                del self._places[word][number]
                if not self._places[word]:
                    del self._places[word]
            del self._lengths[number]
        for number in texts.keys() - self._texts.keys():
            counted = Counter(words(texts[number]))
            self._texts[number] = texts[number]
            self._lengths[number] = counted.total()
            for word, count in counted.items():
                self._places.setdefault(word, {})[number] = count

    def ranked(self, query: str) -> list[tuple[int, float]]:
        """Give numbers and BM25 scores of the texts that share a word with a query, best first."""
        asked = {word: n for word, n in Counter(words(query)).items() if word in self._places}
        if not asked:
            return []
        numbers = sorted(self._texts)
        row = {number: place for place, number in enumerate(numbers)}
        counts = np.zeros((len(numbers), len(asked)))
        for column, word in enumerate(asked):
            for number, count in self._places[word].items():
                counts[row[number], column] = count
        lengths = np.array([self._lengths[number] for number in numbers], dtype=np.float64)
        once = np.array([list(asked.values())], dtype=np.float64)
        found = ranked(numbers, BM25Reader().weighed(counts, lengths, once)[0])
        return [(number, score) for number, score in found if score > 0]
