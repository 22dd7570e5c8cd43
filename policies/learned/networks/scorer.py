"""The scorer: one score for every claim, by its columns alone, for long streams and many slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.policies.learned.networks.features import Rows, perceptron
from memenvs.policies.learned.networks.pointer import ILLEGAL, SMALL, Observed, PointerPolicy
from memenvs.policies.learned.networks.priority import PriorityPolicy


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


class SlotScorer(Scorer):
    """Scores the stored claims as the arriving one, by what was settled since among the rest.

    The logit of a write is by how much the arriving claim is worth more than what makes way, that
    of a clear how little a claim is worth, that of a pass 0; an empty slot is worth 0.
    """

    def logits(self, observation: Observed) -> Tensor:
        """Score every action, legal or not: ``(B, n)``."""
        claim, memory = observation["claim"], observation["memory"]
        rows = torch.cat([memory[..., : claim.shape[1]], claim[:, None]], dim=1)
        scores = self.mean(self.rows(rows))[..., 0]
        stored = scores[:, :-1] * memory[..., self._valid]
        writes = scores[:, -1:] - stored
        parts = [torch.zeros_like(writes[:, :1]), writes]
        if observation["action_mask"].shape[1] > 1 + writes.shape[1]:
            parts.append(-stored)
        return torch.cat(parts, dim=1)

    def forward_actor(self, observation: Observed) -> Tensor:
        """Give the logits, those of illegal actions out of reach."""
        legal = observation["action_mask"] > 0
        return torch.where(legal, self.logits(observation), ILLEGAL)


class _OfColumns:
    """Mixed into a policy: the columns that its actor does not see are an option of their own."""

    module: ClassVar[type[Scorer]]
    _options: dict[str, Any]

    def __init__(self, *arguments: Any, without: Sequence[str] = (), **settings: Any) -> None:
        self._without = tuple(without)
        super().__init__(*arguments, **settings)

    def _build_mlp_extractor(self) -> None:
        layout, hidden, dropout = (self._options[n] for n in ("layout", "hidden", "dropout"))
        self.mlp_extractor: Any = self.module(layout, hidden, dropout, self._without)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        base: dict[str, Any] = super()._get_constructor_parameters()  # type: ignore[misc]
        return base | {"without": self._without}


class ScorerPolicy(_OfColumns, PriorityPolicy):
    """SB3's policy around a ``Scorer``; as many slots as there are, the actor costs the same.

    Args: as for ``PriorityPolicy``, ``sets`` unused; ``without`` names columns that the actor does
    not see: those that grow with the length of a stream, where it is trained on shorter ones.
    """

    module = Scorer


class SlotScorerPolicy(_OfColumns, PointerPolicy):
    """SB3's policy around a ``SlotScorer``: the best S claims by a score that it keeps revising.

    Args: as for ``PointerPolicy``, ``sets`` unused; ``without`` as for ``ScorerPolicy``.
    """

    module = SlotScorer
