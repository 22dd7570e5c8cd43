"""The contexts that a policy of the poisoning environment chooses, prompt by prompt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.poisoning.layout import LAYOUT, MAX_PROMPTS
from memenvs.envs.poisoning.poisoning_env import BUDGET
from memenvs.envs.poisoning.rounds import STOP, Rounds
from memenvs.materials.poisoning import Scenario
from memenvs.materials.poisoning.sets import MAX_ENTRIES
from memenvs.policies.learned.models import Model, find_models
from memenvs.policies.poisoning import CONTEXT_POLICIES


@dataclass(frozen=True)
class Choice:
    """What a policy chose in N scenarios."""

    contexts: NDArray[np.bool_]  # (N, P, E)
    milliseconds: float  # of a prompt


def choose_contexts(name: str, scenarios: Sequence[Scenario], *, budget: int = BUDGET) -> Choice:
    """Let a policy, by its name or the folder of a run, choose the contexts of all prompts.

    What it sees does not depend on the reasoner, so that its contexts hold for every seed. Raises
    ``ValueError`` for a name that is neither.
    """
    count = len(scenarios)
    rounds = Rounds("train", budget, 0.0, count)
    policy = load_policy(name, rounds)
    rounds.begin(np.arange(count), np.zeros(count, dtype=np.uint64), scenarios)
    contexts = np.zeros((count, MAX_PROMPTS, MAX_ENTRIES), dtype=bool)
    spent, prompts, state = 0.0, 0, None
    while len(rows := np.flatnonzero(~rounds.is_over())):
        observation = rounds.observe()
        begun = time.perf_counter()
        actions, state = policy.predict(
            observation, state, deterministic=True, action_masks=observation["action_mask"]
        )
        spent += time.perf_counter() - begun
        closing = rows[actions[rows] == STOP]
        contexts[closing, rounds.prompt[closing]] = rounds.chosen[closing]
        prompts += len(closing)
        rounds.step(rows, actions[rows])
    return Choice(contexts, 1e3 * spent / prompts)


def load_policy(name: str, episodes: Any) -> Any:
    """Build the policy of that name, or load the model of a run; raises ``ValueError``."""
    if name in CONTEXT_POLICIES:
        return CONTEXT_POLICIES[name](episodes)
    if not Path(name).exists():
        known = ", ".join(CONTEXT_POLICIES)
        raise ValueError(
            f"'{name}' is no policy ({known}), no configuration of the tree, and no folder or file "
            "of a trained model"
        )
    return _trained(find_models(name))


class Trained:
    """A model as a policy of the poisoning environment."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def predict(
        self,
        observation: dict[str, NDArray[Any]],
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
        action_masks: Any = None,
    ) -> tuple[NDArray[Any], Any]:
        """Give the best legal action for each of a batch of observations."""
        from memenvs.train.learn.validation import act

        begun = np.zeros(len(observation["context"]), dtype=bool)
        return act(self._model, observation, state, begun, action_masks.astype(bool))


def _trained(models: Sequence[Model]) -> Trained:
    """Load a run's model; raises ``ValueError`` for several, or for one of another environment."""
    if len(models) > 1:
        folders = ", ".join(str(model.path.parent) for model in models)
        raise ValueError(f"one model is one policy; name one of {folders}")
    (model,) = models
    if model.card.columns.get("entries") != list(LAYOUT.entries.slices):
        raise ValueError(f"{model.path}: was trained in another environment than poisoning")
    from memenvs.train.learn.algorithms import ALGORITHMS

    try:
        return Trained(ALGORITHMS[model.card.algorithm].load().load(model.path, device="cpu"))
    except Exception as error:  # torch, cloudpickle and zipfile each have their own
        raise ValueError(f"{model.path}: cannot be loaded as a model: {error!r:.120}") from None
