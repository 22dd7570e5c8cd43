"""Which claims answer which queries: the least that each needs, and what cannot be answered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material


@dataclass(frozen=True)
class Structure:
    """Supports of a material from the side of its claims and queries."""

    asked: BoolArray  # (E,) the claim stands in a support of an item that answers something
    needed: IntArray  # (Q,) claims of the smallest support that answers; 0 if none does
    true: BoolArray  # (Q,) some support that answers may be wholly true
    items: tuple[frozenset[int], ...]  # (E,) items that the claim supports
    enough: int  # so many claims can reach all that true claims reach

    def mass(self, queries: BoolArray, probability: FloatArray) -> float:
        """Share of the query mass."""
        return float(probability[queries].sum())


def find_structure(material: Material) -> Structure:
    """Go through all supports once."""
    incidence = material.incidence
    truth = incidence.truth > 0
    asked = np.zeros(len(material.claims), dtype=bool)
    items: list[set[int]] = [set() for _ in material.claims]
    needed = np.zeros(len(material.queries), dtype=np.int64)
    true = np.zeros(len(material.queries), dtype=bool)
    taken: set[int] = set()  # one smallest true support for each query
    for query in range(len(material.queries)):
        supports = []
        for item in incidence.query_items[query].tolist():
            for support in incidence.item_supports[item].tolist():
                claims = incidence.supports[support].tolist()
                supports.append(claims)
                asked[claims] = True
                for claim in claims:
                    items[claim].add(item)
        holding = [claims for claims in supports if truth[claims].all()]
        needed[query] = min(map(len, supports), default=0)
        true[query] = bool(holding)
        taken.update(sorted(holding, key=len)[0] if holding else [])
    if not material.is_monotone or not incidence.certain:
        taken = set(range(len(material.claims)))  # more claims may withdraw, or make more likely
    return Structure(asked, needed, true, tuple(map(frozenset, items)), len(taken))
