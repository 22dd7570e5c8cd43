"""Rules that judge the stored claims and the considered one together, and carry what they heard."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.base import Observation, State
from memenvs.policies.rules.rule import Rule


class Candidates:
    """The S slots and then the considered claim, of each of B episodes, by named columns."""

    def __init__(self, rule: Rule, observation: Observation) -> None:
        width = rule.layout.claim.width
        self._layout = rule.layout
        self.rows: NDArray[Any] = np.concatenate(  # (B, S + 1, width)
            [observation["memory"][..., :width], observation["claim"][:, None]], axis=1
        )
        self.valid: BoolArray = self.column("valid") == 1  # (B, S + 1)
        # Number of each claim's source, -1 where it names none and where there is no claim.
        self.source: IntArray = np.where(self.valid, self.column("source"), -1).astype(np.int64)

    def column(self, name: str) -> FloatArray:
        """Give one column ``(B, S + 1)``."""
        return np.asarray(self.rows[..., self._layout.index(name)], dtype=np.float64)

    @property
    def embedding(self) -> FloatArray:
        """Unit vectors ``(B, S + 1, d)``; zero where there is no claim."""
        return np.asarray(self.rows[..., self._layout.slice("embedding")], dtype=np.float64)


def scheduled(rules: Rules, layout: Layout) -> int:
    """Queries settled in an episode over a material of the largest size."""
    return rules.total(rules.length(layout.limits.claims))


class Judgement(NamedTuple):
    """What a rule makes of an observation."""

    worth: FloatArray  # (B, S + 1) of keeping each slot's claim, and the considered one
    order: FloatArray | None  # (B, E) in which a pool is considered
    state: State


class JointRule(Rule):
    """Give up the least of the stored claims and the considered one, judged together."""

    @abstractmethod
    def judge(self, observation: Observation, state: State) -> Judgement:
        """Say what each claim is worth beside the others, and what to remember."""

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Fill the free slots, then replace what is worth less than the considered claim."""
        judged = self.judge(observation, state)
        seen = observation | {"worth": judged.worth}
        if judged.order is not None:
            seen["order"] = judged.order
        actions, _ = super().act(seen, masks, state)
        return actions, judged.state

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Find what was judged of these rows."""
        if rows is observation.get("claims"):
            return observation["order"]
        worth = observation["worth"]
        return worth[:, :-1] if rows is observation["memory"] else worth[:, -1:]
