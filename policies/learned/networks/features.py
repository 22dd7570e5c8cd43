"""Columns of claims as numbers that a network can work with."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Columns, Layout

LARGE = 10.0  # columns that may leave this range are compressed
LABELS = ("source",)  # numbers that are names
BUMPS = 15  # similarities that are told apart
DYNAMIC = ("age", "redundancy")  # of the memory's state, not of the claim


class Rows(nn.Module):
    """Features of rows ``(..., width)`` by the columns' names: ``(..., features)``.

    Counts and whatever has no bound go through asinh; beside the cues stands how far they are from
    the mean of the claim's source, beside records the Beta mean.
    """

    _kept: Tensor
    _large: Tensor

    def __init__(
        self,
        layout: Layout,
        of: str = "claim",
        without: tuple[str, ...] = (),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        columns: Columns = getattr(layout, of)
        left_out = {*LABELS, *without}
        kept = [
            place
            for name, where in columns.slices.items()
            if name not in left_out
            for place in range(where.start, where.stop)
        ]
        large = [max(-columns.low[place], columns.high[place]) > LARGE for place in kept]
        compressed = [place for place, is_large in enumerate(large) if is_large]
        self.register_buffer("_kept", torch.tensor(kept, dtype=torch.long), persistent=False)
        self.register_buffer("_large", torch.tensor(compressed, dtype=torch.long), persistent=False)
        slices = columns.slices
        self._cues, self._means = slices.get("cues"), slices.get("source_cues")
        self._records = [
            (layout.index(prefix + "credits", of), layout.index(prefix + "debits", of))
            for prefix in ("", "source_")
            if prefix + "credits" in slices and prefix + "credits" not in left_out
        ]
        deviations = 0 if self._cues is None else self._cues.stop - self._cues.start
        self.width = len(kept) + deviations + len(self._records)
        self._dropout = nn.Dropout(dropout)

    def forward(self, rows: Tensor) -> Tensor:
        """Compute the features."""
        kept = rows[..., self._kept]
        kept[..., self._large] = torch.asinh(kept[..., self._large])
        parts = [kept]
        if self._cues is not None and self._means is not None:
            parts.append(torch.asinh(rows[..., self._cues] - rows[..., self._means]))
        parts += [
            ((rows[..., good] + 1) / (rows[..., good] + rows[..., bad] + 2))[..., None]
            for good, bad in self._records
        ]
        found: Tensor = self._dropout(torch.cat(parts, dim=-1))
        return found


class Bumps(nn.Module):
    """Says of similarities ``(...)`` near which of some numbers they lie: ``(..., BUMPS)``."""

    centres: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("centres", torch.linspace(-0.4, 1.0, BUMPS), persistent=False)
        self._narrow = float(BUMPS - 1) / 1.4

    def forward(self, similarity: Tensor) -> Tensor:
        """Interpolate: the two nearest share 1."""
        apart = (similarity.clamp(-0.4, 1.0)[..., None] - self.centres) * self._narrow
        return (1.0 - apart.abs()).clamp(min=0.0)


def perceptron(*widths: int, out: int, last: float | None = None) -> nn.Sequential:
    """Layers with ReLU between; the weights of the last one are scaled by ``last``."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    final = nn.Linear(widths[-1], out)
    if last is not None:
        nn.init.orthogonal_(final.weight, last)
        nn.init.zeros_(final.bias)
    return nn.Sequential(*layers, final)


def candidates(observation: dict[str, Tensor], width: int) -> Tensor:
    """Give what can be stored after the decision: S slots, the claim ``(B, S + 1, width)``."""
    return torch.cat([observation["memory"][..., :width], observation["claim"][:, None]], dim=1)
