"""Hypothesis strategies for materials and memories."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query

TEXTS = st.text(max_size=12)  # any Unicode but surrogates, which no file can hold
NAMES = st.text(min_size=1, max_size=6)
FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
SHARES = st.floats(0.0, 1.0)
POSITIVE = st.floats(2.0**-20, 2.0**20)
SURE = st.booleans()


@st.composite
def materials(draw, truth=SURE | SHARES, conflicts=True, plain=False, max_claims=6):
    """A valid material; ``plain`` leaves out what the utilities do not use."""
    claim_ids = draw(st.lists(NAMES, min_size=1, max_size=max_claims, unique=True))
    query_ids = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    item_ids = draw(st.lists(NAMES, max_size=6, unique=True))
    length = 0 if plain else draw(st.integers(0, 3))
    vector = st.tuples(*[FINITE] * length) if length else st.none()
    optional = st.none() if plain else st.none() | FINITE

    def claim(identifier):
        return Claim(
            id=identifier,
            truth=draw(truth),
            embedding=draw(vector),
            **{}
            if plain
            else {
                "text": draw(TEXTS),
                "source": draw(TEXTS),
                "group": draw(TEXTS),
                "type": draw(TEXTS),
                "time": draw(optional),
                "valid_until": draw(optional),
                "confidence": draw(st.none() | SHARES),
                "cost": draw(POSITIVE),
                "cues": draw(st.dictionaries(NAMES, FINITE, max_size=2)),
            },
        )

    def item(identifier):
        support = st.frozensets(st.sampled_from(claim_ids), min_size=1, max_size=3)
        return Item(
            id=identifier,
            text="" if plain else draw(TEXTS),
            supports=tuple(
                map(tuple, draw(st.lists(support, min_size=1, max_size=3, unique=True)))
            ),
            answers=tuple(draw(st.lists(st.sampled_from(query_ids), unique=True, max_size=3))),
            conflicts=tuple(draw(st.lists(st.sampled_from(claim_ids), unique=True, max_size=1)))
            if conflicts
            else (),
            embedding=draw(st.none() | vector) if length else None,
        )

    weights = [draw(POSITIVE), *(draw(st.just(0.0) | POSITIVE) for _ in query_ids[1:])]
    queries = [
        Query(
            id=q,
            weight=w,
            embedding=draw(vector),
            text="" if plain else draw(TEXTS),
            answer="" if plain else draw(TEXTS),
        )
        for q, w in zip(query_ids, weights, strict=True)
    ]
    return Material(
        draw(NAMES),
        tuple(map(claim, claim_ids)),
        tuple(map(item, item_ids)),
        tuple(queries),
    )


def all_memories(material):
    """Every memory of a small material: ``(2 ** n_claims, n_claims)``."""
    n = len(material.claims)
    return (np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1
