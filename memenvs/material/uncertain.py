"""The probability that some support is wholly true, where truth is a confidence in [0, 1]."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, Incidence

MAX_TERMS = 12  # supports that share claims: 2^12 inclusion–exclusion terms, then sampling
SAMPLES = 1 << 16  # standard error at most .002
SEED = 20_240_811  # one fixed stream: equal memories always get equal estimates

Support = frozenset[int]


def answer_probability(
    incidence: Incidence, memory: BoolArray, rows: Iterable[Iterable[int]]
) -> tuple[FloatArray, BoolArray]:
    """Probability that some satisfied support of one of the items in each row is wholly true.

    Claims are true independently of each other. ``memory`` is ``(B, E)``; ``rows`` holds, for each
    of R questions, the items that may answer it. Returns ``(B, R)`` probabilities and ``(B, R)``
    flags that say whether each was computed exactly (else by seeded sampling).
    """
    listed = [list(row) for row in rows]
    satisfied = incidence.satisfied(memory)
    withdrawn = incidence.conflicts.any(memory)
    truth = incidence.truth
    possible = [
        frozenset(support.tolist()) if (truth[support] > 0).all() else None
        for support in (incidence.supports[p] for p in range(len(incidence.supports)))
    ]

    @cache
    def union(supports: frozenset[Support]) -> tuple[float, bool]:
        return union_probability(supports, truth)

    values = np.zeros((len(memory), len(listed)))
    exact = np.ones(values.shape, dtype=bool)
    for b in range(len(memory)):
        for r, items in enumerate(listed):
            supports = frozenset(
                certain_part
                for n in items
                if not withdrawn[b, n]
                for p in incidence.item_supports[n]
                if satisfied[b, p] and (certain_part := possible[p]) is not None
            )
            values[b, r], exact[b, r] = union(supports)
    return values, exact


def union_probability(supports: Iterable[Support], truth: FloatArray) -> tuple[float, bool]:
    """Probability that all claims of at least one support are true, and whether it is exact."""
    reduced = {frozenset(e for e in s if truth[e] < 1.0) for s in supports}
    if frozenset() in reduced:
        return 1.0, True
    minimal = [s for s in reduced if not any(other < s for other in reduced)]
    none_true, exact = 1.0, True
    for component in _components(sorted(minimal, key=sorted)):
        if len(component) <= MAX_TERMS:
            none_true *= 1.0 - _inclusion_exclusion(component, truth)
        else:
            none_true *= 1.0 - _sampled(component, truth)
            exact = False
    return 1.0 - none_true, exact


def _components(supports: list[Support]) -> list[list[Support]]:
    """Group supports that share claims, directly or through others."""
    groups: list[tuple[set[int], list[Support]]] = []
    for support in supports:
        touching = [group for group in groups if group[0] & support]
        groups = [group for group in groups if not group[0] & support]
        claims = set(support).union(*(group[0] for group in touching))
        members = [member for group in touching for member in group[1]]
        groups.append((claims, [*members, support]))
    return [members for _, members in groups]


def _inclusion_exclusion(supports: list[Support], truth: FloatArray) -> float:
    total = 0.0
    for size in range(1, len(supports) + 1):
        sign = 1.0 if size % 2 else -1.0
        for chosen in combinations(supports, size):
            total += sign * float(np.prod(truth[sorted(frozenset().union(*chosen))]))
    return total


def _sampled(supports: list[Support], truth: FloatArray) -> float:
    claims = sorted(frozenset().union(*supports))
    place = {claim: i for i, claim in enumerate(claims)}
    draws = np.random.default_rng(SEED).random((SAMPLES, len(claims))) < truth[claims]
    true = np.zeros(SAMPLES, dtype=bool)
    for support in supports:
        true |= draws[:, [place[claim] for claim in support]].all(axis=1)
    return float(true.mean())
