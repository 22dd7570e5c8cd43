"""In which order a `WriteMemory` reads its stored claims for a query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memenvs.envs.memorization.features import Float32
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
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


def ranked(
    reader: str, texts: Sequence[str], vectors: Float32, query: str, asked: Float32
) -> list[tuple[int, float]]:
    """Give places and scores of the texts that can be read for a query, the best first.

    ``vectors`` ``(n, d)`` are those of the texts, ``asked`` ``(d,)`` that of the query. BM25 reads
    nothing that scores 0; ties go to the earlier text.
    """
    if split_name(reader)[0] != "bm25":
        scores = np.round(vectors @ asked, DECIMALS)
        return [(int(n), float(scores[n])) for n in np.argsort(-scores, kind="stable")]
    if not texts or not words(query):
        return []
    scores = np.round(_bm25(texts, query), DECIMALS)
    best = np.argsort(-scores, kind="stable")
    return [(int(n), float(scores[n])) for n in best if scores[n] > 0]


def _bm25(texts: Sequence[str], query: str) -> FloatArray:
    names = [str(place) for place in range(len(texts))]
    material = Material(
        "memory",
        tuple(Claim(id=name, text=text) for name, text in zip(names, texts, strict=True)),
        tuple(Item(id=name, supports=((name,),), answers=("query",)) for name in names),
        (Query(id="query", text=query),),
    )
    scores: FloatArray = BM25Reader().scores(material, np.arange(len(texts)))[0]
    return scores
