"""What is measured of an episode, and computed of its row of scores, for every figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memenvs.envs.family import MEMORIZATION, Family

# What is measured of an episode of a memorization environment.
MEASURED = (
    "size",  # stored claims
    "cost",  # their summed cost
    "coverage",
    "precision",
    "water_inflation",
    "span",  # share of the items that can be true
    "utility",  # of the environment's objective, in expectation
    "query",  # number of the only one that was asked, at level 0; NaN elsewhere
    "settled",  # summed over the episode
    "expected",  # the same in expectation: what the memories at each settlement were worth
    "settlements",  # queries settled
    "illegal",  # actions that broke the mask
    "answered",  # query mass answered from the memory; NaN where not measured
)
FOREIGN = ("return", "length", "illegal")  # of an environment that is not of this package
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
    "full_context",
    "efficiency_loss",
    "share",
    "span_gap",
    "compression_cost",
    "regret",
    "order_regret",
    "avoidable_regret",
    "answered",
    "illegal",
)
HIDDEN = ("load", "illegal")  # of them those that tables do not show as means


def query_of(values: Mapping[str, float]) -> int | None:
    """Give the only query that was asked in an episode, of what it ended with; None elsewhere."""
    return None if math.isnan(values["query"]) else int(values["query"])


def measured(family: Family | None) -> tuple[str, ...]:
    """Name what is measured of an episode of a family."""
    if family is None:
        return FOREIGN
    return MEASURED if family is MEMORIZATION else (*family.finals, "illegal")


def measures_of(family: Family | None) -> tuple[str, ...]:
    """Name what is computed of a row of a family, what breaks masks last."""
    if family is None:
        return FOREIGN
    return MEASURES if family is MEMORIZATION else (*family.finals, "illegal")


def score_of(family: Family | None) -> str:
    """Name the measure by which policies are compared: the primary column of every table."""
    if family is None:
        return "return"
    return family.score


def measure(row: Mapping[str, Any], family: Family | None) -> dict[str, float]:
    """Give the measures of a row of scores; NaN where undefined, all of them where it failed.

    All are by the objective of the environment, whose expected value in the final memory is
    ``utility``. ``efficiency_loss`` = U*(|M|) - u(M); ``share`` = u(M) / U*(S);
    ``compression_cost`` = U*(|D|) - U*(S), where U*(|D|) is the full context's value unless more
    memory can hurt; ``span_gap`` is the share of what true claims can yield that the memory lacks.
    ``regret`` = T_D U*(S) - settled total. Its parts are in expectation: ``order_regret`` is what
    the order of arrival costs anyone, T_D U*(S) less the most that anyone is paid, and
    ``avoidable_regret`` what this policy lost beyond it.
    """
    names = measures_of(family)
    if row["status"] != "ok":
        return dict.fromkeys(names, math.nan)
    if family is not MEMORIZATION:
        return {name: float(row[name]) for name in names}
    best = row["frontier_at_capacity"]
    computed = {
        "efficiency_loss": row["frontier"] - row["utility"],
        "share": row["utility"] / best if best > 0 else math.nan,
        "span_gap": 1.0 - row["span"],
        "compression_cost": max(row["saturated"] - best, 0.0),
        "regret": row["settlements"] * best - row["settled"],
        "order_regret": row["settlements"] * best - row["arrival"],
        "avoidable_regret": row["arrival"] - row["expected"],
    }
    return {name: float(computed[name] if name in computed else row[name]) for name in names}
