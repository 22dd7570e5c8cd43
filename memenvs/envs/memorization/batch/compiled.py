"""One material as padded arrays, which many episodes of unlike materials can share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.envs.memorization.prepared import Prepared
from memenvs.envs.memorization.rules import Disclosure
from memenvs.envs.memorization.settled import Records
from memenvs.reading.utility import ranked_answers

Arrays = dict[str, NDArray[Any]]

# Bits of a claim's place in the bitmap of a memory.
STORED, TRUE = 1, 2
ABSENT = -2.0  # similarity to an empty slot: below any of unit vectors
# Columns of a claim's tags. Labels are equal for claims of one source or group; a claim that names
# none has labels of its own. Source 0 stands for none.
CLAIM, SOURCE_LABEL, GROUP_LABEL, SOURCE = range(4)
TAGS = 4
TABLE_CELLS = 1 << 16  # similarities of one material that are computed beforehand

# What has as many ways to answer, and places in each, as the material needs.
WAYS = ("supports", "conflicts", "items", "all_supports", "all_conflicts", "all_queries")


def sentinels(limits: Limits) -> tuple[int, int]:
    """Places after the claims in a bitmap: one that is always stored, and one that never is."""
    return limits.claims, limits.claims + 1


def tabulates(layout: Layout) -> bool:
    """Whether the similarities of a material are few enough to be computed beforehand."""
    limits = layout.limits
    return layout.pool or limits.claims * (limits.claims + limits.queries) <= TABLE_CELLS


def compile_material(prepared: Prepared, layout: Layout, disclosure: Disclosure) -> Arrays:
    """Give the arrays of one material, padded but for the number of ways to answer.

    L = claims + 2 places of a claim, the sentinels last; the never stored one also stands for no
    claim: its features and similarities are zero. Q + 1 queries, of which the last is none.
    """
    limits, incidence = layout.limits, prepared.material.incidence
    features = prepared.features
    claims, queries = len(features.source), len(features.queries)
    never = sentinels(limits)[1]
    places = never + 1
    arrays: Arrays = {
        "features": np.zeros((places, layout.claim.width), dtype=np.float32),
        "tags": np.tile(np.array([never, -1, -1, 0]), (places, 1)),
        "bits": np.zeros(places, dtype=np.uint8),  # what a claim is in the bitmap once it is stored
        "truth": np.zeros(places),
        "cost": np.zeros(places),
        "queries": np.zeros((limits.queries + 1, layout.queries.width), dtype=np.float32),
        "frequency": np.zeros(places, dtype=np.float32),  # where all queries are known beforehand
        "cumulative": np.full(_power_of_two(limits.queries + 1), 2.0),  # no number lies above
        "probability": np.zeros(limits.queries + 1),
    }
    arrays["features"][:claims] = features.claims
    numbers = np.arange(claims)
    own = places + numbers
    arrays["tags"][:claims, CLAIM] = numbers
    for column, label in ((SOURCE_LABEL, features.source), (GROUP_LABEL, features.group)):
        arrays["tags"][:claims, column] = np.where(label >= 0, label, own)
    arrays["tags"][:claims, SOURCE] = features.source + 1
    arrays["bits"][:claims] = np.where(incidence.truth == 1.0, STORED | TRUE, STORED)
    arrays["truth"][:claims] = incidence.truth
    arrays["cost"][:claims] = incidence.cost
    arrays["cumulative"][:queries] = prepared.cumulative
    arrays["probability"][:queries] = incidence.probability
    records = Records(features, replace(layout, query_rows=limits.queries))
    shown = {"all": incidence.probability, "one": np.ones(queries), "settled": np.zeros(queries)}
    records.disclose(dict(enumerate(shown[disclosure].tolist())))
    arrays["queries"][:-1] = records.queries
    if disclosure == "all":
        arrays["frequency"][:claims] = records.frequency
    if tabulates(layout):
        vectors = features.embedding
        arrays["between"] = np.full((places, places), ABSENT, dtype=np.float32)
        arrays["between"][:claims, :claims] = vectors @ vectors.T
        np.fill_diagonal(arrays["between"], ABSENT)  # a claim repeats others, not itself
        arrays["asked"] = np.zeros((limits.queries + 1, places), dtype=np.float32)
        arrays["asked"][:queries, :claims] = features.queries @ vectors.T
    return arrays | _ways(prepared, limits)


def blank_ways(name: str, shape: tuple[int, ...], limits: Limits) -> NDArray[Any]:
    """Give an array of ways that no memory satisfies, for one of ``WAYS``.

    Those of queries are ``(Q + 1, K, R)``: R ways of K places each; those of all queries one after
    another ``(1, K, R)``. A way has a claim that is never stored; places that it does not need hold
    the one that always is, among conflicts the one that never is.
    """
    always, never = sentinels(limits)
    if "supports" in name:
        array = np.full(shape, always, dtype=np.int32)
        array[:, :1] = never
        return array
    fill = {"items": -1, "all_queries": limits.queries}.get(name, never)
    return np.full(shape, fill, dtype=np.int32)


def _ways(prepared: Prepared, limits: Limits) -> Arrays:
    incidence, ranked = prepared.material.incidence, ranked_answers(prepared.material)
    of_pair = incidence.item_supports.take(ranked.values)  # of each query and item: supports
    pairs = np.repeat(np.arange(len(of_pair)), of_pair.lengths)
    item = ranked.values[pairs]
    query = np.repeat(np.arange(len(ranked)), ranked.lengths)[pairs]
    counts = np.bincount(query, minlength=len(ranked))
    way = np.arange(len(query)) - (np.cumsum(counts) - counts)[query]
    supports, withdrawing = incidence.supports.take(of_pair.values), incidence.conflicts.take(item)
    most, longest = counts.max(initial=1), supports.lengths.max(initial=1)
    conflicts = withdrawing.lengths.max(initial=0)
    rows, total = limits.queries + 1, max(len(query), 1)
    shapes = {
        "supports": (rows, longest, most),
        "conflicts": (rows, conflicts, most),
        "items": (rows, most),
        "all_supports": (1, longest, total),
        "all_conflicts": (1, conflicts, total),
        "all_queries": (1, total),
    }
    arrays = {name: blank_ways(name, shape, limits) for name, shape in shapes.items()}
    if not len(query):
        return arrays
    always, _ = sentinels(limits)
    first, place = np.zeros_like(query), np.arange(len(query))
    arrays["items"][query, way] = item
    arrays["all_queries"][0] = query
    for kind, row, column in (("", query, way), ("all_", first, place)):
        arrays[f"{kind}supports"][row, 0, column] = always
        for name, claims in ((f"{kind}supports", supports), (f"{kind}conflicts", withdrawing)):
            owner = np.repeat(place, claims.lengths)
            within = np.arange(len(owner)) - claims.offsets[owner]
            arrays[name][row[owner], within, column[owner]] = claims.values
    return arrays


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()
