"""Choices of a context in the poisoning environment: fixed rules, a fitted one, and an oracle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.family import POISONING
from memenvs.envs.poisoning.compiled import compile_scenario
from memenvs.envs.poisoning.layout import FIXED_COLUMNS, LAYOUT
from memenvs.envs.poisoning.rounds import STOP
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.poisoning import Scenario, Split
from memenvs.materials.poisoning.records import SOURCES
from memenvs.materials.poisoning.sets import MAX_ENTRIES
from memenvs.policies.predictor import Observation, Predictor, State


class ContextPolicy(Predictor):
    """Picks entries by a score until none is worth it, without a state."""

    family: ClassVar[str] = POISONING.name

    def __init__(self, env: Any = None, seed: int = 0) -> None:
        super().__init__(env, seed)
        self.env = env

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[np.int64], State]:
        """Pick the entry of highest worth, or end the prompt."""
        worth = np.where(masks[:, 1:], self.worth(observation), -np.inf)
        picked = 1 + worth.argmax(axis=1)
        return np.where(worth.max(axis=1) > 0, picked, STOP), state

    @abstractmethod
    def worth(self, observation: Observation) -> FloatArray:
        """Worth of each entry ``(B, E)``; what is not above 0 stays out."""


def column(observation: Observation, name: str) -> FloatArray:
    """Give a column of the entries: ``(B, E)``."""
    return np.asarray(observation["entries"][..., LAYOUT.index(name)], dtype=np.float64)


def _empty(observation: Observation) -> BoolArray:
    """Say which contexts hold nothing yet: ``(B, 1)``."""
    return np.asarray(column(observation, "chosen").sum(axis=1, keepdims=True) == 0)


class Recent(ContextPolicy):
    """The latest entries, as many as the budget holds."""

    def worth(self, observation: Observation) -> FloatArray:
        """The later, the better."""
        return np.asarray(2.0 - column(observation, "age"))


class Relevant(ContextPolicy):
    """The entries most similar to the question, as many as the budget holds."""

    def worth(self, observation: Observation) -> FloatArray:
        """The more similar, the better."""
        return 2.0 + column(observation, "relevance")


class Logistic(ContextPolicy):
    """One entry a prompt: the likeliest to be true, by a logistic regression on what is observed.

    It is fitted on scenarios of the split ``"train"``: entries that answer a critical question,
    true or false.
    """

    def __init__(self, env: Any = None, seed: int = 0) -> None:
        super().__init__(env, seed)
        self.weights = fitted()

    def worth(self, observation: Observation) -> FloatArray:
        """Probability of truth, for entries that answer, while the context is empty."""
        features = observation["entries"][..., : len(FIXED_COLUMNS)].astype(np.float64)
        probability = 1.0 / (1.0 + np.exp(-(features @ self.weights[:-1] + self.weights[-1])))
        return np.asarray(probability * column(observation, "answers") * _empty(observation))


class Vote(ContextPolicy):
    """One entry a prompt: the most similar one of those that give the most frequent answer."""

    def worth(self, observation: Observation) -> FloatArray:
        """Entries that agree, while the context is empty; relevance parts equal ones."""
        support = 1.0 + column(observation, "agreeing")
        close = 0.01 * column(observation, "relevance")  # less than an entry more
        return (support + close) * column(observation, "answers") * _empty(observation)


class TrustedSource(ContextPolicy):
    """One entry a prompt: of the kind of source that told the truth most often in training.

    Of equal ones it is the most similar to the question.
    """

    def __init__(self, env: Any = None, seed: int = 0) -> None:
        super().__init__(env, seed)
        self.trust = source_trust()

    def worth(self, observation: Observation) -> FloatArray:
        """The trust of its source, for entries that answer, while the context is empty."""
        named = [LAYOUT.index(source) for source in SOURCES]
        trust = observation["entries"][..., named].astype(np.float64) @ self.trust
        close = 0.01 * column(observation, "relevance")
        return (trust + close) * column(observation, "answers") * _empty(observation)


class LastUsed(ContextPolicy):
    """The entries that were last recorded, or last asked for, as many as the budget holds."""

    def start(self, episodes: IntArray) -> State:
        """Count the prompts so far ``(B,)``, and say when each was last used ``(B, E)``."""
        return np.zeros(len(episodes)), np.zeros((len(episodes), MAX_ENTRIES))

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[np.int64], State]:
        """Pick the entry that was used last; an entry is used when its question is asked."""
        prompts, used = state
        begins = _empty(observation)
        valid, asked = column(observation, "valid"), column(observation, "answers")
        new = (used == 0) & (valid > 0) | (asked > 0) & begins
        used = np.where(new, prompts[:, None] + 1.0, used)
        actions, _ = super().act(observation | {"used": used}, masks, state)
        return actions, (prompts + (actions == STOP), used)

    def worth(self, observation: Observation) -> FloatArray:
        """When it was last used; of equal ones the one recorded last."""
        return observation["used"] + 0.1 - 0.1 * column(observation, "age")


class Oracle(ContextPolicy):
    """One entry that answers truly, of those recorded as a success if there is one."""

    privileged = True

    def worth(self, observation: Observation) -> FloatArray:
        """What is true of the episodes at hand."""
        inner = getattr(self.env, "unwrapped", self.env)
        right = np.atleast_2d(inner.true_answers())
        return np.asarray(right * (1.0 + column(observation, "success")) * _empty(observation))


FIT_SETS = 800  # scenarios of the training split
RIDGE = 1.0
NEWTON = 25  # steps, far more than are needed


@lru_cache(maxsize=1)
def fitted() -> FloatArray:
    """Fit the logistic regression: weights of the columns, then the intercept."""
    features, truth = answering(Split("train")[:FIT_SETS])
    return logistic_fit(features, truth)


@lru_cache(maxsize=1)
def source_trust() -> FloatArray:
    """Give the share of true answers of each kind of source, in training: ``(5,)``."""
    features, truth = answering(Split("train")[:FIT_SETS])
    named = features[:, [LAYOUT.index(source) for source in SOURCES]]
    return np.asarray(named.T @ truth / named.sum(axis=0))


def answering(scenarios: Sequence[Scenario]) -> tuple[FloatArray, BoolArray]:
    """Give the columns of entries that answer a critical question ``(n, F)``, and their truth."""
    rows, truth = [], []
    for scenario in scenarios:
        compiled = compile_scenario(scenario)
        prompt, entry = np.nonzero(compiled.offers & compiled.recorded & compiled.critical[:, None])
        rows.append(compiled.fixed[prompt, entry])
        truth.append(compiled.right[prompt, entry])
    return np.concatenate(rows).astype(np.float64), np.concatenate(truth)


def logistic_fit(features: FloatArray, truth: BoolArray, ridge: float = RIDGE) -> FloatArray:
    """Fit by Newton's method, with a ridge on all weights but the intercept: ``(F + 1,)``."""
    design = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 0.0
    weights = np.zeros(design.shape[1])
    for _ in range(NEWTON):
        probability = 1.0 / (1.0 + np.exp(-(design @ weights)))
        gradient = design.T @ (probability - truth) + penalty * weights
        spread = probability * (1.0 - probability)
        curvature = (design * spread[:, None]).T @ design + np.diag(penalty)
        weights -= np.linalg.solve(curvature + 1e-9 * np.eye(len(weights)), gradient)
    return weights


CONTEXT_POLICIES: dict[str, type[ContextPolicy]] = {
    "recent": Recent,
    "relevant": Relevant,
    "last-used": LastUsed,
    "vote": Vote,
    "trusted-source": TrustedSource,
    "logistic": Logistic,
    "oracle": Oracle,
}
