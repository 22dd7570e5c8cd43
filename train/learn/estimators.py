"""`algorithm: estimator`: fits the settlement estimator; short enough to be begun anew."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from memenvs.policies.learned.estimator import WEIGHTS
from memenvs.policies.learned.saved import ModelCard, save_entries
from memenvs.train.learn.algorithms import ALGORITHMS, imported
from memenvs.train.learn.estimation import fit_estimator
from memenvs.train.learn.hyperparameters import hyperparameters
from memenvs.train.learn.settings import Training
from memenvs.train.vec_env import SB3VecEnv


def fit(
    training: Training,
    env: SB3VecEnv,
    seed: int,
    device: str,
    progress: Callable[[int], None],
) -> Any:
    """Fit an estimator; ``progress`` is told the steps played so far."""
    fitter = imported(ALGORITHMS["estimator"].path)
    arguments = hyperparameters(training, 0, fitter)
    played = 0

    def count(steps: int) -> None:
        nonlocal played
        played += steps
        progress(played)

    return fit_estimator(
        env, steps=training.steps, seed=seed, device=device, progress=count, **arguments
    )


def save_estimator(path: Path, estimator: Any, card: ModelCard) -> None:
    """Write its weights and its card, both or nothing."""
    weights = io.BytesIO()
    torch.save(estimator.state_dict(), weights)
    save_entries(path, {WEIGHTS: weights.getvalue()}, card)
