"""Materials on which greedy fails by any factor asked for (the paper's remark 12.6)."""

from __future__ import annotations

from itertools import combinations

from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query

FACTOR = 7.0
LURE = 1.01  # mass of a query that a lure's pair answers, where a pair of the circle answers 1


def greedy_trap(factor: float = FACTOR) -> Material:
    """Give a material whose best memory of S claims answers ``factor`` times what greedy's does.

    S claims, a circle, answer a query by every two of them: S (S - 1) / 2 queries of one mass. S
    further claims answer by fixed pairs, each a query of a little more: greedy takes pair after
    pair of these, S / 2 queries in all. Claim by claim it sees no gain at all. S is the least
    even number for which S - 1 reaches 1.01 times the factor. Raises ``ValueError`` below 1.
    """
    if not factor >= 1.0:
        raise ValueError(f"factor {factor} is not a number of 1 or more")
    size = 2
    while size - 1 < LURE * factor:
        size += 2
    circle = [f"circle-{place}" for place in range(size)]
    lures = [f"lure-{place}" for place in range(size)]
    pairs = list(combinations(circle, 2))
    lured = list(zip(lures[::2], lures[1::2], strict=True))
    supports = {"+".join(pair): pair for pair in [*lured, *pairs]}
    weights = dict.fromkeys(("+".join(pair) for pair in lured), LURE)
    return Material(
        "greedy-trap",
        tuple(Claim(id=claim) for claim in [*lures, *circle]),
        tuple(Item(id=f"n:{n}", supports=(s,), answers=(f"q:{n}",)) for n, s in supports.items()),
        tuple(Query(id=f"q:{name}", weight=weights.get(name, 1.0)) for name in supports),
    )
