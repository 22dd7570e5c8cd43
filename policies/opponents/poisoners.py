"""Scripted poisoners: who attacks which query, as which source, how confidently and when."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.counter import uniforms
from memenvs.games.poison import WAIT, PoisonerWriter
from memenvs.games.poison_targets import LEVELS
from memenvs.policies.base import Chance, Observation, Policy, State

LOW, MIDDLE, HIGH = range(len(LEVELS))
LATE = 0.25  # share of the claims that are still to be read

Array = NDArray[Any]


class Poisoner(Chance, Policy):
    """Attack by three scores where it is time; built for a game of ``PoisonerWriter``.

    Scores are of observations alone: ``(B, Q)`` of queries and ``(B, sources)`` of sources; ties go
    to the first. ``level`` is how confident the false claims sound.
    """

    level = HIGH

    def __init__(self, env: PoisonerWriter, seed: int = 0) -> None:
        super().__init__(env, seed)
        self.game = env

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[Array, State]:
        """Attack the best query as the best source, where that is legal and the time has come."""
        keys, steps = state
        query = np.where(self._queries(observation, "valid") > 0, self.queries(observation), -1e9)
        spoken = self._sources(observation, "valid") > 0
        source = np.where(spoken, self.sources(observation), -1e9)
        action = self.game.attack(query.argmax(axis=1), source.argmax(axis=1), self.level)
        going = self.due(observation) & spoken.any(axis=1)
        going &= masks[np.arange(len(action)), action]
        return np.where(going, action, WAIT), (keys, steps + 1)

    @abstractmethod
    def queries(self, observation: Observation) -> Array:
        """Worth of attacking each query."""

    def sources(self, observation: Observation) -> Array:
        """Worth of imitating each source: how far its settled successes outnumber its failures."""
        return self._sources(observation, "credits") - self._sources(observation, "debits")

    def due(self, observation: Observation) -> NDArray[np.bool_]:
        """Whether it is time: attacks are spread evenly over the stream."""
        ahead = self._context(observation, "budget_left") >= self._context(
            observation, "reading_left"
        )
        return np.asarray(ahead)

    def _queries(self, observation: Observation, name: str) -> Array:
        column = self.game.queries.columns.slices[name].start
        return np.asarray(observation["queries"][..., column], dtype=np.float64)

    def _sources(self, observation: Observation, name: str) -> Array:
        column = self.game.source_columns.slices[name].start
        return np.asarray(observation["sources"][..., column], dtype=np.float64)

    def _context(self, observation: Observation, name: str) -> Array:
        column = self.game.context_columns.slices[name].start
        return np.asarray(observation["context"][..., column], dtype=np.float64)


class Wait(Poisoner):
    """Never attack: what a writer reaches without an opponent."""

    def queries(self, observation: Observation) -> Array:
        """Rank nothing."""
        return np.zeros(observation["queries"].shape[:2])

    def due(self, observation: Observation) -> NDArray[np.bool_]:
        """Say never."""
        return np.zeros(len(observation["context"]), dtype=bool)


class AtRandom(Poisoner):
    """Attack any query as any source at any time, until the budget is spent."""

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[Array, State]:
        """Draw among the legal actions, in proportion to the time that is left."""
        keys, steps = state
        draws = uniforms(
            keys[:, None], 1, steps[:, None] * masks.shape[1] + np.arange(masks.shape[1])
        )
        attack = np.where(masks[:, 1:], draws[:, 1:], -1.0).argmax(axis=1) + 1
        now = self.due(observation) & masks[:, 1:].any(axis=1) & (draws[:, 0] < 0.5)
        return np.where(now, attack, WAIT), (keys, steps + 1)

    def queries(self, observation: Observation) -> Array:
        """Rank nothing."""
        return np.zeros(observation["queries"].shape[:2])


class Repeat(Poisoner):
    """Repeat one lie about the weightiest query, as soon as anyone has spoken."""

    def queries(self, observation: Observation) -> Array:
        """Rank by mass."""
        return self._queries(observation, "weight")

    def due(self, observation: Observation) -> NDArray[np.bool_]:
        """Say always."""
        return np.ones(len(observation["context"]), dtype=bool)


class Imitate(Poisoner):
    """Speak as the most trusted source, of weighty queries that were told of least."""

    def queries(self, observation: Observation) -> Array:
        """Rank by mass, less for what was told already and what is missed anyway."""
        told, missed = self._queries(observation, "told"), self._queries(observation, "missed")
        return np.asarray(self._queries(observation, "weight") * (1 - told) - missed)


class Late(Poisoner):
    """Wait until the stream is nearly over, then attack what has been answered."""

    def queries(self, observation: Observation) -> Array:
        """Rank by mass and successes."""
        answered = self._queries(observation, "answered")
        return np.asarray(self._queries(observation, "weight") * (1 + answered))

    def due(self, observation: Observation) -> NDArray[np.bool_]:
        """Say when little is left."""
        return np.asarray(self._context(observation, "reading_left") <= LATE)


class Contradict(Poisoner):
    """Contradict, in a sober tone, what the memory answers rightly most often."""

    level = MIDDLE

    def queries(self, observation: Observation) -> Array:
        """Rank by successes, then by mass."""
        answered = self._queries(observation, "answered")
        return answered + 1e-3 * self._queries(observation, "weight")


POISONERS: dict[str, type[Poisoner]] = {
    "wait": Wait,
    "random": AtRandom,
    "repeat": Repeat,
    "imitate": Imitate,
    "late": Late,
    "contradict": Contradict,
}
