"""The priority policy: one number for the arriving claim, for stable-baselines3."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from gymnasium import spaces
from stable_baselines3.common.policies import MultiInputActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Action, Actions
from memenvs.policies.learned.networks.encoder import Encoder
from memenvs.policies.learned.networks.features import perceptron
from memenvs.policies.learned.networks.own_logits import OwnLogits
from memenvs.policies.learned.networks.pointer import SMALL, Observed


class Priority(nn.Module):
    """Actor and critic over one observation; each with an encoder of its own."""

    def __init__(
        self, layout: Layout, actions: Actions, sets: str, hidden: int, dropout: float
    ) -> None:
        super().__init__()
        self.actor = Encoder(layout, sets, hidden, dropout)
        self.critic = Encoder(layout, sets, hidden, dropout)
        self.mean = perceptron(self.actor.summary, hidden, out=1, last=SMALL)
        self.value = perceptron(self.critic.summary, hidden, out=hidden)
        self.latent_dim_pi = 1
        self.latent_dim_vf = hidden

    def forward_actor(self, observation: Observed) -> Tensor:
        """Give the mean priority: ``(B, 1)``."""
        mean: Tensor = self.mean(self.actor(observation).summary)
        return mean

    def forward_critic(self, observation: Observed) -> Tensor:
        """Give what the value is read from: ``(B, hidden)``."""
        found: Tensor = torch.relu(self.value(self.critic(observation).summary))
        return found

    def forward(self, observation: Observed) -> tuple[Tensor, Tensor]:
        """Give both."""
        return self.forward_actor(observation), self.forward_critic(observation)


class PriorityPolicy(OwnLogits, MultiInputActorCriticPolicy):
    """SB3's policy around a ``Priority``; PPO and A2C train it.

    Args: as for ``PointerPolicy``; ``log_std_init`` is the logarithm of the first deviation of
    priorities, which lie in [-1, 1].
    """

    needs_history: ClassVar[bool] = False
    writes: ClassVar[Action] = "priority"
    kept: ClassVar[tuple[str, ...]] = ("log_std_init",)

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
        log_std_init: float = -1.0,
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
            log_std_init=log_std_init,
            use_sde=use_sde,
            **settings,
        )

    def action_logits(self, observation: Observed) -> Tensor:
        """Give the mean priority: ``(B, 1)``."""
        self.set_training_mode(False)
        mean: Tensor = self.mlp_extractor.forward_actor(observation)
        return mean

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor: Any = Priority(**self._options)  # SB3's name
