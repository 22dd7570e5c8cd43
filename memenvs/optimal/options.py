"""The ways to answer a query, and what becomes of them where the truth of claims is uncertain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from memenvs.material.incidence import FloatArray

MAX_UNCERTAIN = 10  # claims of one query whose truth is enumerated: at most 2^10 scenarios
MAX_SCENARIOS = 1 << 16  # of all queries together


class Option(NamedTuple):
    """One way to answer a query: hold every claim of a support and none of the conflicts."""

    support: tuple[int, ...]
    conflicts: tuple[int, ...]


def minimal(options: Iterable[Option]) -> list[Option]:
    """Leave out options that cannot hold, and those that hold only where another one does."""
    kept: list[Option] = []
    for option in sorted(set(options), key=lambda o: (len(o.support), len(o.conflicts), o)):
        support, conflicts = set(option.support), set(option.conflicts)
        if support & conflicts:
            continue
        if not any(support.issuperset(s) and conflicts.issuperset(c) for s, c in kept):
            kept.append(option)
    return kept


def scenarios(
    rows: Sequence[tuple[list[Option], float]], truth: FloatArray
) -> tuple[dict[frozenset[Option], float], bool]:
    """Split each query, given as (minimal options, mass), by which claims are true, and merge.

    Claims are true independently with probability ``truth`` (E,), so the expected mass is
    sum_q p_q sum_T P(T) 1[some option of q is held and wholly true in T]: a coverage sum again.
    Returns mass by set of options, and whether it is exact. Past the limits of this file the
    claims of a query that are nearest to certain count as true, which can only raise the value.
    """
    uncertain = [
        sorted({e for o in options for e in o.support if truth[e] < 1.0}, key=lambda e: truth[e])
        for options, _ in rows
    ]
    limit = MAX_UNCERTAIN
    while limit and sum(2 ** min(len(claims), limit) for claims in uncertain) > MAX_SCENARIOS:
        limit -= 1
    masses: dict[frozenset[Option], float] = {}
    for (options, mass), claims in zip(rows, uncertain, strict=True):
        for possible, probability in _split(options, claims[:limit], truth):
            masses[possible] = masses.get(possible, 0.0) + mass * probability
    masses.pop(frozenset(), None)
    return masses, all(len(claims) <= limit for claims in uncertain)


def _split(
    options: list[Option], claims: list[int], truth: FloatArray
) -> Iterator[tuple[frozenset[Option], float]]:
    if not claims:
        yield frozenset(options), 1.0
        return
    needs = [(option, frozenset(claims).intersection(option.support)) for option in options]
    for outcome in product((False, True), repeat=len(claims)):
        probability = 1.0
        for claim, true in zip(claims, outcome, strict=True):
            probability *= truth[claim] if true else 1.0 - truth[claim]
        false = {claim for claim, true in zip(claims, outcome, strict=True) if not true}
        yield frozenset(o for o, need in needs if not need & false), float(probability)
