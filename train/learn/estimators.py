"""Fits an estimator to settlements; short enough to be begun anew."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies.base import Policy
from memenvs.policies.learned.estimator import WEIGHTS, Estimator
from memenvs.policies.learned.networks.reading import ReadingEstimator
from memenvs.policies.learned.reader_estimator import ReaderEstimator
from memenvs.policies.learned.saved import ModelCard, save_entries
from memenvs.train.learn.algorithms import ALGORITHMS, imported
from memenvs.train.learn.hyperparameters import hyperparameters
from memenvs.train.learn.settings import Training
from memenvs.train.vec_env import SB3VecEnv


def fit(
    training: Training,
    env: SB3VecEnv | MemorizationVectorEnv,
    seed: int,
    device: str,
    progress: Callable[[int], None],
) -> Any:
    """Fit an estimator in a batch, which resets in the same step.

    ``progress`` is told the steps played so far.
    """
    batch = env.batch.unwrapped if isinstance(env, SB3VecEnv) else env
    assert isinstance(batch, MemorizationVectorEnv)
    fitter = imported(ALGORITHMS[training.algorithm].path)
    arguments = hyperparameters(training, 0, fitter)
    played = 0

    def count(steps: int) -> None:
        nonlocal played
        played += steps
        progress(played)

    return fitter(
        batch, steps=training.steps, seed=seed, device=device, progress=count, **arguments
    )


def acting(env: Any, seed: int, estimator: Any) -> Policy:
    """Give the policy that acts by an estimator."""
    kind = ReaderEstimator if isinstance(estimator, ReadingEstimator) else Estimator
    return kind(env, seed, estimator=estimator)


def save_estimator(path: Path, estimator: Any, card: ModelCard) -> None:
    """Write its weights and its card, both or nothing."""
    weights = io.BytesIO()
    torch.save(estimator.state_dict(), weights)
    save_entries(path, {WEIGHTS: weights.getvalue()}, card)
