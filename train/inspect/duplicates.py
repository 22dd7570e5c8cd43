"""Texts that say the same: equal but for case and punctuation, or by most of their words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memenvs.text.encoders import words

NEAR = 0.8  # shared words of two texts over all of theirs (Jaccard)
SHORT = 4  # different words; of fewer, one is too much to differ in
VISITS = 3_000_000  # of pairs of texts that share a rare word: some seconds


@dataclass(frozen=True)
class Duplicates:
    """Places of texts that say the same."""

    equal: tuple[tuple[int, ...], ...]  # groups, by their first place
    near: tuple[tuple[int, int], ...]  # pairs of the first places of groups, ascending
    complete: bool  # False where the search for near ones was cut short


def find_duplicates(texts: Sequence[str]) -> Duplicates:
    """Find equal and near-equal texts; texts that differ in a number are neither."""
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        bag = tuple(words(text))
        if bag:
            groups[bag].append(place)
    near, complete = _near_pairs({places[0]: frozenset(bag) for bag, places in groups.items()})
    equal = tuple(tuple(places) for places in groups.values() if len(places) > 1)
    return Duplicates(equal, tuple(sorted(near)), complete)


def _near_pairs(bags: Mapping[int, frozenset[str]]) -> tuple[list[tuple[int, int]], bool]:
    """Give all pairs with at least ``NEAR`` of their words in common, and whether that is all.

    Two such texts share one of the rarest words of each (prefix filtering), so that only texts
    found by a rare word are compared.
    """
    known = {place: bag for place, bag in bags.items() if len(bag) >= SHORT}
    counts = Counter(word for bag in known.values() for word in bag)
    index: dict[str, list[int]] = defaultdict(list)
    visits = 0
    found: list[tuple[int, int]] = []
    for place in sorted(known, key=lambda p: (len(known[p]), p)):  # shorter ones first
        bag = known[place]
        rarest = sorted(bag, key=lambda word: (counts[word], word))
        seen: set[int] = set()
        for word in rarest[: len(bag) - math.ceil(NEAR * len(bag)) + 1]:
            visits += len(index[word])
            if visits > VISITS:
                return found, False
            for other in index[word]:
                if other not in seen and _is_near(bag, known[other]):
                    found.append((min(place, other), max(place, other)))
                seen.add(other)
            index[word].append(place)
    return found, True


def _is_near(bag: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(bag & other)
    if shared < NEAR * (len(bag) + len(other) - shared):
        return False
    return not any(letter.isdigit() for word in bag ^ other for letter in word)
