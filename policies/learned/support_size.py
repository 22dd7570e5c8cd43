"""How many claims an answer needs, as far as settlements tell: from credits and answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import FloatArray
from memenvs.policies.base import Observation

WIDTH = 5  # numbers an episode, before those of the slots
FAILURES = 3.0  # settled in a row from the beginning that count as a second claim
CREDITED, ANSWERED, NOW, SHARE, SCALE = range(WIDTH)


@dataclass(frozen=True)
class SupportSize:
    """What is known of the claims behind an answer, in each of B episodes.

    ``numbers`` ``(B, 5 + S)`` are: claims credited, queries answered, answers as last shown, the
    settled share as last shown, what that is a share of, and the credits of each slot's claim.
    """

    numbers: FloatArray

    @classmethod
    def begun(cls, episodes: int, slots: int, scheduled: int) -> SupportSize:
        """Know nothing; ``scheduled`` queries are settled in an episode."""
        numbers = np.zeros((episodes, WIDTH + slots))
        numbers[:, SCALE] = scheduled
        return cls(numbers)

    def seen(self, observation: Observation, layout: Layout) -> SupportSize:
        """Count the credits and answers that came since the last decision.

        A stream that proves longer than expected is expected to be twice as long, which halves the
        shares that are shown.
        """
        numbers = self.numbers.copy()
        share, right = (
            observation["context"][:, layout.index(name, "context")].astype(np.float64)
            for name in ("settled", "answered")
        )
        longer = share < numbers[:, SHARE]
        numbers[longer, SCALE] *= 2
        credits = observation["memory"][..., layout.index("credits")].astype(np.float64)
        answers = share * right * numbers[:, SCALE]
        numbers[:, CREDITED] += np.maximum(credits - numbers[:, WIDTH:], 0.0).sum(axis=1)
        numbers[:, ANSWERED] += np.maximum(answers - numbers[:, NOW], 0.0)
        numbers[:, NOW], numbers[:, SHARE], numbers[:, WIDTH:] = answers, share, credits
        return SupportSize(numbers)

    def written(self, actions: NDArray[np.int64]) -> SupportSize:
        """Know that actions 1, 2, ... put a claim without credits into slots 0, 1, ..."""
        slots = self.numbers.shape[1] - WIDTH
        rows = np.flatnonzero((actions > 0) & (actions <= slots))
        numbers = self.numbers.copy()
        numbers[rows, WIDTH - 1 + actions[rows]] = 0.0
        return SupportSize(numbers)

    @property
    def mean(self) -> FloatArray:
        """Claims behind an answer ``(B,)``: one answer by one claim is taken for granted.

        Until the first answer, failures speak for more than one.
        """
        numbers = self.numbers
        settled = numbers[:, SHARE] * numbers[:, SCALE]
        failed = np.where(numbers[:, ANSWERED] > 0, 0.0, settled / FAILURES)
        return np.asarray((1.0 + numbers[:, CREDITED] + failed) / (1.0 + numbers[:, ANSWERED]))
