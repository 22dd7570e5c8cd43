"""Makes policies of saved models, of whatever kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from memenvs.envs.memorization.rules import Rules
from memenvs.policies.base import Policy, attribute
from memenvs.policies.learned.models import Model, find_models
from memenvs.policies.learned.priority_slots import PrioritySlots


def load(
    path: str | os.PathLike[str], env: Any = None, *, seed: int = 0, device: str = "auto"
) -> Policy:
    """Load a trained model as a policy: a run's folder, its ``best_model.zip``, or several seeds.

    Several models of a folder decide together, by their mean probabilities or priorities. Without
    ``env`` the policy is for streams of the rules that the model was trained with. Model files hold
    pickles: load only what you trust. Raises ``ValueError`` where there is no model, or it does not
    fit the environment. A model without a card plays by ``make``.
    """
    return build(find_models(path), env, seed=seed, device=device)


def build(
    models: Sequence[Model], env: Any = None, *, seed: int = 0, device: str = "auto"
) -> Policy:
    """Build one policy of models; without ``env``, for streams by the first one's rules.

    A model that gives priorities also plays where slots are written, unless there is a budget.
    Raises ``ValueError`` for models of two kinds.
    """
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
    from memenvs.policies.learned.trained import Trained

    return Trained(place, seed, models=models, device=device)
