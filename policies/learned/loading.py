"""Makes policies of saved models, of whatever kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from memenvs.envs.family import MEMORIZATION
from memenvs.envs.memorization.rules import Rules
from memenvs.policies.base import attribute
from memenvs.policies.learned.models import Model, find_models
from memenvs.policies.learned.priority_slots import PrioritySlots
from memenvs.policies.predictor import Predictor, family_of


def load(
    path: str | os.PathLike[str],
    env: Any = None,
    *,
    seed: int = 0,
    device: str = "auto",
    trust: bool = False,
) -> Predictor:
    """Load a trained model as a policy: a run's folder, its ``best_model.zip``, or several seeds.

    Several models of a folder decide together, by their mean probabilities or priorities. Without
    ``env`` the policy is for streams of the rules that the model was trained with. A model that can
    be loaded by its pickles alone is refused, unless it was trained on this machine or ``trust``
    says that whatever they run may run. Raises ``ValueError`` where there is no model, or it does
    not fit the environment. A model without a card plays by ``make``.
    """
    found: Predictor = build(find_models(path, trust=trust), env, seed=seed, device=device)
    return found


def build(models: Sequence[Model], env: Any = None, *, seed: int = 0, device: str = "auto") -> Any:
    """Build one policy of models; without ``env``, for streams by the first one's rules.

    A model that gives priorities also plays where slots are written, unless there is a budget.
    A model of another family than memorization plays by its spaces, each one by itself. Raises
    ``ValueError`` for models of two kinds, and for another environment than they were trained in.
    """
    if not models[0].card.rules:
        return _by_spaces(models, env, seed, device)
    if env is not None and family_of(env) != MEMORIZATION.name:
        raise ValueError(
            f"{models[0].path}: was trained in memorization environments and cannot play in another"
        )
    place = models[0].interface() if env is None else env
    rules: Rules = attribute(place, "rules")
    if models[0].rules.action == "priority" and rules.action == "slots" and rules.budget is None:
        return PrioritySlots(
            place, seed, lambda seen: build(models, seen, seed=seed, device=device)
        )
    kinds = {model.card.kind for model in models}
    if len(kinds) > 1:
        raise ValueError(f"{models[0].path}: one policy cannot be made of {' and '.join(kinds)}")
    if kinds == {"estimator"}:
        from memenvs.policies.learned.estimator import Estimator

        return Estimator(place, seed, models=models, device=device)
    if kinds == {"reader-estimator"}:
        from memenvs.policies.learned.reader_estimator import ReaderEstimator

        return ReaderEstimator(place, seed, models=models, device=device)
    from memenvs.policies.learned.trained import Trained

    return Trained(place, seed, models=models, device=device)


def _by_spaces(models: Sequence[Model], env: Any, seed: int, device: str) -> Predictor:
    """Build a policy of a model that was trained where nothing is remembered by slots."""
    if env is None or len(models) > 1:
        what = "several of its kind play one by one" if env is not None else "name its environment"
        raise ValueError(f"{models[0].path}: was not trained in a memorization environment; {what}")
    from memenvs.policies.learned.without_card import SB3Policy

    return SB3Policy.from_zip(str(models[0].path), env, seed, device, trust=models[0].trust)
