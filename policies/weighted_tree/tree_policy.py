"""The weighted tree as a write policy: the S memories of best selection value are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import IntArray
from memenvs.policies.base import Observation, State
from memenvs.policies.rules.rule import Rule
from memenvs.policies.training_materials import tier_of
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.core import TreeCore
from memenvs.policies.weighted_tree.tuned import TABLE, WRITING


class WeightedTreePolicy(Rule):
    """Keep the claims of highest selection value in a weighted tree.

    ``constants`` are by default those tuned for the tier.
    """

    def __init__(self, env: Any, seed: int = 0, *, constants: Constants | None = None) -> None:
        super().__init__(env, seed)
        tier = tier_of(env)
        chosen = constants or TABLE.get(tier.name if tier else "", WRITING)
        self.core = TreeCore(self.layout, self.rules, chosen)

    def start(self, episodes: IntArray) -> State:
        """Give empty trees."""
        return self.core.start(len(episodes))

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Fill the free slots, then replace what is worth less than the considered claim.

        What is of an obsolete branch is not written, makes way first, and is cleared in passing
        where slots can be cleared.
        """
        advice, state = self.core.observe(observation, state)
        actions, _ = super().act(observation | {"worth": advice.value}, masks, state)
        if self.rules.action == "priority":
            return actions, state
        reading = observation["claim"][:, self.layout.index("valid")] == 1
        actions = np.where(advice.obsolete[:, -1], self.actions.PASS, actions)
        if self.actions.clears:
            first = self.actions.first_clear
            stale = advice.obsolete[:, :-1] & masks[:, first : first + self.actions.slots]
            idle = reading & (actions == self.actions.PASS) & stale.any(axis=1)
            actions = np.where(idle, first + stale.argmax(axis=1), actions)
        return actions, state

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Find what the tree says of these rows."""
        if rows is observation.get("claims"):
            return self.core.relevance(rows, observation)
        worth = observation["worth"]
        return worth[:, :-1] if rows is observation["memory"] else worth[:, -1:]
