"""A learner that reads a memory's advice: the evidence of an action is a prior of its logit."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import CombinedExtractor
from torch import Tensor, nn

SCALE = 30.0  # of the evidence at first: .1 more of it makes an action twenty times as likely


class AdvisedPolicy(MaskableMultiInputActorCriticPolicy):
    """MaskablePPO's policy on an environment that advises (``mode="advise"`` of a memory).

    The logit of an action is the network's, plus a learned multiple, ``scale`` at first, of its
    ``evidence``. Give the class to ``MaskablePPO`` in place of ``"MultiInputPolicy"``; a training
    names it ``network: advised``. Raises ``ValueError`` for an environment whose observation holds
    no ``evidence``.
    """

    writes: ClassVar[str] = "slots"  # one of a list of actions
    algorithm: ClassVar[str] = "sb3_contrib:MaskablePPO"

    def __init__(self, *arguments: Any, scale: float = SCALE, **options: Any) -> None:
        self._first_scale = scale
        options.setdefault("features_extractor_class", EvidenceLast)
        super().__init__(*arguments, **options)

    def _build(self, lr_schedule: Any) -> None:
        """Put the evidence behind the network's logits."""
        super()._build(lr_schedule)
        self.mlp_extractor = Passing(self.mlp_extractor, int(self.action_space.n))  # type: ignore[assignment, attr-defined]
        self.action_net = Advised(self.action_net, int(self.action_space.n), self._first_scale)  # type: ignore[attr-defined]
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),
            **self.optimizer_kwargs,  # type: ignore[call-arg]
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "scale": self._first_scale}


class EvidenceLast(CombinedExtractor):
    """The features of an observation, its evidence ``(n,)`` last."""

    def __init__(self, observation_space: spaces.Dict, **options: Any) -> None:
        if "evidence" not in observation_space.spaces:
            raise ValueError(
                "the observation holds no evidence; wrap the environment in a memory with "
                "mode='advise'"
            )
        super().__init__(observation_space, **options)
        self._features_dim += observation_space["evidence"].shape[0]  # type: ignore[index]

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """Extract, and repeat the evidence behind the rest."""
        return torch.cat([super().forward(observations), observations["evidence"]], dim=1)


class Passing(nn.Module):
    """The two networks, of which that of the actor passes the evidence on."""

    def __init__(self, networks: nn.Module, actions: int) -> None:
        super().__init__()
        self.networks, self.actions = networks, actions
        self.latent_dim_pi: Any = networks.latent_dim_pi
        self.latent_dim_vf: Any = networks.latent_dim_vf

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Give what the actor and the critic go on with."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Tensor) -> Tensor:
        """Give the actor's latent, the evidence last."""
        latent: Tensor = self.networks.forward_actor(features)  # type: ignore[operator]
        return torch.cat([latent, features[:, -self.actions :]], dim=1)

    def forward_critic(self, features: Tensor) -> Tensor:
        """Give the critic's latent."""
        latent: Tensor = self.networks.forward_critic(features)  # type: ignore[operator]
        return latent


class Advised(nn.Module):
    """Logits of a network, plus a learned multiple of the evidence."""

    def __init__(self, network: nn.Module, actions: int, scale: float) -> None:
        super().__init__()
        self.network, self.actions = network, actions
        self.scale = nn.Parameter(torch.tensor(float(scale)))

    def forward(self, latent: Tensor) -> Tensor:
        """Give the logits ``(B, n)``."""
        own: Tensor = self.network(latent[:, : -self.actions])
        return own + self.scale * latent[:, -self.actions :]
