"""Encoders of sets: each element beside a summary of all, whatever their number and order."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

HEADS = 4


class DeepSets(nn.Module):
    """Elements stay as they are; the summary is their mean and maximum (Zaheer et al. 2017)."""

    summary: ClassVar[int] = 2  # widths of the summary, in those of an element

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, elements: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Summarise the valid ``(B, n)`` of elements ``(B, n, h)``: those, and ``(B, 2h)``."""
        return elements, pooled(elements, valid)


class SetTransformer(nn.Module):
    """Two blocks of self-attention before the elements are summarised (Lee et al. 2019)."""

    summary: ClassVar[int] = 2

    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(2))

    def forward(self, elements: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Let valid elements attend to each other: ``(B, n, h)``, ``(B, 2h)``."""
        for block in self.blocks:
            elements = block(elements, valid)
        return elements, pooled(elements, valid)


class Block(nn.Module):
    """Attention, then a layer for each element, each added to what was there."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, HEADS, batch_first=True)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.layer = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, elements: Tensor, valid: Tensor) -> Tensor:
        """Attend to the valid elements alone; at least one must be."""
        seen = self.before(elements)
        heard, _ = self.attention(seen, seen, seen, key_padding_mask=~valid, need_weights=False)
        elements = elements + heard
        added: Tensor = elements + self.layer(self.after(elements))
        return added


def pooled(elements: Tensor, valid: Tensor) -> Tensor:
    """Mean and maximum of the valid elements, 0 where there are none: ``(B, 2h)``."""
    weight = valid[..., None].to(elements.dtype)
    mean = (elements * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1.0)
    largest = torch.where(valid[..., None], elements, -torch.inf).amax(dim=1)
    largest = torch.where(valid.any(dim=1, keepdim=True), largest, 0.0)
    return torch.cat([mean, largest], dim=-1)


SETS: dict[str, type[DeepSets] | type[SetTransformer]] = {
    "deep-sets": DeepSets,
    "set-transformer": SetTransformer,
}
