"""Privileged shaping by the utility difference of each write on sampled queries."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from memenvs.counter import uniforms
from memenvs.envs.memorization.episode import Episode
from memenvs.material.incidence import BoolArray
from memenvs.wrappers.difference import DifferenceShaping

STREAM = 0x5A  # of the episode's random numbers, apart from those that the episode draws itself


class SampledDifferenceShaping(DifferenceShaping):
    """Add the utility difference of each write on ``queries`` fresh queries drawn from p_D.

    The same queries are answered from the memory before and after the write, so that in the mean
    it is the exact difference: (1/n) Σ [answered after] - [answered before]. Where a single query
    is known beforehand it is that query. The episode's own draws stay as they are. PRIVILEGED: it
    asks queries that the environment has not disclosed, and tells by truth how they would settle.
    """

    def __init__(self, env: gym.Env[Any, Any], queries: int = 20, weight: float = 1.0) -> None:
        if queries < 1:
            raise ValueError(f"queries={queries!r} is not a positive integer")
        super().__init__(env, weight, queries=queries)
        self.queries = queries

    def difference(self, episode: Episode, before: BoolArray, after: BoolArray) -> float:
        """Mean difference over the drawn queries."""
        if episode.known_query is not None:
            drawn = [episode.known_query]
        else:
            start = episode.decision * self.queries
            numbers = np.arange(start, start + self.queries)
            at = uniforms(episode.account.key, STREAM, numbers)
            drawn = np.searchsorted(episode.prepared.cumulative, at, side="right").tolist()
        settle = episode.account.settle
        old, new = (frozenset(np.flatnonzero(memory).tolist()) for memory in (before, after))
        gains = [settle(q, new).answered - settle(q, old).answered for q in drawn]
        return sum(gains) / len(gains)
