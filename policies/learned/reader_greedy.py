"""Acts greedily on a reading estimator: what the reader will find in the memory, and if it pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.base import Observation, Policy, State
from memenvs.policies.expected_reading import reading_losses
from memenvs.policies.learned.networks.asked import Asked, Questions
from memenvs.policies.learned.networks.history import NO_CLAIM, History, Read
from memenvs.policies.learned.networks.reading import ReadingEstimator, told_of
from memenvs.policies.rules.rule import as_priority

READ = len(Read._fields)  # arrays of a state that hold what was read
SHOWN = ("memory", "claim", "context", "history", "asked", "known")  # what an estimator sees
TO_COME = 20.0  # queries that the typical ones of training count for, beside those settled


class ReaderGreedy(Policy):
    """Give up the claim without which the reader is expected to find most.

    What a memory is worth is the chance that what is read of it pays, for the queries that were
    settled and for typical ones of training. A claim that outranks better ones is worth less than
    nothing, and goes first. The state is what was read and asked in the episode. Several estimators
    are averaged. Raises ``ValueError`` where settlements do not say what was named of what was
    read.
    """

    def __init__(
        self, env: Any, seed: int = 0, estimators: Sequence[ReadingEstimator] = ()
    ) -> None:
        super().__init__(env, seed)
        self._history = History(self.layout, self.rules.capacity)
        self.questions = Questions(self.layout, self.rules)
        self._valid = self.layout.index("valid", "claim")
        self.use(estimators)

    def use(self, estimators: Sequence[ReadingEstimator]) -> None:
        """Act on these from now on."""
        self._estimators = list(estimators)
        for each in self._estimators:
            each.eval()

    def start(self, episodes: IntArray) -> State:
        """Begin without having read or been asked anything."""
        size = len(episodes)
        return (*self._history.start(size), *self.questions.start(size))

    def follow(self, observation: Observation, state: State) -> tuple[Observation, State]:
        """Enter what is shown; gives the observation with what was read and asked beside it."""
        before, asked = Read(*state[:READ]), Asked(*state[READ:])
        read = self._history.enter(before, observation)
        asked = self.questions.enter(asked, before, read, observation)
        arriving = observation["claim"][:, self._valid] == 1
        places = np.append(read.slots, np.where(arriving, read.size - 1, NO_CLAIM)[:, None], axis=1)
        row = np.arange(len(places))[:, None]
        known = asked.known[row, places] * (places != NO_CLAIM)[..., None]
        seen = {
            **observation,
            "history": read.claims,
            "places": places,
            "asked": asked.vectors,
            "known": known,
            "settled": asked.size,
        }
        return seen, (*read, *asked)

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Enter what is shown, and decide."""
        seen, state = self.follow(observation, state)
        return self.decide(seen, masks), state

    def decide(self, observation: Observation, masks: NDArray[np.bool_]) -> NDArray[Any]:
        """Write where the reader then finds most, or pass; priorities are what it would lose."""
        lost = self.losses(observation)
        if self.rules.action == "priority":
            return as_priority(lost[:, -1])
        slots = self.actions.slots
        stored = observation["memory"][..., self._valid] == 1
        legal = masks[:, 1 : 1 + slots]
        # A free slot gives up nothing.
        without = np.where(legal, np.where(stored, lost[:, :-1], 0.0), np.inf)
        place = without.argmin(axis=1)
        row = np.arange(len(place))
        write = np.isfinite(without[row, place]) & (lost[:, -1] > without[row, place])
        return np.where(write, 1 + place, self.actions.PASS)

    def losses(self, seen: Observation) -> FloatArray:
        """Value that slots and the arriving claim together lose without each: ``(B, S + 1)``."""
        found = [self._losses(each, seen) for each in self._estimators]
        return np.asarray(np.mean(found, axis=0))

    def _losses(self, estimator: ReadingEstimator, seen: Observation) -> FloatArray:
        tensors = {name: torch.as_tensor(seen[name], device=estimator.device) for name in SHOWN}
        last = int(seen["settled"].max(initial=0))
        asked = tensors["asked"] = tensors["asked"][:, :last]
        tensors["known"] = tensors["known"][..., :last]
        typical = estimator.typical.expand(len(asked), -1, -1)
        queries = torch.cat([asked, typical], dim=1)
        with torch.no_grad():
            true, answers, similarity = estimator(tensors, queries)
            told = told_of(tensors["known"], asked, queries)
            answers = torch.where(told == 0, torch.sigmoid(answers), (told > 0).float())
        weight = np.ones(queries.shape[:2])
        weight[:, : asked.shape[1]] = np.arange(asked.shape[1]) < seen["settled"][:, None]
        weight[:, asked.shape[1] :] = TO_COME / typical.shape[1]
        weight /= weight.sum(axis=1, keepdims=True)
        return reading_losses(
            similarity.double().cpu().numpy(),
            answers.double().cpu().numpy(),
            torch.sigmoid(true).double().cpu().numpy(),
            weight,
            seen["places"] != NO_CLAIM,
            utility=self.rules.utility,
            k=self.questions.k,
        )
