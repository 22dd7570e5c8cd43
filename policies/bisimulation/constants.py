"""The constants of the bisimulation memory: one setting serves every task and rule."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite

MOST_ROUNDS = 1000  # each is a partition of its own


@dataclass(frozen=True)
class Constants:
    """Numbers of the paper (section 3), but for the two thresholds of the other rules.

    Raises ``ValueError`` for a discount outside [0, 1), impossible rounds and what is not finite.
    """

    detour: float = 0.35  # ε: share of decisions that leave the policy's first choice, early on
    threshold: float = 0.30  # τ_b: states at most this far apart are one
    discount: float = 0.8  # γ
    rounds: int = 6  # K: refinements of the partition
    rank_penalty: float = 0.015  # λ: what each place down the shortlist costs
    prior: float = 2.0  # κ: transitions that speak for nothing
    dense: float = 0.10  # η: weight of progress
    overlap: float = 0.5  # Jaccard similarity from which two pages look alike
    occupancy: float = 0.15  # half the L1 distance up to which two occupancies agree

    def __post_init__(self) -> None:
        """Check what would never end."""
        if not 0 <= self.discount < 1:
            raise ValueError(f"discount={self.discount!r} is not in [0, 1)")
        if not 0 <= self.rounds <= MOST_ROUNDS or int(self.rounds) != self.rounds:
            raise ValueError(f"rounds={self.rounds!r} is no whole number from 0 to {MOST_ROUNDS}")
        for field in fields(self):
            if not isfinite(getattr(self, field.name)):
                raise ValueError(f"{field.name}={getattr(self, field.name)!r} is not finite")


PAPER = Constants()
