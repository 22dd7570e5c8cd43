"""What is computed of one row of scores; every table and figure goes through it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memenvs.envs.family import MEMORIZATION, Family
from memenvs.train.play import FOREIGN

# Of a memorization environment.
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
HIDDEN = ("load", "illegal")  # of them those that tables do not show as means


def measures_of(family: Family | None) -> tuple[str, ...]:
    """Name what is computed of a row of a family, what breaks masks last."""
    if family is None:
        return FOREIGN
    return MEASURES if family is MEMORIZATION else (*family.finals, "illegal")


def score_of(family: Family | None) -> str:
    """Name the measure by which policies are compared: the primary column of every table."""
    if family is None:
        return "return"
    return "precision" if family is MEMORIZATION else family.score


def measure(row: Mapping[str, Any], family: Family | None) -> dict[str, float]:
    """Give the measures of a row of scores; NaN where undefined, all of them where it failed.

    ``efficiency_loss`` = U*(|M|) - u(M), ``compression_cost`` = u(D) - U*(S), ``regret`` =
    T_D U*(S) - settled total, both of the utility that was paid, the others in expected precision;
    ``share`` = u(M) / U*(S); ``span_gap`` is a share of the material's items.
    """
    names = measures_of(family)
    if row["status"] != "ok":
        return dict.fromkeys(names, math.nan)
    if family is not MEMORIZATION:
        return {name: float(row[name]) for name in names}
    best = row["frontier_at_capacity"]
    computed = {
        "efficiency_loss": row["frontier"] - row["precision"],
        "share": row["precision"] / best if best > 0 else math.nan,
        "span_gap": 1.0 - row["span"],
        "compression_cost": row["full_context"] - best,
        "regret": row["settlements"] * row["paid_at_capacity"] - row["settled"],
    }
    return {name: float(computed[name] if name in computed else row[name]) for name in names}
