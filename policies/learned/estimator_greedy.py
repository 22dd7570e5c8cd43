"""Acts greedily on a settlement estimator: learned truth, answer rate and overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from memenvs.material.incidence import IntArray
from memenvs.policies.base import Observation, Policy, State
from memenvs.policies.learned.networks.estimator import (
    Judged,
    SettlementEstimator,
    replacement_gains,
)
from memenvs.policies.learned.networks.history import History, Read
from memenvs.policies.rules.rule import as_priority

FREE = 1.0  # more than any claim is worth


class EstimatorGreedy(Policy):
    """Make the replacement that most raises the estimated value of the memory, or pass.

    The value is Σ v p Π (1 − p_j o) over the stored claims: p is the probability of being true, v
    that of answering the next query, o the overlap with claims that are worth more. The state is
    what was read in the episode. Several estimators are averaged.
    """

    def __init__(
        self, env: Any, seed: int = 0, estimators: Sequence[SettlementEstimator] = ()
    ) -> None:
        super().__init__(env, seed)
        self._history = History(self.layout, self.rules.capacity)
        self.use(estimators)

    def use(self, estimators: Sequence[SettlementEstimator]) -> None:
        """Act on these from now on."""
        self._estimators = list(estimators)
        for each in self._estimators:
            each.eval()

    def start(self, episodes: IntArray) -> State:
        """Begin without having read anything."""
        return tuple(self._history.start(len(episodes)))

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Enter what is shown, and decide."""
        read = self._history.enter(Read(*state), observation)
        return self.decide({**observation, "history": read.claims}, masks), tuple(read)

    def decide(self, observation: Observation, masks: NDArray[np.bool_]) -> NDArray[Any]:
        """Fill the free slots, then replace where that gains most; priorities are p·v.

        The observations have their ``history``.
        """
        judged = self.judge(observation)
        if self.rules.action == "priority":
            return as_priority(judged.worth()[:, -1].numpy())
        free = observation["memory"][..., self.layout.index("valid")] == 0
        gains = np.where(free, FREE, self.gains(judged, observation))
        legal = masks[:, 1 : 1 + self.actions.slots]
        gains = np.where(legal, gains, -np.inf)
        best = gains.argmax(axis=1)
        write = gains[np.arange(len(best)), best] > 0
        return np.where(write, 1 + best, self.actions.PASS)

    def judge(self, observation: Observation) -> Judged:
        """Judge the candidates of observations with their ``history``; several give their mean."""
        device = self._estimators[0].device
        tensors = {name: torch.as_tensor(a, device=device) for name, a in observation.items()}
        with torch.no_grad():
            found = [estimator(tensors) for estimator in self._estimators]
        return Judged(*(torch.stack(part).mean(dim=0).cpu() for part in zip(*found, strict=True)))

    def gains(self, judged: Judged, observation: Observation) -> NDArray[Any]:
        """Gain of writing over each slot: ``(B, S)``."""
        return np.asarray(replacement_gains(judged).numpy())
