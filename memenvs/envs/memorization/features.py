"""What a real system can observe of claims and queries, as fixed numbers for one material."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.incidence import FloatArray
from memenvs.material import Material

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


@dataclass(frozen=True)
class Features:
    """One material as the environment shows it, before anything was settled."""

    claims: Float32  # (E, columns of a claim); what changes within an episode is zero
    embedding: Float32  # (E, d) unit rows
    queries: Float32  # (Q, d) unit rows
    source: NDArray[np.int64]  # (E,) number of the source, -1 where none is named
    group: NDArray[np.int64]  # (E,)

    @classmethod
    def of(
        cls, material: Material, layout: Layout, claims: FloatArray, queries: FloatArray
    ) -> Features:
        """Compute the features of every claim from the embeddings; none looks at a later claim."""
        vectors = claims.astype(np.float32)
        group = _numbered([claim.group for claim in material.claims])
        rows = np.zeros((len(vectors), layout.claim.width), dtype=np.float32)
        times = [claim.time for claim in material.claims]
        start = next((time for time in times if time is not None), 0.0)
        previous, earlier = _similarity_to_earlier(vectors)
        columns: dict[str, NDArray[np.floating] | Sequence[float]] = {
            "confidence": [
                UNKNOWN_CONFIDENCE if claim.confidence is None else claim.confidence
                for claim in material.claims
            ],
            "cost": material.incidence.cost,
            "time": [0.0 if time is None else time - start for time in times],
            "place": np.log1p(_place_in_group(group)),
            "previous_similarity": previous,
            "earlier_similarity": earlier,
            "valid": np.ones(len(vectors)),
        }
        if layout.limits.texts:
            columns |= _text_columns([claim.text for claim in material.claims])
        for name, values in columns.items():
            rows[:, layout.index(name)] = values
        rows[:, layout.slice("embedding")] = vectors
        for e, claim in enumerate(material.claims):
            for cue, value in dict(claim.cues).items():
                rows[e, layout.index(f"cues.{cue}")] = value
        source = _numbered([claim.source for claim in material.claims])
        rows[:, layout.index("source")] = source
        heard, means = _heard_of_source(source, rows[:, layout.slice("cues")])
        rows[:, layout.index("source_claims")] = np.log1p(heard)
        rows[:, layout.slice("source_cues")] = means
        return cls(rows, vectors, queries.astype(np.float32), source, group)


def _numbered(names: Sequence[str]) -> NDArray[np.int64]:
    """Number names in order of appearance; the empty name is -1."""
    numbers: dict[str, int] = {}
    return np.array(
        [numbers.setdefault(name, len(numbers)) if name else -1 for name in names], dtype=np.int64
    )


def _place_in_group(group: NDArray[np.int64]) -> NDArray[np.int64]:
    seen: dict[int, int] = {}
    places = np.zeros(len(group), dtype=np.int64)
    for e, g in enumerate(group.tolist()):
        places[e] = seen.get(g, 0)
        seen[g] = places[e] + 1
    return places


def _heard_of_source(source: NDArray[np.int64], cues: Float32) -> tuple[FloatArray, FloatArray]:
    """Count the claims of each claim's source up to it ``(E,)``, and average their cues ``(E, C)``.

    A claim that names no source is one by itself.
    """
    totals: dict[int, tuple[int, FloatArray]] = {}
    counts, means = np.ones(len(source)), cues.astype(np.float64)
    for e, s in enumerate(source.tolist()):
        if s >= 0:
            count, total = totals.get(s, (0, np.zeros(cues.shape[1])))
            totals[s] = count + 1, total + cues[e]
            counts[e], means[e] = count + 1, totals[s][1] / (count + 1)
    return counts, means


def _similarity_to_earlier(vectors: Float32, block: int = 512) -> tuple[Float32, Float32]:
    """Similarity to the claim before, and the largest to all before; 0 for the first claim."""
    previous = np.zeros(len(vectors), dtype=np.float32)
    previous[1:] = (vectors[1:] * vectors[:-1]).sum(axis=1)
    earlier = np.zeros(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), block):  # never the whole square of a long material
        stop = min(start + block, len(vectors))
        products = vectors[start:stop] @ vectors[:stop].T
        later = np.arange(stop) >= np.arange(start, stop)[:, None]
        products[later] = -np.inf
        largest = products.max(axis=1)
        earlier[start:stop] = np.where(np.isfinite(largest), largest, 0.0)
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
