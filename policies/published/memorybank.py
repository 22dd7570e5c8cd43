"""MemoryBank (Zhong et al., 2024): forgetting along Ebbinghaus' curve."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from memenvs.policies.base import State
from memenvs.policies.published.books import View
from memenvs.policies.published.parameters import constant
from memenvs.policies.published.store import Today, Verdict

HOURS_A_DAY = 24


class MemoryBank(Today):
    """Retention falls with the days since the last recall; the lowest retention goes.

    Faithful: retention exp(−t / (5 S)) with S = 1 at first and S + 1 on each recall, t in days
    since the last recall. ``as-coded``: exp(−t · S / 5), as the code's ``exp(-t / 5*S)`` reads, so
    that the stronger memory fades faster. Stand-ins: the code forgets by a coin of that
    probability, capacity or not; here the least retained goes when a slot is needed. Summaries and
    the user's portrait are not written.
    """

    name: ClassVar[str] = "memorybank"
    variants: ClassVar[tuple[str, ...]] = ("paper", "as-coded")

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Compare retentions by their exponents, which do not underflow."""
        days = view.hours / HOURS_A_DAY
        strength = constant(self.name, "strength") * (1.0 + view.books.recalls)
        scale = constant(self.name, "scale")
        fading = (
            days * strength / scale if self.variant == "as-coded" else days / (scale * strength)
        )
        return Verdict(view.reading, np.zeros_like(view.stored), -fading), own
