"""The parameters of the memorization process, checked, and the numbering of its actions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeVar

from memenvs.material.budget import allowance
from memenvs.material.incidence import IntArray
from memenvs.reading.answers import ALL, reader_of
from memenvs.reading.answers import Utility as Utility

HISTORY = 16  # settled queries in view where queries are disclosed by settlement
MAX_SLOTS = 10_000  # each slot has a row in the observation, and a similarity to each other
MAX_POOL = 128  # claims in view at once: masked distributions over thousands are known to break

Access = Literal["stream", "pool"]
Action = Literal["slots", "priority"]
Disclosure = Literal["one", "all", "settled"]
Settlement = Literal["sampled", "expected"]
Feedback = Literal["claims", "outcome", "none"]

Count = TypeVar("Count", int, IntArray)

CHOICES: dict[str, tuple[str, ...]] = {
    "access": ("stream", "pool"),
    "action": ("slots", "priority"),
    "disclosure": ("one", "all", "settled"),
    "utility": ("coverage", "precision", "end-to-end"),
    "settlement": ("sampled", "expected"),
    "feedback": ("claims", "outcome", "none"),
}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How claims are read, written and settled; ``MemorizationEnv`` says what each means.

    Raises ``ValueError`` that names the parameter and what it may be.
    """

    capacity: int
    access: Access = "stream"
    action: Action = "slots"
    disclosure: Disclosure = "settled"
    utility: Utility = "precision"
    reader: str = ALL
    settlement: Settlement = "sampled"
    feedback: Feedback = "claims"
    every: int | None = None
    queries: int = 1
    closing: int = 15
    decisions: int | None = None
    clearing: bool = False
    budget: float | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        """Check every parameter, and that they go together."""
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is unknown; choose from {', '.join(allowed)}"
                )
        try:
            reader_of(self.reader)
        except (ValueError, AttributeError) as error:
            raise ValueError(f"reader={self.reader!r}: {error}") from None
        for name in ("capacity", "every", "queries", "closing", "decisions"):
            number = getattr(self, name)
            if number is None and name in ("every", "decisions"):
                continue
            if isinstance(number, bool) or not isinstance(number, Integral) or number < 1:
                raise ValueError(f"{name}={number!r} is not a positive integer")
            object.__setattr__(self, name, int(number))  # Gymnasium's spaces refuse numpy's
        if self.capacity > MAX_SLOTS:
            raise ValueError(f"capacity={self.capacity} is more than {MAX_SLOTS:,} slots")
        if self.budget is not None and not (self.budget > 0 and math.isfinite(self.budget)):
            raise ValueError(f"budget={self.budget!r} is not a positive number")
        if self.access == "pool" and self.action == "priority":
            raise ValueError("action='priority' needs access='stream': a pool is picked from")
        if self.access == "stream" and self.decisions is not None:
            raise ValueError("decisions belong to access='pool': a stream has one for each claim")

    @property
    def allowance(self) -> float:
        """Largest summed cost of what is stored: infinite without a budget."""
        return math.inf if self.budget is None else allowance(self.budget)

    @property
    def clears(self) -> bool:
        """Whether slots can be cleared: where asked for, and under a budget."""
        return self.clearing or self.budget is not None

    def length(self, claims: Count) -> Count:
        """Decisions of an episode with so many claims, or of several ``(n,)``.

        A stream has one for each claim, a pool what it was given, else two for each.
        """
        if self.access == "stream":
            return claims
        return 2 * claims if self.decisions is None else 0 * claims + self.decisions

    def due(self, decision: int, decisions: int) -> int:
        """Queries to settle once ``decision`` of ``decisions`` have been taken."""
        if decision >= decisions:
            return self.closing
        return self.queries if self.every and decision % self.every == 0 else 0

    def until_next(self, decision: int, decisions: int) -> int:
        """Decisions until the next settlement."""
        left = decisions - decision
        return min(left, self.every - decision % self.every) if self.every else left

    def total(self, decisions: Count) -> Count:
        """Queries settled in an episode of ``decisions`` decisions, or in several ``(n,)``."""
        between = (decisions - 1) // (self.every or decisions)
        return between * self.queries + self.closing


@dataclass(frozen=True)
class Actions:
    """Numbers of the discrete actions: pass or stop, writes, clears, considers."""

    slots: int
    clears: bool
    pool: int  # claims that can be considered; 0 under stream access

    PASS = 0  # in a pool, while a claim is to be picked: stop

    @property
    def n(self) -> int:
        """Number of actions."""
        return self.first_consider + self.pool

    @property
    def first_write(self) -> int:
        """Action that writes into slot 0."""
        return 1

    @property
    def first_clear(self) -> int:
        """Action that clears slot 0."""
        return 1 + self.slots

    @property
    def first_consider(self) -> int:
        """Action that picks claim 0."""
        return 1 + self.slots * (2 if self.clears else 1)

    def name(self, action: int) -> str:
        """Describe an action in words."""
        if not 0 <= action < self.n:
            return f"action {action} (there are {self.n})"
        if action == self.PASS:
            return "action 0 (pass or stop)"
        for verb, first in (
            ("consider claim", self.first_consider),
            ("clear slot", self.first_clear),
            ("write into slot", self.first_write),
        ):
            if action >= first:
                return f"action {action} ({verb} {action - first})"
        raise AssertionError(action)
