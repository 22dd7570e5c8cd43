"""Fits the settlement estimator, as `algorithm: estimator` does."""

from __future__ import annotations

from typing import Any

from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.policies.learned.networks import fitting
from memenvs.policies.learned.networks.estimator import SettlementEstimator
from memenvs.train.vec_env import SB3VecEnv


def fit_estimator(env: SB3VecEnv | MemorizationVectorEnv, **settings: Any) -> SettlementEstimator:
    """Fit an estimator in a batch, which resets in the same step; ``settings`` are of the fit."""
    batch = env.batch.unwrapped if isinstance(env, SB3VecEnv) else env
    assert isinstance(batch, MemorizationVectorEnv)
    return fitting.fit_estimator(batch, **settings)
