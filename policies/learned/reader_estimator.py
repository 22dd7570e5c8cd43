"""The policy by a reading estimator that is loaded from a file, or fitted when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch

from memenvs.envs.memorization.rules import Rules
from memenvs.policies.learned.estimator import (
    WEIGHTS,
    filled,
    read_weights,
    training_batch,
    training_tier,
)
from memenvs.policies.learned.models import Model, check_fit, find_models
from memenvs.policies.learned.networks.reading import ReadingEstimator
from memenvs.policies.learned.reader_greedy import ReaderGreedy

NAME = "reader-estimator"


class ReaderEstimator(ReaderGreedy):
    """Give up the claim without which a reader of the K most similar items finds most.

    Which claims are true and what they answer was learned from settlements alone, on other
    materials: ``reader-estimator:PATH`` is a saved model, or several seeds, which are averaged;
    ``reader-estimator`` is fitted on the train split of the tier that is played (some minutes).
    Raises ``ValueError`` where there is no such split, or a model does not fit.
    """

    variants = "PATH"

    def __init__(
        self,
        env: Any,
        seed: int = 0,
        *,
        variant: str | None = None,
        models: Sequence[Model] = (),
        estimator: ReadingEstimator | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(env, seed)
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if variant is not None:
            models = find_models(variant)
        if models:
            check_fit(models, self.layout, self.rules)
            self.use([self._read(model).to(device) for model in models])
        elif estimator is not None:
            self.use([estimator])
        else:
            rules = replace(self.rules, strict=False)
            self.use([_fitted(training_tier(env, NAME), rules, seed, device)])

    def _read(self, model: Model) -> ReadingEstimator:
        """Read a saved estimator; raises ``ValueError`` where the file holds none."""
        if model.card.kind != NAME:
            raise ValueError(
                f"{model.path}: holds no reading estimator; train one with algorithm {NAME}"
            )
        weights = read_weights(model, WEIGHTS)
        return filled(ReadingEstimator, self.layout, weights, model, WEIGHTS)


@lru_cache(maxsize=16)
def _fitted(tier: str, rules: Rules, seed: int, device: str) -> ReadingEstimator:
    """Fit on the train split of a tier, once for all policies of a process that need it."""
    from memenvs.policies.learned.networks.reading_fitting import fit_reader

    return fit_reader(training_batch(tier, rules), seed=seed, device=device)
