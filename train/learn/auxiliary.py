"""MaskablePPO that trains the settlement estimator in the same run, as an auxiliary loss."""

from __future__ import annotations

import pickle
from typing import IO, Any

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import unwrap_vec_wrapper

from memenvs.policies.learned.networks.estimator_pointer import EstimatorPointerPolicy
from memenvs.policies.learned.networks.fitting import Fitter
from memenvs.policies.learned.networks.settled import Settlements
from memenvs.train.learn.history_env import HistoryVecEnv

LAST_RATE = 0.02  # share of the estimator's learning rate that is left at the end


class AuxiliaryMaskablePPO(MaskablePPO):
    """After each update of the policy, the estimator learns from what was settled so far.

    The policy sees the estimator's judgements as features; rewards do not train the estimator, and
    settlements do not train the policy. ``replay_buffer`` holds the settlements: SB3 leaves it out
    of saved models, ``save_replay_buffer`` and ``load_replay_buffer`` carry it from run to run.

    Args:
        policy, env, settings: of ``MaskablePPO``.
        estimator_learning_rate: of the estimator at first; it falls to next to nothing.
        estimator_batch: settlements in a step of the estimator.
        estimator_steps: steps of the estimator after each rollout.
        settlements: how many are kept, the newest.
    """

    replay_buffer: Settlements

    def __init__(
        self,
        policy: Any,
        env: Any,
        *,
        estimator_learning_rate: float = 4e-3,
        estimator_batch: int = 128,
        estimator_steps: int = 48,
        settlements: int = 30_000,
        _init_setup_model: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(policy, env, _init_setup_model=False, **settings)
        self.estimator_learning_rate = estimator_learning_rate
        self.estimator_batch = estimator_batch
        self.estimator_steps = estimator_steps
        self.settlements = settlements
        if _init_setup_model:
            self._setup_model()

    def _setup_model(self) -> None:
        super()._setup_model()
        if not isinstance(self.policy, EstimatorPointerPolicy):
            raise ValueError("AuxiliaryMaskablePPO needs the network 'estimator-pointer'")
        self.fitter = Fitter(
            self.policy.estimator,
            learning_rate=self.estimator_learning_rate,
            batch=self.estimator_batch,
        )
        self.estimator_optimizer = self.fitter.optimizer
        self.replay_buffer = Settlements(self.settlements, self.policy_kwargs["layout"])

    def collect_rollouts(self, env: Any, *arguments: Any, **settings: Any) -> bool:
        """Keep what is settled while the rollout is played."""
        followed = unwrap_vec_wrapper(env, HistoryVecEnv)
        if followed is None:
            raise ValueError("AuxiliaryMaskablePPO needs a HistoryVecEnv around its environments")
        followed.tracker.tell(self.replay_buffer.add)
        return super().collect_rollouts(env, *arguments, **settings)

    def train(self) -> None:
        """Update the policy, then the estimator: both from judgements of the rollout."""
        super().train()
        if not len(self.replay_buffer):
            return
        rate = max(self._current_progress_remaining, LAST_RATE)
        generator = np.random.default_rng([self.seed or 0, self.num_timesteps])
        losses = self.fitter.fit(
            self.replay_buffer, self.estimator_steps, generator, first=rate, last=rate
        )
        self.policy.zero_grad()  # or the policy's gradients would be clipped by the estimator's
        for name, loss in losses._asdict().items():
            self.logger.record(f"estimator/{name}", float(loss))

    def save_replay_buffer(self, stream: IO[bytes]) -> None:
        """Write the settlements."""
        pickle.dump(self.replay_buffer, stream)

    def load_replay_buffer(self, stream: IO[bytes]) -> None:
        """Read the settlements that were written."""
        self.replay_buffer = pickle.load(stream)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "fitter"]

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        modules, variables = super()._get_torch_save_params()
        return [*modules, "estimator_optimizer"], variables
