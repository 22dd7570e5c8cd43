"""A pointer network for the poisoning environment: a logit for each entry, and one to stop."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from memenvs.envs.poisoning.layout import LAYOUT
from memenvs.materials.poisoning.sets import MAX_ENTRIES

WIDTH = 32


def mlp(inside: int, outside: int) -> nn.Sequential:
    """Two layers."""
    return nn.Sequential(nn.Linear(inside, WIDTH), nn.ReLU(), nn.Linear(WIDTH, outside))


class EntryEncoder(BaseFeaturesExtractor):
    """Encodes recorded entries one by one, and all of them together.

    Gives ``(B, WIDTH + E + E * WIDTH)``: the whole, which entries are recorded, and each of them.
    Only these are computed: a prompt has 6 of 24 on average.
    """

    def __init__(self, observation_space: spaces.Dict) -> None:
        super().__init__(observation_space, WIDTH + MAX_ENTRIES * (1 + WIDTH))
        context = LAYOUT.context.width
        self.entry = mlp(LAYOUT.entries.width + context, WIDTH)
        self.whole = mlp(2 * WIDTH + context, WIDTH)
        self.valid = LAYOUT.index("valid")

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """Encode a batch; entries that are not recorded leave no trace."""
        entries, context = observations["entries"], observations["context"]
        valid = entries[..., self.valid]
        row, place = valid.nonzero(as_tuple=True)
        told = torch.cat([entries[row, place], context[row]], dim=-1)
        encoded = entries.new_zeros((*valid.shape, WIDTH))
        encoded[row, place] = torch.relu(self.entry(told))
        mean = encoded.sum(dim=1) / valid.sum(dim=1, keepdim=True).clamp(min=1.0)
        whole = torch.relu(self.whole(torch.cat([mean, encoded.amax(dim=1), context], dim=-1)))
        return torch.cat([whole, valid, encoded.flatten(1)], dim=-1)


class PointerHead(nn.Module):
    """Logits ``(B, 1 + E)`` from what ``EntryEncoder`` gives."""

    def __init__(self) -> None:
        super().__init__()
        self.stop = nn.Linear(WIDTH, 1)
        self.entry = mlp(2 * WIDTH, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Score to stop, then each entry."""
        whole, valid = features[:, :WIDTH], features[:, WIDTH : WIDTH + MAX_ENTRIES]
        encoded = features[:, WIDTH + MAX_ENTRIES :]
        row, place = valid.nonzero(as_tuple=True)
        one = encoded.reshape(-1, MAX_ENTRIES, WIDTH)[row, place]
        logits = features.new_zeros(valid.shape)
        logits[row, place] = self.entry(torch.cat([one, whole[row]], dim=-1))[:, 0]
        return torch.cat([self.stop(whole), logits], dim=1)


class ValueHead(nn.Module):
    """The value ``(B, 1)`` from what ``EntryEncoder`` gives."""

    def __init__(self) -> None:
        super().__init__()
        self.value = mlp(WIDTH, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Read the whole alone."""
        value: Tensor = self.value(features[:, :WIDTH])
        return value


class PointerPolicy(MaskableMultiInputActorCriticPolicy):
    """Actor and critic over one encoder; SB3 builds it for a Dict observation with masks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = {"net_arch": [], "features_extractor_class": EntryEncoder, "ortho_init": False}
        super().__init__(*args, **{**kwargs, **given})

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net, self.value_net = PointerHead(), ValueHead()  # type: ignore[assignment]
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )
