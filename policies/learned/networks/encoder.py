"""What an actor or a critic makes of an observation: the slots, the arriving claim, a summary."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.policies.learned.networks.features import BUMPS, Bumps, Rows, candidates, perceptron
from memenvs.policies.learned.networks.sets import SETS


class Encoded(NamedTuple):
    """An observation, encoded; h is the encoder's width."""

    slots: Tensor  # (B, S, h)
    claim: Tensor  # (B, h)
    summary: Tensor  # (B, 3h) of the claim and of the set of slots and claim


class Encoder(nn.Module):
    """Encodes slots and claim by shared layers, beside each other by a set encoder.

    Args:
        layout: of the observation.
        sets: name of the set encoder.
        hidden: width h.
        dropout: share of the features that is left out in training.
        judged: numbers that an estimator adds to every candidate, after the columns.
    """

    def __init__(
        self, layout: Layout, sets: str, hidden: int, dropout: float = 0.0, judged: int = 0
    ) -> None:
        super().__init__()
        if sets not in SETS:
            raise ValueError(f"sets='{sets}' is unknown; choose from {', '.join(SETS)}")
        self._valid = layout.index("valid")
        self._width = layout.claim.width
        self.asked = Asked(layout)
        self.slot_rows = Rows(layout, "memory", dropout=dropout)
        self.claim_rows = Rows(layout, "claim", dropout=dropout)
        more = self.asked.width + judged
        self.slot = perceptron(self.slot_rows.width + more, hidden, out=hidden)
        self.claim = perceptron(
            self.claim_rows.width + layout.context.width + more, hidden, out=hidden
        )
        self.mix = SETS[sets](hidden)
        self.width = hidden
        self.summary = (1 + self.mix.summary) * hidden

    def forward(self, observation: dict[str, Tensor], judged: Tensor | None = None) -> Encoded:
        """Encode; ``judged`` ``(B, S + 1, ...)`` is what an estimator says of the candidates."""
        memory, claim = observation["memory"], observation["claim"]
        extra = self.asked(candidates(observation, self._width), observation)
        if judged is not None:
            extra = torch.cat([extra, judged], dim=-1)
        slots = self.slot(torch.cat([self.slot_rows(memory), extra[:, :-1]], dim=-1))
        parts = [self.claim_rows(claim), observation["context"], extra[:, -1]]
        arriving = self.claim(torch.cat(parts, dim=-1))
        elements = torch.relu(torch.cat([slots, arriving[:, None]], dim=1))
        valid = memory[..., self._valid] == 1
        valid = torch.cat([valid, torch.ones_like(valid[:, :1])], dim=1)
        elements, summary = self.mix(elements, valid)
        claim = elements[:, -1]
        return Encoded(elements[:, :-1], claim, torch.cat([claim, summary], dim=-1))


class Asked(nn.Module):
    """How many of the disclosed queries, and what mass of p_D, lie how near to claims."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        columns = layout.queries.slices
        self._vector, self._of_claim = columns["embedding"], layout.claim.slices["embedding"]
        self._valid, self._weight = columns["valid"].start, columns["weight"].start
        self.near = Bumps()
        self.width = 2 * BUMPS

    def forward(self, rows: Tensor, observation: dict[str, Tensor]) -> Tensor:
        """Sort queries by similarity to claims ``(B, n, width)``: ``(B, n, 2 * BUMPS)``."""
        queries = observation["queries"]
        near = self.near(rows[..., self._of_claim] @ queries[..., self._vector].mT)
        valid = queries[..., self._valid]
        share = valid / valid.sum(dim=1, keepdim=True).clamp(min=1.0)
        weights = torch.stack([share, queries[..., self._weight]], dim=-1)  # (B, H, 2)
        return torch.einsum("bnqk,bqw->bnwk", near, weights).flatten(2)
