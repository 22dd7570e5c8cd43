"""The pointer on the settlement estimator: learned decisions on learned truth."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Actions
from memenvs.policies.learned.networks.encoder import Encoded, Encoder
from memenvs.policies.learned.networks.estimator import (
    Judged,
    SettlementEstimator,
    removal_losses,
    replacement_gains,
)
from memenvs.policies.learned.networks.pointer import Observed, Pointer, PointerPolicy

JUDGED = 6  # numbers that the estimator gives for a candidate
STEEP = 200.0  # first weight of a gain among the logits; gains are shares of p_D
SCALE = 10.0  # of shares of p_D among the features


class Judging(BaseFeaturesExtractor):
    """Adds to an observation what the estimator makes of it; that learns from settlements alone."""

    def __init__(self, observation_space: spaces.Space[Any], layout: Layout) -> None:
        super().__init__(observation_space, features_dim=1)
        self.estimator = SettlementEstimator(layout)

    def forward(self, observations: Observed) -> Observed:
        """Add ``judged`` ``(B, S + 1, JUDGED)`` and ``gains`` ``(B, S)``."""
        with torch.no_grad():
            found: Judged = self.estimator(observations)
            judged, gains = described(found), replacement_gains(found)
        return {**observations, "judged": judged, "gains": gains}


class EstimatorPointer(Pointer):
    """A pointer that sees p, v and what each replacement gains, and starts from that gain."""

    def __init__(
        self, layout: Layout, actions: Actions, sets: str, hidden: int, dropout: float
    ) -> None:
        super().__init__(layout, actions, sets, hidden, dropout)
        self.steepness = nn.Parameter(torch.tensor(STEEP).log())

    def encoder(self, layout: Layout, sets: str, hidden: int, dropout: float) -> Encoder:
        """Build an encoder that also takes what the estimator says."""
        return Encoder(layout, sets, hidden, dropout, judged=JUDGED)

    def encode(self, encoder: Encoder, observation: Observed) -> Encoded:
        """Encode an observation and what the estimator makes of it."""
        encoded: Encoded = encoder(observation, observation["judged"])
        return encoded

    def logits(self, observation: Observed) -> Tensor:
        """Score every action: its estimated gain, and what the pointer adds: ``(B, n)``."""
        scores, gains = super().logits(observation), observation["gains"]
        first, last = gains.shape[1] + 1, scores.shape[1]
        steep = F.pad(self.steepness.exp() * gains, (1, last - first))  # a pass gains nothing
        return scores + steep


class EstimatorPointerPolicy(PointerPolicy):
    """SB3's policy around an ``EstimatorPointer``; ``algorithm`` trains both in one run.

    Observations need their ``history``.
    """

    needs_history: ClassVar[bool] = True
    extractor: ClassVar[type[BaseFeaturesExtractor]] = Judging
    algorithm: ClassVar[str] = "memenvs.train.learn.auxiliary:AuxiliaryMaskablePPO"

    @property
    def estimator(self) -> SettlementEstimator:
        """The estimator, a part of the policy."""
        found: Any = self.features_extractor
        estimator: SettlementEstimator = found.estimator
        return estimator

    def trained(self) -> list[nn.Parameter]:
        """Parameters that the algorithm trains by rewards: all but the estimator's."""
        taught = {id(parameter) for parameter in self.estimator.parameters()}
        return [parameter for parameter in self.parameters() if id(parameter) not in taught]

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor: Any = EstimatorPointer(**self._options)


def described(judged: Judged) -> Tensor:
    """What the estimator says of each candidate, as features: ``(B, C, JUDGED)``."""
    lost = removal_losses(judged)
    true, answers = torch.sigmoid(judged.true), torch.sigmoid(judged.answers)
    numbers = [
        true,
        SCALE * answers,
        SCALE * judged.worth(),
        SCALE * lost,
        SCALE * (lost[:, -1:] - lost),
        SCALE * lost.sum(dim=1, keepdim=True).expand_as(lost),
    ]
    return torch.stack(numbers, dim=-1) * judged.valid[..., None]
