"""Random materials for tests and benchmarks."""

from __future__ import annotations

import numpy as np

from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query


def random_material(
    rng: np.random.Generator,
    n_claims: int,
    n_queries: int,
    *,
    composite: float = 0.0,
    false_share: float = 0.0,
    conflicts: float = 0.0,
    costs: int = 1,
    fractional_truth: bool = False,
    equal_weights: bool = False,
) -> Material:
    """Draw a material whose queries are each answered in 1 to 3 ways.

    ``composite`` is the share of the ways that need 2 or 3 claims, ``false_share`` that of false
    claims, ``conflicts`` that of items which one claim withdraws; costs are integers from 1 to
    ``costs``. Some claims are more often useful than others, as in conversations.
    """
    popularity = rng.pareto(2.0, n_claims) + 0.2
    popularity /= popularity.sum()
    truth = rng.random(n_claims) if fractional_truth else np.ones(n_claims)
    truth = np.where(rng.random(n_claims) < 0.3, np.rint(truth), truth)
    truth = np.where(rng.random(n_claims) < false_share, 0.0, truth)
    claims = [
        Claim(id=f"c{e}", truth=float(truth[e]), cost=int(rng.integers(1, costs + 1)))
        for e in range(n_claims)
    ]
    items = []
    for query in range(n_queries):
        for way in range(int(rng.integers(1, 4))):
            size = int(rng.integers(2, 4)) if rng.random() < composite else 1
            size = min(size, n_claims)
            support = rng.choice(n_claims, size, replace=False, p=popularity)
            withdrawn = rng.random() < conflicts
            items.append(
                Item(
                    id=f"n{query}.{way}",
                    supports=(tuple(f"c{e}" for e in support),),
                    answers=(f"q{query}",),
                    conflicts=(f"c{rng.integers(n_claims)}",) if withdrawn else (),
                )
            )
    weights = np.ones(n_queries) if equal_weights else rng.exponential(size=n_queries)
    queries = [Query(id=f"q{q}", weight=float(weights[q])) for q in range(n_queries)]
    return Material("random", tuple(claims), tuple(items), tuple(queries))
