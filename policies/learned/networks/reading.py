"""The reading estimator: which claims are true, and which query each of them answers."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.policies.learned.networks.asked import ANSWERS, SILENT, UNKNOWN
from memenvs.policies.learned.networks.estimator import TruthEstimator
from memenvs.policies.learned.networks.features import (
    BUMPS,
    candidates,
)

SAME = 0.999  # similarity from which on two queries are one
LEAST = 1e-6
NEVER = -20.0  # log of next to no chance
TYPICAL = 192  # queries of training that stand for those still to come
OF_PAIR = BUMPS + 5  # bumps, the similarity itself, and what is known of both


class ReadingEstimator(TruthEstimator):
    """Judges for pairs of a candidate and a query whether the one answers the other.

    A limited reader reads what is most similar, which is seen; so this, and the truth of what is
    read, is all that has to be learned. Besides the similarity it goes by what settlements told of
    the candidate, and of the others, for that query or one like it. ``typical`` are queries that
    were settled in training.
    """

    typical: Tensor

    def __init__(self, layout: Layout, hidden: int = 64, pooled: int = 32) -> None:
        super().__init__(layout, hidden, pooled)
        width = layout.limits.embedding
        self.of_claim = nn.Linear(self._rows.width + 1, hidden)
        self.of_query = nn.Linear(width, hidden, bias=False)
        self.of_pair = nn.Linear(OF_PAIR, hidden, bias=False)
        self.answers = nn.Linear(hidden, 1)
        self.register_buffer("typical", torch.zeros(TYPICAL, width))

    def forward(
        self, observation: dict[str, Tensor], queries: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Judge candidates for queries ``(B, Q, d)``: logits of truth and of answering.

        The observation holds ``history`` ``(B, E, width)``, the queries ``asked`` ``(B, T, d)`` and
        what is ``known`` of the candidates ``(B, C, T)``. Gives ``(B, C)``, ``(B, C, Q)`` and the
        similarities ``(B, C, Q)``.
        """
        rows = candidates(observation, self.width)
        true = self.true(self.describe(rows, observation))[..., 0]
        vectors = rows[..., self._vector]
        similarity = vectors @ queries.mT
        pairs = torch.cat(
            [
                self.near(similarity),
                similarity[..., None],
                self._told(vectors, queries, observation["asked"], observation["known"]),
            ],
            dim=-1,
        )
        claim = torch.cat([self._rows(rows), true.detach()[..., None]], dim=-1)
        hidden = self.of_claim(claim)[:, :, None] + self.of_query(queries)[:, None]
        answers = self.answers(torch.relu(hidden + self.of_pair(pairs)))[..., 0]
        return true, answers, similarity

    def _told(self, vectors: Tensor, queries: Tensor, asked: Tensor, known: Tensor) -> Tensor:
        """Say what settlements told of pairs ``(B, C, Q, 4)``.

        How similar the nearest query is that the candidate is known to answer, or not to; and the
        nearest other candidate that is known to answer this query, or not to.
        """
        near = (queries @ asked.mT).clamp(min=0.0)  # (B, Q, T)
        alike = (vectors @ vectors.mT).clamp(min=0.0)  # (B, C, C)
        alike = alike * (1 - torch.eye(alike.shape[1], device=alike.device))
        if not near.shape[2]:
            return near.new_zeros(*vectors.shape[:2], queries.shape[1], 4)
        same = (near > SAME).float()
        parts = []
        for status in (ANSWERS, SILENT):
            told = (known == status).float()  # (B, C, T)
            parts.append((told[:, :, None] * near[:, None]).amax(dim=-1))
            here = (told @ same.mT > 0).float()  # (B, C, Q)
            parts.append((alike[..., None] * here[:, None]).amax(dim=2))
        return torch.stack(parts, dim=-1)


def told_of(known: Tensor, asked: Tensor, queries: Tensor) -> Tensor:
    """Say what is known of candidates for queries, also if asked before: ``(B, C, Q)``."""
    same = (queries @ asked.mT > SAME).float()
    return torch.sign(known.float() @ same.mT)


class Told(NamedTuple):
    """What B settlements told of C candidates of before."""

    queries: Tensor  # (B, H, d) the last settled ones, the newest first
    outcome: Tensor  # (B, H) of the new ones 1: rightly answered, -1: not; 0: none, or an old one
    stored: Tensor  # (B, C) whether it was in the memory that was settled
    alone: Tensor  # (B,) whether one query was settled
    status: Tensor  # (B, C) of that query: ANSWERS, SILENT or UNKNOWN
    truth: Tensor  # (B, C) 1: credited, -1: debited, 0: neither


def reading_loss(true: Tensor, answers: Tensor, similarity: Tensor, told: Told, k: int) -> Tensor:
    """Score judgements of before by what was settled after, the first of K to answer being named.

    Of a query that was settled alone it is known which claims answered it, and whether what they
    said was true. Of each of several only its outcome is: it has the chance that the first claim to
    answer, of those that were read, is true.
    """
    alone, loss_of = told.alone[:, None], F.binary_cross_entropy_with_logits
    answering = loss_of(answers[..., 0], (told.status == ANSWERS).float(), reduction="none")
    truth = loss_of(true, (told.truth > 0).float(), reduction="none")
    known = (answering * (told.status != UNKNOWN) + truth * (alone & (told.truth != 0))).sum()
    absent = ~told.stored[..., None]
    order = similarity.masked_fill(absent, -2.0).argsort(dim=1, descending=True)[:, :k]
    silent = F.logsigmoid(-answers).masked_fill(absent, 0.0).gather(1, order)
    pays = F.logsigmoid(answers) + F.logsigmoid(true)[..., None]
    pays = pays.masked_fill(absent, NEVER).gather(1, order)
    right = (silent.cumsum(dim=1) - silent + pays).exp().sum(dim=1).clamp(LEAST, 1 - LEAST)
    outcome = torch.where(told.outcome > 0, right.log(), (1 - right).log())
    new = told.outcome != 0
    return (known - (outcome * (new & ~alone)).sum()) / new.sum().clamp(min=1)
