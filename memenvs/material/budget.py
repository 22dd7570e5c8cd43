"""When a summed cost keeps within a budget."""

from __future__ import annotations

from typing import TypeVar

from memenvs.material.incidence import FloatArray

SLACK = 1e-9  # relative: .1 + .2 keeps within .3, and nothing else slips in

Budget = TypeVar("Budget", float, FloatArray)


def allowance(budget: Budget) -> Budget:
    """Largest summed cost that counts as within the budget, or within each of ``(...)``."""
    return budget * (1.0 + SLACK)
