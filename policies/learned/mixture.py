"""Several policies as one: each plays its share of the episodes of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.policies.predictor import Observation, Predictor, State


class Mixture:
    """Row i of a batch is played by member i mod K; a predictor as policies are, of batches alone.

    The state holds one of each member. Members beyond the rows never play.
    """

    def __init__(self, members: Sequence[Predictor]) -> None:
        self.members = tuple(members)

    def predict(
        self,
        observation: Observation,
        state: tuple[State | None, ...] | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[Any], tuple[State | None, ...]]:
        """Give an action for each row of a batch, and the next state."""
        count = len(self.members)
        before = state or (None,) * count
        following = list(before)
        actions: NDArray[Any] | None = None
        for k, member in enumerate(self.members[: len(observation["context"])]):
            rows = slice(k, None, count)
            chosen, following[k] = member.predict(
                {name: array[rows] for name, array in observation.items()},
                before[k],
                None if episode_start is None else episode_start[rows],
                deterministic,
                None if action_masks is None else action_masks[rows],
            )
            if actions is None:
                actions = np.zeros((len(observation["context"]), *chosen.shape[1:]), chosen.dtype)
            actions[rows] = chosen
        assert actions is not None
        return actions, tuple(following)

    def anew(self, seed: int) -> Mixture:
        """Give one whose members play as if they were just built, with another seed."""
        return Mixture([member.anew(seed) for member in self.members])
