"""Scripted askers: which query an exam setter asks."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.games.asker import WAIT, AskerWriter
from memenvs.policies.base import Observation, Policy, State

Array = NDArray[Any]


class Asker(Policy):
    """Ask the legal query of the highest score ``(B, Q)``; built for a game of ``AskerWriter``."""

    def __init__(self, env: AskerWriter, seed: int = 0) -> None:
        super().__init__(env, seed)
        self.columns = env.queries.columns.slices

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[Array, State]:
        """Ask where something is due."""
        score = np.where(masks[:, 1:], self.score(observation), -np.inf)
        due = masks[:, 1:].any(axis=1)
        return np.where(due, 1 + score.argmax(axis=1), WAIT), state

    @abstractmethod
    def score(self, observation: Observation) -> Array:
        """Worth of asking each query."""

    def column(self, observation: Observation, name: str) -> Array:
        """Take a column of the queries."""
        found: Array = observation["queries"][..., self.columns[name].start].astype(np.float64)
        return found


class Honest(Asker):
    """Leave it to chance: every query is drawn from p_D."""

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[Array, State]:
        """Wait."""
        return np.full(len(masks), WAIT), state

    def score(self, observation: Observation) -> Array:
        """Rank nothing."""
        return np.zeros(observation["queries"].shape[:2])


class Obscure(Asker):
    """Ask in turn for what the stream told least of."""

    def score(self, observation: Observation) -> Array:
        """Rank by how little was told, less for what was asked already."""
        asked = self.column(observation, "answered") + self.column(observation, "missed")
        return np.asarray(-self.column(observation, "told") - 10 * asked)


class Persistent(Asker):
    """Ask again what was missed, else the weightiest query that was not asked yet."""

    def score(self, observation: Observation) -> Array:
        """Rank by misses, then mass, then successes from below."""
        missed, answered = self.column(observation, "missed"), self.column(observation, "answered")
        return np.asarray(10 * missed + self.column(observation, "weight") - 10 * answered)


ASKERS: dict[str, type[Asker]] = {
    "honest": Honest,
    "obscure": Obscure,
    "persistent": Persistent,
}
