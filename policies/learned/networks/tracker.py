"""Follows a batch of streams: adds what was read to their observations, notes what was settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.policies.learned.networks.history import History
from memenvs.policies.learned.networks.settled import Arrays, Listener, Outcome

Told = Callable[[Arrays, Outcome], None]  # an observation, and what was settled in the step after


class Tracker:
    """B episodes that are begun anew in the step that ends them."""

    def __init__(self, layout: Layout, rules: Rules, episodes: int) -> None:
        self._layout, self._rules = layout, rules
        self._history = History(layout, rules.capacity)
        self._listener: tuple[Listener, Told] | None = None
        self._read = self._history.start(episodes)
        self._observation: Arrays = {}

    def tell(self, told: Told) -> None:
        """Let ``told`` hear of every step; raises ``ValueError`` where nothing is to be heard."""
        known = self._listener[0] if self._listener else Listener(self._layout, self._rules)
        self._listener = known, told

    def begin(self, observation: Arrays) -> Arrays:
        """Give the first observations of all episodes with their ``history`` ``(B, E, width)``."""
        fresh = self._history.start(len(observation["context"]))
        self._read = self._history.enter(fresh, observation)
        self._observation = {**observation, "history": self._read.claims}
        return self._observation

    def follow(self, observation: Arrays, finals: Mapping[int, dict[str, Any]]) -> Arrays:
        """Give the observations after a step; ``finals`` are the last ones of episodes that ended.

        These get their ``history`` in place.
        """
        shown = observation
        if finals:
            shown = {name: array.copy() for name, array in observation.items()}
            for i, final in finals.items():
                for name, array in final.items():
                    shown[name][i] = array
        read = self._history.enter(self._read, shown)
        if self._listener is not None:
            listener, told = self._listener
            before = self._observation, self._read
            told(self._observation, listener.hear(before, (shown, read)))
        if finals:
            ended = np.zeros(len(read.size), dtype=bool)
            for i, final in finals.items():
                final["history"] = read.claims[i]
                ended[i] = True
            fresh = self._history.enter(self._history.start(len(ended)), observation)
            read = History.merge(read, fresh, ended)
        self._read = read
        self._observation = {**observation, "history": read.claims}
        return self._observation
