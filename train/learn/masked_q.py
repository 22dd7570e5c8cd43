"""DQN and QR-DQN that keep to the legal actions, which stand in the observation."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import QRDQN
from sb3_contrib.qrdqn.policies import MultiInputPolicy as QRDQNMultiInputPolicy
from sb3_contrib.qrdqn.policies import QuantileNetwork
from stable_baselines3 import DQN
from stable_baselines3.dqn.policies import MultiInputPolicy as DQNMultiInputPolicy
from stable_baselines3.dqn.policies import QNetwork

Observation = dict[str, NDArray[Any]]


class MaskedQNetwork(QNetwork):
    """Q-values ``(B, n)``, minus infinity where an action is illegal."""

    def forward(self, obs: Any) -> torch.Tensor:
        """Value the legal actions."""
        illegal = obs["action_mask"] == 0
        return super().forward(obs).masked_fill(illegal, -torch.inf)


class MaskedQuantileNetwork(QuantileNetwork):
    """Quantiles ``(B, quantiles, n)``, minus infinity where an action is illegal."""

    def forward(self, obs: Any) -> torch.Tensor:
        """Give the quantiles of the legal actions."""
        illegal = obs["action_mask"] == 0
        return super().forward(obs).masked_fill(illegal[:, None], -torch.inf)


class MaskedDQNPolicy(DQNMultiInputPolicy):
    """SB3's policy over masked Q-values."""

    def make_q_net(self) -> QNetwork:
        """Build the network."""
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return MaskedQNetwork(**arguments).to(self.device)


class MaskedQRDQNPolicy(QRDQNMultiInputPolicy):
    """SB3's policy over masked quantiles."""

    def make_quantile_net(self) -> QuantileNetwork:
        """Build the network."""
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return MaskedQuantileNetwork(**arguments).to(self.device)


class _LegalExploration:
    """Explore among the legal actions, in each episode by a chance of its own."""

    policy: Any
    exploration_rate: float
    num_timesteps: int
    _last_obs: Any

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[NDArray[Any], Any]:
        """Give the best actions, or with the exploration's chance any legal one."""
        actions, state = self.policy.predict(observation, state, episode_start, True)
        if not deterministic:
            actions = self._explored(observation, actions, self.exploration_rate)
        return actions, state

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Act to fill the replay buffer; at random before it learns."""
        if self.num_timesteps < learning_starts:
            blank = np.zeros(n_envs, dtype=np.int64)
            actions = self._explored(self._last_obs, blank, 1.0)
        else:
            actions, _ = self.predict(self._last_obs)
        return actions, actions

    def _explored(
        self, observation: Observation, actions: NDArray[Any], rate: float
    ) -> NDArray[Any]:
        masks = np.atleast_2d(observation["action_mask"])
        # numpy's global generator is SB3's: it is seeded by set_random_seed.
        coin, place = np.random.rand(2, len(masks))  # noqa: NPY002
        wanted = (place * masks.sum(axis=1)).astype(np.int64)
        any_legal = (masks.cumsum(axis=1) > wanted[:, None]).argmax(axis=1)
        explored: NDArray[Any] = np.where(coin < rate, any_legal, actions).reshape(actions.shape)
        return explored


class MaskedDQN(_LegalExploration, DQN):
    """DQN that never acts illegally."""


class MaskedQRDQN(_LegalExploration, QRDQN):
    """QR-DQN that never acts illegally."""
