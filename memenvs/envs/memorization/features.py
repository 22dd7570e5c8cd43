"""What a real system can observe of claims and queries, as fixed numbers, read in their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.material.records import Claim

Float32 = NDArray[np.float32]

UNKNOWN_CONFIDENCE = 0.5
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
# Capitalised words that do not begin a sentence: mostly names.
_CAPITAL = re.compile(r"(?<![.!?\s])\s+[A-Z][a-z]+")
_TIME_WORDS = frozenset(
    "yesterday today tomorrow tonight morning afternoon evening night day days week weekend weeks "
    "month months year years ago last next since until monday tuesday wednesday thursday friday "
    "saturday sunday january february march april may june july august september october november "
    "december".split()
)
_FIRST_PERSON = frozenset("i me my mine we us our ours".split())
_SECOND_PERSON = frozenset("you your yours".split())


class Seen(Protocol):
    """What was read, as fixed numbers: a whole material, or a stream as far as it has come."""

    @property
    def claims(self) -> Float32:
        """Columns of the claims, ``(E, width)``; what changes within an episode is zero."""
        ...

    @property
    def embedding(self) -> Float32:
        """Vectors of the claims, ``(E, d)`` unit rows."""
        ...

    @property
    def queries(self) -> Float32:
        """Vectors of queries, ``(Q, d)`` unit rows."""
        ...

    @property
    def source(self) -> IntArray:
        """Number of each claim's source, ``(E,)``; -1 where none is named."""
        ...

    @property
    def group(self) -> IntArray:
        """Number of each claim's group, ``(E,)``; -1 where none is named."""
        ...

    @property
    def cost(self) -> FloatArray:
        """What each claim takes of a budget, ``(E,)``."""
        ...


@dataclass(frozen=True)
class Features:
    """One material as the environment shows it, before anything was settled: a ``Seen``."""

    claims: Float32
    embedding: Float32
    queries: Float32
    source: IntArray
    group: IntArray
    cost: FloatArray

    @classmethod
    def of(
        cls, material: Material, layout: Layout, claims: FloatArray, queries: FloatArray
    ) -> Features:
        """Compute the features of every claim from the embeddings; none looks at a later claim."""
        vectors = claims.astype(np.float32)
        rows, source, group = Reader(layout).read(material.claims, vectors)
        cost = material.incidence.cost
        return cls(rows, vectors, queries.astype(np.float32), source, group, cost)


