"""The estimator's pointer for one of several writers: it heeds whose claims would make way."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Actions
from memenvs.policies.learned.networks.encoder import Encoded
from memenvs.policies.learned.networks.estimator_pointer import (
    EstimatorPointer,
    EstimatorPointerPolicy,
)
from memenvs.policies.learned.networks.features import perceptron
from memenvs.policies.learned.networks.pointer import SMALL, Observed, beside

FIRST = 1.0  # logit that a claim of another writer's is spared by at first


class SharedPointer(EstimatorPointer):
    """An ``EstimatorPointer`` that spares what others wrote, as far as it learns to.

    Writers of one model who see one memory would all replace the same claim, and all but one would
    come too late. ``others`` ``(B, S)`` says which slots hold claims of other writers' streams;
    where an observation has none, there are none.
    """

    def __init__(
        self, layout: Layout, actions: Actions, sets: str, hidden: int, dropout: float
    ) -> None:
        super().__init__(layout, actions, sets, hidden, dropout)
        self.spare = perceptron(hidden + self.actor.summary, hidden, out=1, last=SMALL)
        torch.nn.init.constant_(self.spare[-1].bias, FIRST)  # type: ignore[arg-type]

    def scores(self, encoded: Encoded, observation: Observed) -> Tensor:
        """Score every action, writes and clears of what others wrote less: ``(B, n)``."""
        scores = super().scores(encoded, observation)
        if "others" not in observation:
            return scores
        spared = observation["others"] * self.spare(beside(encoded.slots, encoded.summary))[..., 0]
        slots = (scores.shape[1] - 1) // spared.shape[1]  # writes, and clears where there are any
        return scores - torch.cat([torch.zeros_like(scores[:, :1]), *[spared] * slots], dim=1)


class SharedPointerPolicy(EstimatorPointerPolicy):
    """SB3's policy around a ``SharedPointer``; it may begin with a writer that was alone."""

    begins_with: ClassVar[tuple[str, ...]] = ("estimator-pointer",)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor: Any = SharedPointer(**self._options)
