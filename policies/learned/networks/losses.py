"""What the estimator is taught by settlements: credited and debited claims, nothing else."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from memenvs.policies.learned.networks.estimator import Judged

LEAST = 1e-6


class Losses(NamedTuple):
    """Mean losses of the three heads."""

    true: Tensor
    answers: Tensor
    overlap: Tensor

    def total(self) -> Tensor:
        """Add them up."""
        return self.true + self.answers + self.overlap


def settlement_losses(judged: Judged, told: dict[str, Tensor]) -> Losses:
    """Score judgements of before by what was settled after, the fields of ``Outcome``."""
    stored, settled = told["stored"], told["settled"]
    hits = told["credits"] + told["debits"]
    rate = hits / settled.clamp(min=1.0)[:, None]
    weight = stored * settled[:, None]
    answers = F.binary_cross_entropy_with_logits(judged.answers, rate, reduction="none")
    return Losses(
        _noisy_or(judged.true, told) / settled.sum(),
        (answers * weight).sum() / weight.sum(),
        _overlap(judged.overlap, hits, settled, stored),
    )


def _noisy_or(logit: Tensor, told: dict[str, Tensor]) -> Tensor:
    """Sum −log P over what was settled.

    A debited claim is false. A right answer says that some credited claim is true: this very one,
    if the others were credited less often than there were right answers; else −log(1 − Π(1 − p))
    of the claims in doubt together.
    """
    debits = told["debits"]
    credits = told["credits"] * (debits == 0)
    others = credits.sum(dim=1, keepdim=True) - credits
    certain = (credits > 0) & (others < told["right"][:, None])
    doubted = (credits > 0) & ~certain
    false, true = -F.logsigmoid(-logit), -F.logsigmoid(logit)
    none_true = -(false * doubted).sum(dim=1)
    some_true = -torch.log((1.0 - none_true.exp()).clamp(min=LEAST))
    some_true = torch.where(doubted.any(dim=1), some_true, 0.0)
    count = torch.where(doubted, credits, 0.0).amax(dim=1)
    return (false * debits + true * credits * certain).sum() + (some_true * count).sum()


def _overlap(logit: Tensor, hits: Tensor, settled: Tensor, stored: Tensor) -> Tensor:
    """Cross-entropy of "what i answers, j answers, too", over the pairs of a query that i answers.

    Of several queries settled at once it is only known how many each claim answers: min(i, j) of
    them at most are shared.
    """
    size = hits.shape[1]
    shared = torch.minimum(hits[:, :, None], hits[:, None, :])
    rate = shared / hits.clamp(min=1.0)[:, :, None]
    pairs = stored[:, :, None] * stored[:, None, :] / settled.clamp(min=1.0)[:, None, None]
    weight = hits[:, :, None] * pairs * (1 - torch.eye(size, device=hits.device))
    loss = F.binary_cross_entropy_with_logits(logit, rate, reduction="none")
    return (loss * weight).sum() / weight.sum().clamp(min=LEAST)
