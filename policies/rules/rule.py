"""Hand-written write rules: a score for a claim, the lowest stored score makes way."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.policies.base import Observation, Policy, State


class Rule(Policy):
    """Fill the free slots, then let a claim replace the lowest-scored stored one it outscores.

    In a pool the claims are considered in the order of their scores, each once.
    """

    @abstractmethod
    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Worth of keeping the claims in ``rows``: ``(B, n, width)`` to ``(B, n)``."""

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Write, replace or pass by the scores."""
        claim = self.score(observation["claim"][:, None], observation)[:, 0]
        if self.rules.action == "priority":
            return as_priority(claim), state
        slots = self.score(observation["memory"], observation)
        legal = masks[:, 1 : 1 + self.actions.slots]
        free = legal & (observation["memory"][..., self.layout.index("valid")] == 0)
        weakest = np.where(legal, slots, np.inf).argmin(axis=1)
        place = np.where(free.any(axis=1), free.argmax(axis=1), weakest)
        rows = np.arange(len(claim))
        better = free.any(axis=1) | (legal.any(axis=1) & (claim > slots[rows, place]))
        actions = np.where(better, 1 + place, self.actions.PASS)
        if self.layout.pool:
            choosing = observation["context"][:, self.layout.index("choosing", "context")] == 1
            order = self.score(observation["claims"], observation)
            actions = np.where(choosing, self.next_claim(observation, masks, order), actions)
        return actions, state

    def next_claim(
        self, observation: Observation, masks: NDArray[np.bool_], order: NDArray[Any]
    ) -> NDArray[np.int64]:
        """Pick the claim of highest ``order`` that was not considered yet; stop after the last."""
        considered = observation["claims"][..., self.layout.index("considered")] == 1
        legal = masks[:, self.actions.first_consider :] & ~considered
        best = np.where(legal, order, -np.inf).argmax(axis=1)
        picked = np.where(legal.any(axis=1), self.actions.first_consider + best, self.actions.PASS)
        return np.asarray(picked)


def as_priority(score: NDArray[Any]) -> NDArray[np.float32]:
    """Map scores to priorities in [-1, 1], keeping their order: ``(B,)`` to ``(B, 1)``."""
    return np.asarray(np.arctan(score) * (2 / np.pi), dtype=np.float32)[:, None]
