"""The scorer: a priority from the arriving claim alone, for long streams and many slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.policies.networks.features import Rows, perceptron
from memenvs.policies.networks.pointer import SMALL, Observed
from memenvs.policies.networks.priority import PriorityPolicy


class Scorer(nn.Module):
    """Actor over the claim's columns but those of ``without``; the critic sees the memory, too."""

    def __init__(
        self, layout: Layout, hidden: int, dropout: float, without: tuple[str, ...]
    ) -> None:
        super().__init__()
        self.rows = Rows(layout, "claim", without, dropout=dropout)
        self.stored = Rows(layout, "memory")
        self._valid = layout.index("valid")
        self.mean = perceptron(self.rows.width, hidden, hidden, out=1, last=SMALL)
        seen = self.rows.width + self.stored.width + layout.context.width
        self.value = perceptron(seen, hidden, out=hidden)
        self.latent_dim_pi = 1
        self.latent_dim_vf = hidden

    def forward_actor(self, observation: Observed) -> Tensor:
        """Give the mean priority: ``(B, 1)``."""
        mean: Tensor = self.mean(self.rows(observation["claim"]))
        return mean

    def forward_critic(self, observation: Observed) -> Tensor:
        """Give what the value is read from, the mean of the stored rows among it: ``(B, h)``."""
        valid = observation["memory"][..., self._valid, None]
        stored = (self.stored(observation["memory"]) * valid).sum(dim=1)
        stored = stored / valid.sum(dim=1).clamp(min=1.0)
        seen = [self.rows(observation["claim"]), stored, observation["context"]]
        found: Tensor = torch.relu(self.value(torch.cat(seen, dim=-1)))
        return found

    def forward(self, observation: Observed) -> tuple[Tensor, Tensor]:
        """Give both."""
        return self.forward_actor(observation), self.forward_critic(observation)


class ScorerPolicy(PriorityPolicy):
    """SB3's policy around a ``Scorer``; as many slots as there are, the actor costs the same.

    Args: as for ``PriorityPolicy``, ``sets`` unused; ``without`` names columns that the actor does
    not see: those that grow with the length of a stream, where it is trained on shorter ones.
    """

    def __init__(self, *arguments: Any, without: Sequence[str] = (), **settings: Any) -> None:
        self._without = tuple(without)
        super().__init__(*arguments, **settings)

    def _build_mlp_extractor(self) -> None:
        options = self._options
        self.mlp_extractor: Any = Scorer(
            options["layout"], options["hidden"], options["dropout"], self._without
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"without": self._without}
