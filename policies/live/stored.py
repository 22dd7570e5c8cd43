"""What a `WriteMemory` holds: its stored claims by number, listed, and found by a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.live import Live
from memenvs.material.records import Claim
from memenvs.policies.live.ranking import Index, ranked
from memenvs.reading.readers import split_name
from memenvs.reading.utility import DECIMALS
from memenvs.short_repr import short_repr
from memenvs.storage.handles import Guard, one_at_a_time
from memenvs.text.encoders import Encoder, unit_rows

FOUND = 5  # claims that a search gives where the reader has no K


@dataclass(frozen=True)
class Entry:
    """A stored claim, and how often answers that it had a part in were right and wrong."""

    number: int  # as ``add`` gave it
    text: str
    source: str
    time: float | None
    confidence: float | None
    group: str
    credits: int
    debits: int
    score: float | None = None  # of the query it was found by: a cosine, or BM25's

    __repr__ = short_repr


class Stored:
    """The side of a memory that is read; one thread at a time."""

    guard: Guard
    encoder: Encoder | None
    _layout: Layout
    _live: Live
    _claims: dict[int, Claim]  # by number: what is stored, and what has just arrived
    _index: Index  # of the words of what is stored, where BM25 reads

    def __len__(self) -> int:
        return len(self._claims)

    @one_at_a_time
    def get(self, number: int) -> Entry:
        """Give a stored claim by its number; raises ``ValueError`` where it is not stored."""
        for entry in self.contents():
            if entry.number == number:
                return entry
        raise not_stored(number)

    @one_at_a_time
    def contents(self) -> list[Entry]:
        """List the stored claims in the order they were read."""
        debits, credits = self._live.records.credits
        places = self._places()
        return [
            Entry(
                number,
                claim.text,
                claim.source,
                claim.time,
                claim.confidence,
                claim.group,
                int(credits[places[number]]),
                int(debits[places[number]]),
            )
            for number, claim in sorted(self._claims.items())
        ]

    @one_at_a_time
    def search(
        self, query: str, k: int | None = None, *, embedding: Sequence[float] | None = None
    ) -> list[Entry]:
        """Give the ``k`` stored claims that the reader ranks highest, best first, with scores.

        ``k`` is the reader's own K by default, or 5. A score is a cosine, or that of BM25, which
        finds no claim that shares no word with the query. Raises ``ValueError`` for a negative k.
        """
        if k is None:
            k = split_name(self._live.rules.reader)[1] or FOUND
        if k < 0:
            raise ValueError(f"k is {k}; give how many claims to find, 0 or more")
        entries = {entry.number: entry for entry in self.contents()}
        found = self._ranked(query, self._vector(query, embedding))[:k]
        return [replace(entries[number], score=score) for number, score in found]

    def _ranked(self, query: str, vector: Float32) -> list[tuple[int, float]]:
        """Numbers and scores of the stored claims that can be read for a query, best first."""
        places = self._places()
        stored = sorted(places)
        if split_name(self._live.rules.reader)[0] == "bm25":
            self._index.update({number: self._claims[number].text for number in stored})
            return self._index.ranked(query)
        similarity = self._live.stream.embedding[[places[number] for number in stored]] @ vector
        return ranked(stored, similarity)

    def _read(self, query: str, vector: Float32) -> list[int]:
        """Numbers of the stored claims that the reader reads for a query."""
        _, k = split_name(self._live.rules.reader)
        return [number for number, _ in self._ranked(query, vector)[:k]]

    def _vector(self, text: str, embedding: Sequence[float] | None) -> Float32:
        width = self._layout.limits.embedding
        if embedding is None:
            if self.encoder is None:
                raise ValueError(
                    f"the model reads vectors of {width} numbers that its materials brought along; "
                    "give embedding="
                )
            return np.asarray(self.encoder.encode([text])[0], dtype=np.float32)
        vector = np.asarray(embedding, dtype=np.float64)
        if vector.shape != (width,) or not np.isfinite(vector).all():
            raise ValueError(f"embedding is no vector of {width} finite numbers")
        return np.asarray(unit_rows(vector[None])[0], dtype=np.float32)

    def _nearest(self, vector: Float32, numbers: Sequence[int]) -> list[int]:
        """Of the stored claims that were read, those most similar to a query, if above 0."""
        if not numbers:
            return []
        stored = self._places()
        places = [stored[number] for number in numbers]
        similarity = np.round(self._live.stream.embedding[places] @ vector, DECIMALS)
        best = similarity.max()
        return [n for n, s in zip(numbers, similarity, strict=True) if s == best and best > 0]

    def _places(self) -> dict[int, int]:
        """Give the places of the stored claims, by their numbers."""
        places = self._live.slots.claims[self._live.slots.occupied]
        numbers: list[int] = self._live.numbers(places).tolist()
        return dict(zip(numbers, places.tolist(), strict=True))


def not_stored(number: int) -> ValueError:
    """Say that a claim is not in the memory."""
    return ValueError(f"claim {number} is not in the memory; contents() lists what is")
