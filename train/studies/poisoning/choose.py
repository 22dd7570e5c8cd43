"""The contexts that a policy of the poisoning environment chooses, prompt by prompt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.poisoning.env import BUDGET
from memenvs.envs.poisoning.layout import MAX_PROMPTS
from memenvs.envs.poisoning.rounds import STOP, Rounds
from memenvs.materials.poisoning import Scenario
from memenvs.materials.poisoning.sets import MAX_ENTRIES
from memenvs.policies.poisoning import CONTEXT_POLICIES


@dataclass(frozen=True)
class Choice:
    """What a policy chose in N scenarios."""

    contexts: NDArray[np.bool_]  # (N, P, E)
    milliseconds: float  # of a prompt


def choose_contexts(name: str, scenarios: Sequence[Scenario], *, budget: int = BUDGET) -> Choice:
    """Let a policy, by its name or the path of a model, choose the contexts of all prompts.

    What it sees does not depend on the reasoner, so that its contexts hold for every seed. Raises
    ``ValueError`` for a name that is neither.
    """
    count = len(scenarios)
    rounds = Rounds("train", budget, 0.0, count)
    policy = load_policy(name, rounds)
    rounds.begin(np.arange(count), np.zeros(count, dtype=np.uint64), scenarios)
    contexts = np.zeros((count, MAX_PROMPTS, MAX_ENTRIES), dtype=bool)
    spent, prompts = 0.0, 0
    while len(rows := np.flatnonzero(~rounds.is_over())):
        observation = rounds.observe()
        begun = time.perf_counter()
        actions, _ = policy.predict(
            observation, deterministic=True, action_masks=observation["action_mask"]
        )
        spent += time.perf_counter() - begun
        closing = rows[actions[rows] == STOP]
        contexts[closing, rounds.prompt[closing]] = rounds.chosen[closing]
        prompts += len(closing)
        rounds.step(rows, actions[rows])
    return Choice(contexts, 1e3 * spent / prompts)


def load_policy(name: str, episodes: Any) -> Any:
    """Build the policy of that name, or load a model; raises ``ValueError``."""
    if name in CONTEXT_POLICIES:
        return CONTEXT_POLICIES[name](episodes)
    from memenvs.train.studies.poisoning.training import load_model

    return load_model(name)
