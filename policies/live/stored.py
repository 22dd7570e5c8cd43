"""What a `WriteMemory` holds: its stored claims by number, listed, and found by a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.live import Live
from memenvs.material.records import Claim
from memenvs.reading.utility import DECIMALS
from memenvs.storage.handles import Guard, one_at_a_time
from memenvs.text.encoders import Encoder, unit_rows


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
    score: float | None = None  # similarity to the query it was found by


class Stored:
    """The side of a memory that is read; one thread at a time."""

    guard: Guard
    encoder: Encoder | None
    _layout: Layout
    _live: Live
    _claims: dict[int, Claim]  # by number: what is stored, and what has just arrived

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
        self, query: str, k: int = 5, *, embedding: Sequence[float] | None = None
    ) -> list[Entry]:
        """Give the ``k`` stored claims most similar to a query, the best first, with scores."""
        vectors = self._live.stream.embedding
        asked = self._vector(query, embedding)
        entries, places = self.contents(), self._places()
        similarity = np.round([vectors[places[e.number]] @ asked for e in entries], DECIMALS)
        best = np.argsort(-similarity, kind="stable")[:k]
        return [replace(entries[place], score=float(similarity[place])) for place in best]

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

    def _nearest(self, vector: Float32) -> list[int]:
        """Stored claims most similar to a query, if they have anything in common."""
        stored = self._places()
        if not stored:
            return []
        numbers, places = zip(*sorted(stored.items()), strict=True)
        similarity = np.round(self._live.stream.embedding[list(places)] @ vector, DECIMALS)
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
