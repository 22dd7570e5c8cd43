"""The numbers of the weighted tree: the paper's, and those that it leaves open, chosen here."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Scores in [0, 1], decay in (0, 1], a streak from 1, coefficients from 0, a finite threshold.

    The outcome scores, α, β, γ and δ are the paper's (A.2). The rest is OUR CHOICE: a task starts
    at .5, so that a branch whose actions all failed has .41 and not .07; an action without an
    outcome is taken at its word, as a success; what a fold or a promotion keeps lies between. ρ, M
    and the weight were chosen on validation tasks. The paper's threshold is .10, by which every
    branch is suppressed that is passed over for long; at −.15 more than three quarters of it must
    have failed or be obsolete, too. In the paper one official source supersedes; here two must
    agree, since one can be spoofed. ``PAPER`` is the reading without these three.
    Raises ``ValueError`` that names the field.
    """

    success: float = 0.75  # u of an action that succeeded
    failure: float = 0.30  # u of an action that failed
    root: float = 0.5  # initial scores, by type
    task: float = 0.5
    action: float = 0.75
    summary: float = 0.6
    global_: float = 0.6
    decay: float = 0.9  # ρ
    global_decay: float = 0.95  # ρ_G
    streak: int = 3  # M
    alpha: float = 0.60  # of the highest score of a branch
    beta: float = 0.30  # of the mean score
    gamma: float = 0.20  # of the share of failed actions
    delta: float = 0.20  # of the share of obsolete nodes
    threshold: float = -0.15  # τ_obs
    priority: float = 1.0  # exponent of the branch priority in the selection value; 0: without it
    corroboration: int = 2  # official sources that must agree to supersede other values
    weight: float = 0.2  # w: share of the selection value that retention and priority decide

    def __post_init__(self) -> None:
        """Refuse what is no score, no rate or no streak."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in SCORES and not 0 <= value <= 1:
                raise ValueError(f"{field.name}={value!r} is no score; give one in [0, 1]")
            if field.name == "weight" and not 0 <= value <= 1:
                raise ValueError(f"weight={value!r} is no share; give one in [0, 1]")
            if field.name in ("decay", "global_decay") and not 0 < value <= 1:
                raise ValueError(f"{field.name}={value!r} is no rate of decay; give one in (0, 1]")
        for name in ("streak", "corroboration"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name}={value!r} is no count; give an integer from 1")
        for name in ("alpha", "beta", "gamma", "delta", "priority"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name}={getattr(self, name)!r} is no coefficient; give one >= 0")
        if not isfinite(self.threshold):
            raise ValueError(f"threshold={self.threshold!r} is no threshold; give a finite number")


SCORES = ("success", "failure", "root", "task", "action", "summary", "global_")
# Memories are worth the product of relevance, retention and priority; the threshold is the paper's;
# one official source supersedes.
PAPER = Constants(weight=1.0, threshold=0.10, corroboration=1)
