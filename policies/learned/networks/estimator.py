"""The settlement estimator: learned truth, answer rate and overlap of claims."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.policies.learned.networks.features import (
    BUMPS,
    DYNAMIC,
    Bumps,
    Rows,
    candidates,
    perceptron,
)

MOST_OVERLAP = 0.98
SUMMED = 4.0  # claims whose evidence adds up to one
LIKE = 0.75  # similarity from which on two claims of a source begin to be one


class Judged(NamedTuple):
    """What the estimator makes of S slots and the arriving claim, C = S + 1 candidates."""

    true: Tensor  # (B, C) logit of p: a query that it answers is answered rightly
    answers: Tensor  # (B, C) logit of v: it answers the next query
    overlap: Tensor  # (B, C, C) logit of o: what i answers, j answers, too
    valid: Tensor  # (B, C) whether there is a claim

    def worth(self) -> Tensor:
        """p·v, and 0 where there is no claim: ``(B, C)``."""
        return torch.sigmoid(self.true) * torch.sigmoid(self.answers) * self.valid


class TruthEstimator(nn.Module):
    """Judges whether candidates are true, by their own columns and by the history of the episode.

    The claims that were read are pooled by deep sets: those of the candidate's source, those of
    sources whose cues look alike, and all. No weight depends on the number of claims or slots, so
    one estimator serves others.

    Args:
        layout: of the observations; only the columns matter.
        hidden: width of the layers.
        pooled: width of what is pooled.
    """

    def __init__(self, layout: Layout, hidden: int = 64, pooled: int = 32) -> None:
        super().__init__()
        self.width = layout.claim.width
        slices = layout.claim.slices
        self._source = layout.index("source", "claim")
        self._valid = layout.index("valid", "claim")
        self._vector = slices["embedding"]
        self._cues = slices["cues"]
        self._own_record = [layout.index(name, "claim") for name in ("credits", "debits")]
        self._rows = Rows(layout, "claim", DYNAMIC)
        self._read = Rows(layout, "claim", (*DYNAMIC, "embedding"))
        cues = len(layout.limits.cues)
        self.log_scale = nn.Parameter(torch.zeros(cues))
        self.element = nn.Sequential(perceptron(self._read.width, hidden, out=pooled), nn.ReLU())
        self.near = Bumps()
        # Of a source: pooled claims, mean cues, how many, their record.
        of_source = pooled + cues + 4
        self.world = nn.Sequential(nn.Linear(of_source, pooled), nn.ReLU())
        self.known_width = self._rows.width + 2 * of_source + 3 + pooled + layout.context.width
        self.true = perceptron(self.known_width, hidden, hidden, out=1)

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.log_scale.device

    def describe(self, rows: Tensor, observation: dict[str, Tensor]) -> Tensor:
        """Say what is known of candidates ``(B, C, width)``: ``(B, C, known_width)``.

        The observation holds ``history`` ``(B, E, width)``.
        """
        read = observation["history"]
        valid = read[..., self._valid]
        elements = self.element(self._read(read))
        cues, record = read[..., self._cues], read[..., self._own_record]

        def described(weight: Tensor) -> Tensor:
            parts = [
                weight @ elements / SUMMED,
                torch.asinh(_mean(weight, cues)),
                torch.asinh(weight.sum(dim=-1, keepdim=True)),
                _record(weight @ record),
            ]
            return torch.cat(parts, dim=-1)

        everyone = self._same_source(read, read) * valid[:, None]
        worlds = self.world(described(everyone))
        world = (worlds * valid[..., None]).sum(dim=1) / valid.sum(dim=1, keepdim=True).clamp(min=1)
        own = self._same_source(rows, read) * valid[:, None]
        apart = _mean(own, cues)[:, :, None] - _mean(everyone, cues)[:, None]
        apart = (apart * self.log_scale.exp()).square().sum(dim=-1)
        alike = torch.exp(-0.5 * apart) * valid[:, None] * (1 - own)
        cosine = rows[..., self._vector] @ read[..., self._vector].mT
        repeated = own * ((cosine - LIKE) / (1 - LIKE)).clamp(min=0.0)
        everywhere = torch.cat([world, observation["context"]], dim=-1)
        parts = [
            self._rows(rows),
            described(own),
            described(alike),
            _record(repeated @ record),
            everywhere[:, None].expand(-1, rows.shape[1], -1),
        ]
        return torch.cat(parts, dim=-1)

    def _same_source(self, rows: Tensor, read: Tensor) -> Tensor:
        """Whether claims name one source: ``(B, n, width)``, ``(B, E, width)`` to ``(B, n, E)``."""
        mine, theirs = rows[..., self._source], read[..., self._source]
        return ((mine[:, :, None] == theirs[:, None]) & (mine[:, :, None] >= 0)).float()


class SettlementEstimator(TruthEstimator):
    """Judges truth, answer rate and overlap; the disclosed queries count by their similarity."""

    def __init__(self, layout: Layout, hidden: int = 64, pooled: int = 32) -> None:
        super().__init__(layout, hidden, pooled)
        queries = layout.queries.slices
        self._query_vector = queries["embedding"]
        self._outcome, self._query_valid = queries["outcome"].start, queries["valid"].start
        self.answers = perceptron(self.known_width + 2 * BUMPS + 1, hidden, hidden, out=1)
        self.shared = nn.Linear(BUMPS, 1)
        nn.init.zeros_(self.shared.bias)
        with torch.no_grad():
            self.shared.weight.copy_(torch.linspace(-5.0, 4.0, BUMPS))

    def forward(self, observation: dict[str, Tensor]) -> Judged:
        """Judge the candidates; the observation holds ``history`` ``(B, E, width)``."""
        rows = candidates(observation, self.width)
        known = self.describe(rows, observation)
        true = self.true(known)[..., 0]
        answers = self.answers(torch.cat([known, self._asked(rows, observation)], dim=-1))[..., 0]
        vectors = rows[..., self._vector]
        cosine = vectors @ vectors.transpose(1, 2)
        overlap = self.shared(self.near(cosine))[..., 0]
        return Judged(true, answers, overlap, rows[..., self._valid])

    def _asked(self, rows: Tensor, observation: dict[str, Tensor]) -> Tensor:
        """Pool the disclosed queries in view by similarity to the candidates: ``(B, C, ...)``."""
        queries = observation["queries"]
        valid = queries[..., self._query_valid]
        near = rows[..., self._vector] @ queries[..., self._query_vector].transpose(1, 2)
        near = self.near(near)
        outcome = queries[..., self._outcome]
        count = valid.sum(dim=1)
        pooled = [  # queries of each similarity: all, and those answered wrongly
            torch.einsum("bcqk,bq->bck", near, weight)
            for weight in (valid, (outcome < 0).float() * valid)
        ]
        share = torch.cat(pooled, dim=-1) / (count + 1.0)[:, None, None]
        return torch.cat([share, torch.asinh(count)[:, None, None].expand_as(share[..., :1])], -1)


def replacement_gains(judged: Judged) -> Tensor:
    """Value gained by writing over each slot, instead of passing: ``(B, S)``.

    The value of a set is Σ v_i p_i Π (1 − p_j o_ij), j over its claims that are worth more.
    """
    loss = removal_losses(judged)
    return loss[:, -1:] - loss[:, :-1]


def removal_losses(judged: Judged) -> Tensor:
    """Value that all candidates together lose without each of them: ``(B, C)``."""
    worth = judged.worth()
    place = torch.arange(worth.shape[1], device=worth.device)
    above = worth[:, None, :] > worth[:, :, None]
    above |= (worth[:, None, :] == worth[:, :, None]) & (place[None, :] < place[:, None])
    shadow = torch.sigmoid(judged.true)[:, None, :] * torch.sigmoid(judged.overlap)
    shadow = shadow.clamp(max=MOST_OVERLAP) * judged.valid[:, None, :]
    left = 1.0 - torch.where(above, shadow, 0.0)  # (B, i, j) of i beside j
    kept = worth * left.prod(dim=2)
    without = (kept[:, :, None] / left).sum(dim=1) - kept
    return kept.sum(dim=1, keepdim=True) - without


def _mean(weight: Tensor, values: Tensor) -> Tensor:
    return weight @ values / weight.sum(dim=-1, keepdim=True).clamp(min=1e-6)


def _record(record: Tensor) -> Tensor:
    """Give successes, failures ``(..., 2)`` and their Beta mean: ``(..., 3)``."""
    mean = (record[..., :1] + 1) / (record.sum(dim=-1, keepdim=True) + 2)
    return torch.cat([torch.asinh(record), mean], dim=-1)
