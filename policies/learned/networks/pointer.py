"""The pointer policy: a score for every slot that could make way, for stable-baselines3."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Action, Actions
from memenvs.policies.learned.networks.encoder import Encoded, Encoder
from memenvs.policies.learned.networks.features import Rows, perceptron
from memenvs.policies.learned.networks.own_logits import OwnLogits

Observed = dict[str, Tensor]
ILLEGAL = -1e8  # logit
SMALL = 0.01  # scale of the last layer of an actor


class PointerCore(nn.Module, ABC):
    """Actor and critic over one observation: a logit for each element that an action points to."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.latent_dim_pi = 1  # SB3 asks for it and gets logits
        self.latent_dim_vf = hidden

    @abstractmethod
    def logits(self, observation: Observed) -> Tensor:
        """Score every action, legal or not: ``(B, n)``."""

    @abstractmethod
    def forward_critic(self, observation: Observed) -> Tensor:
        """Give what the value is read from: ``(B, hidden)``."""

    def legal(self, logits: Tensor, observation: Observed) -> Tensor:
        """Put the logits of illegal actions out of reach."""
        return torch.where(observation["action_mask"] > 0, logits, ILLEGAL)

    def forward_actor(self, observation: Observed) -> Tensor:
        """Give the logits, those of illegal actions out of reach."""
        return self.legal(self.logits(observation), observation)

    def forward(self, observation: Observed) -> tuple[Tensor, Tensor]:
        """Give the logits, and what the value is read from."""
        return self.forward_actor(observation), self.forward_critic(observation)


class Pointer(PointerCore):
    """Actor and critic over one observation; each with an encoder of its own.

    The logit of a write or a clear comes from the slot beside the claim and the summary, that of a
    pass from these alone, that of considering a claim of a pool from the claim's row. No weight
    depends on the number of claims or slots.
    """

    def __init__(
        self, layout: Layout, actions: Actions, sets: str, hidden: int, dropout: float
    ) -> None:
        super().__init__(hidden)
        self._actions = actions
        self.actor = self.encoder(layout, sets, hidden, dropout)
        self.critic = self.encoder(layout, sets, hidden, dropout)
        summary = self.actor.summary
        self.write = perceptron(hidden + summary, hidden, out=1, last=SMALL)
        self.skip = perceptron(summary, hidden, out=1, last=SMALL)
        if actions.clears:
            self.clear = perceptron(hidden + summary, hidden, out=1, last=SMALL)
        if layout.pool:
            self.pool_rows = Rows(layout, "claim", dropout=dropout)
            width = self.pool_rows.width + self.actor.asked.width
            self.consider = perceptron(width + summary, hidden, hidden, out=1, last=SMALL)
        self.value = perceptron(self.critic.summary, hidden, out=hidden)

    def encoder(self, layout: Layout, sets: str, hidden: int, dropout: float) -> Encoder:
        """Build an encoder."""
        return Encoder(layout, sets, hidden, dropout)

    def encode(self, encoder: Encoder, observation: Observed) -> Encoded:
        """Encode an observation."""
        encoded: Encoded = encoder(observation)
        return encoded

    def logits(self, observation: Observed) -> Tensor:
        """Score every action, legal or not: ``(B, n)``."""
        return self.scores(self.encode(self.actor, observation), observation)

    def scores(self, encoded: Encoded, observation: Observed) -> Tensor:
        """Score every action of an encoded observation: ``(B, n)``."""
        slots = beside(encoded.slots, encoded.summary)
        parts = [self.skip(encoded.summary), self.write(slots)[..., 0]]
        if self._actions.clears:
            parts.append(self.clear(slots)[..., 0])
        if "claims" in observation:
            rows = observation["claims"]
            asked = self.actor.asked(rows, observation)
            claims = torch.cat([self.pool_rows(rows), asked], dim=-1)
            parts.append(self.consider(beside(claims, encoded.summary))[..., 0])
        return torch.cat(parts, dim=1)

    def forward_critic(self, observation: Observed) -> Tensor:
        """Give what the value is read from: ``(B, hidden)``."""
        found: Tensor = torch.relu(self.value(self.encode(self.critic, observation).summary))
        return found


class PointerPolicy(OwnLogits, MaskableMultiInputActorCriticPolicy):
    """SB3's policy around a ``Pointer``; PPO, A2C and MaskablePPO train it.

    It masks by the observation, so that an algorithm without masks acts legally, too.

    Args:
        observation_space, action_space, lr_schedule: as SB3 gives them.
        layout: of the observation.
        actions: numbers of the actions.
        sets: ``"deep-sets"`` or ``"set-transformer"``.
        hidden: width of the layers.
        dropout: share of the claims' features that is left out in training.
        use_sde: must stay False; SB3 gives it.
        settings: of SB3's policy: ``optimizer_class``, ``optimizer_kwargs``.
    """

    needs_history: ClassVar[bool] = False
    writes: ClassVar[Action] = "slots"

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        layout: Layout,
        actions: Actions,
        sets: str = "deep-sets",
        hidden: int = 64,
        dropout: float = 0.0,
        use_sde: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            options={
                "layout": layout,
                "actions": actions,
                "sets": sets,
                "hidden": hidden,
                "dropout": dropout,
            },
            features_extractor_kwargs={"layout": layout},
            **settings,
        )

    def action_logits(self, observation: Observed) -> Tensor:
        """Score every action, legal or not: ``(B, n)``."""
        self.set_training_mode(False)
        logits: Tensor = self.mlp_extractor.logits(self.features_extractor(observation))
        return logits

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor: Any = Pointer(**self._options)  # SB3's name


def beside(elements: Tensor, summary: Tensor) -> Tensor:
    """Put the summary ``(B, s)`` beside every element ``(B, n, h)``: ``(B, n, h + s)``."""
    return torch.cat([elements, summary[:, None].expand(-1, elements.shape[1], -1)], dim=-1)