class Reader:
    """Reads claims in order, all at once or as they arrive: their features are the same."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._sources: dict[str, int] = {}  # number of each name, in order of appearance
        self._groups: dict[str, int] = {}
        self._places: dict[int, int] = {}  # claims of each group so far
        self._heard: dict[int, tuple[int, FloatArray]] = {}  # of each source: claims, summed cues
        self._start: float | None = None  # time of the first claim that has one

    def read(self, claims: Sequence[Claim], vectors: Float32) -> tuple[Float32, IntArray, IntArray]:
        """Give the rows ``(n, width)``, sources and groups ``(n,)`` of the next ``n`` claims.

        ``vectors`` ``(E, d)`` are those of all claims so far, the new ones last.
        """
        layout = self._layout
        group = _numbered([claim.group for claim in claims], self._groups)
        source = _numbered([claim.source for claim in claims], self._sources)
        rows = np.zeros((len(claims), layout.claim.width), dtype=np.float32)
        self._read_words(rows, [claim.text for claim in claims], vectors)
        columns: dict[str, NDArray[np.floating] | Sequence[float]] = {
            "confidence": [
                UNKNOWN_CONFIDENCE if claim.confidence is None else claim.confidence
                for claim in claims
            ],
            "cost": [claim.cost for claim in claims],
            "time": self._times(claims),
            "place": np.log1p(self._place_in_group(group)),
            "valid": np.ones(len(claims)),
            "source": source.astype(np.float64),
        }
        for name, values in columns.items():
            rows[:, layout.index(name)] = values
        for e, claim in enumerate(claims):
            for cue, value in dict(claim.cues).items():
                rows[e, layout.index(f"cues.{cue}")] = value
        heard, means = self._hear(source, rows[:, layout.slice("cues")])
        rows[:, layout.index("source_claims")] = np.log1p(heard)
        rows[:, layout.slice("source_cues")] = means
        return rows, source, group

    def reword(self, row: Float32, text: str, vectors: Float32) -> None:
        """Change a claim's row to another text; ``vectors`` are those up to its own."""
        self._read_words(row[None], [text], vectors)

    def _read_words(self, rows: Float32, texts: Sequence[str], vectors: Float32) -> None:
        """Fill in what the words of the last claims of ``vectors`` say."""
        first = len(vectors) - len(texts)
        previous, earlier = _similarity_to_earlier(vectors, first)
        columns = {"previous_similarity": previous, "earlier_similarity": earlier}
        if self._layout.limits.texts:
            columns |= _text_columns(texts)
        for name, values in columns.items():
            rows[:, self._layout.index(name)] = values
        rows[:, self._layout.slice("embedding")] = vectors[first:]

    def as_names(self) -> dict[str, Any]:
        """Give what was heard of names and sources, as JSON holds it, for ``restore``."""
        return {
            "sources": self._sources,
            "groups": self._groups,
            "places": list(self._places.items()),
            "heard": [(s, count, total.tolist()) for s, (count, total) in self._heard.items()],
            "start": self._start,
        }

    def restore(self, names: dict[str, Any]) -> None:
        """Become what ``as_names`` was taken of."""
        self._sources, self._groups = dict(names["sources"]), dict(names["groups"])
        self._places = dict(names["places"])
        self._heard = {s: (count, np.array(total)) for s, count, total in names["heard"]}
        self._start = names["start"]

    @property
    def sources(self) -> set[int]:
        """Numbers of the sources that have a name here."""
        return set(self._sources.values())

    def forget(self, sources: set[int], groups: set[int], most: int) -> None:
        """Forget the oldest names where there are more than ``most``, but for those given."""
        for names, used in ((self._sources, sources), (self._groups, groups)):
            if len(names) > most:
                unused = [name for name, number in names.items() if number not in used]
                for name in unused[: len(names) - most + most // 4]:
                    del names[name]
        known = self.sources
        if len(self._heard) > len(known):
            self._heard = {s: heard for s, heard in self._heard.items() if s in known}
        if len(self._places) > len(self._groups) + 1:
            known = {*self._groups.values(), -1}
            self._places = {g: count for g, count in self._places.items() if g in known}

    def _times(self, claims: Sequence[Claim]) -> list[float]:
        """Count times from the first claim that has one; 0 where a claim has none."""
        times: list[float] = []
        for claim in claims:
            if self._start is None:
                self._start = claim.time
            times.append(0.0 if claim.time is None else claim.time - (self._start or 0.0))
        return times

    def _place_in_group(self, group: IntArray) -> IntArray:
        """Count the earlier claims of each claim's group; those of none count as one group."""
        places = np.zeros(len(group), dtype=np.int64)
        for e, g in enumerate(group.tolist()):
            earlier = self._places.get(g, 0)
            self._places[g] = earlier + 1
            places[e] = earlier
        return places

    def _hear(self, source: IntArray, cues: Float32) -> tuple[FloatArray, FloatArray]:
        """Count the claims of each claim's source up to it ``(n,)``, and average their cues.

        A claim that names no source is one by itself.
        """
        counts, means = np.ones(len(source)), cues.astype(np.float64)
        for e, s in enumerate(source.tolist()):
            if s >= 0:
                count, total = self._heard.get(s, (0, np.zeros(cues.shape[1])))
                self._heard[s] = count + 1, total + cues[e]
                counts[e], means[e] = count + 1, self._heard[s][1] / (count + 1)
        return counts, means


def _numbered(names: Sequence[str], numbers: dict[str, int]) -> IntArray:
    """Number names in order of appearance; the empty name is -1."""
    found = np.full(len(names), -1, dtype=np.int64)
    for place, name in enumerate(names):
        if name and name not in numbers:  # the last one stays, whatever is forgotten
            numbers[name] = next(reversed(numbers.values()), -1) + 1
        if name:
            found[place] = numbers[name]
    return found


def _similarity_to_earlier(
    vectors: Float32, first: int, block: int = 512
) -> tuple[Float32, Float32]:
    """Similarity of the claims from ``first`` on to the one before, and the largest to all before.

    Both are 0 for the first claim of all.
    """
    new = len(vectors) - first
    previous = np.zeros(new, dtype=np.float32)
    has_previous = max(first, 1)
    previous[has_previous - first :] = (
        vectors[has_previous:] * vectors[has_previous - 1 : -1]
    ).sum(axis=1)
    earlier = np.zeros(new, dtype=np.float32)
    for start in range(first, len(vectors), block):  # never the square of a long material
        stop = min(start + block, len(vectors))
        products = vectors[start:stop] @ vectors[:stop].T
        later = np.arange(stop) >= np.arange(start, stop)[:, None]
        products[later] = -np.inf
        largest = products.max(axis=1)
        earlier[start - first : stop - first] = np.where(np.isfinite(largest), largest, 0.0)
    return previous, earlier


def _text_columns(texts: Sequence[str]) -> dict[str, NDArray[np.floating]]:
    words = [[word.lower() for word in _WORD.findall(text)] for text in texts]

    def count_of(vocabulary: frozenset[str]) -> NDArray[np.floating]:
        return np.log1p([sum(word in vocabulary for word in line) for line in words])

    return {
        "length": np.log1p([len(text) for text in texts]),
        "digits": np.log1p([len(_DIGIT.findall(text)) for text in texts]),
        "capitals": np.log1p([len(_CAPITAL.findall(text)) for text in texts]),
        "time_words": count_of(_TIME_WORDS),
        "first_person": count_of(_FIRST_PERSON),
        "second_person": count_of(_SECOND_PERSON),
        "question": np.array([float("?" in text) for text in texts]),
    }
