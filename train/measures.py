"""What is measured of an episode's final memory, against the best possible."""

from __future__ import annotations

import math

from memenvs.train.optima import Reference, load
from memenvs.train.play import EpisodeResult

MEASURES = (
    "load",
    "size",
    "cost",
    "coverage",
    "precision",
    "water_inflation",
    "utility",
    "settled",
    "frontier",
    "frontier_at_capacity",
    "efficiency_loss",
    "share",
    "span_gap",
    "compression_cost",
    "regret",
    "answered",
    "illegal",
)


def measure(result: EpisodeResult, best: Reference, budget: float | None) -> dict[str, float]:
    """Give the ``MEASURES`` of an episode; NaN where undefined.

    ``efficiency_loss`` = U*(|M|) - u(M), ``compression_cost`` = u(D) - U*(S), ``regret`` =
    T_D U*(S) - settled total, both of the utility that was paid, the others in expected precision;
    ``share`` = u(M) / U*(S); ``span_gap`` is a share of the material's items.
    """
    taken = load(result, budget)
    frontier, at_capacity = best.bounds[taken], best.at_capacity
    return {
        "load": taken,
        "size": result.size,
        "cost": result.cost,
        "coverage": result.coverage,
        "precision": result.precision,
        "water_inflation": result.water_inflation,
        "utility": result.utility,
        "settled": result.settled,
        "frontier": frontier,
        "frontier_at_capacity": at_capacity,
        "efficiency_loss": frontier - result.precision,
        "share": result.precision / at_capacity if at_capacity > 0 else math.nan,
        "span_gap": 1.0 - result.span,
        "compression_cost": best.full - at_capacity,
        "regret": result.settlements * best.paid - result.settled,
        "answered": result.answered,
        "illegal": float(result.illegal),
    }
