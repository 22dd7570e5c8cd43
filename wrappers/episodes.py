"""What wrappers read of a running episode, behind the agent's back."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from memenvs.envs.memorization.episode import Episode
from memenvs.material.incidence import BoolArray, FloatArray


def check_memorization(env: gym.Env[Any, Any], wrapper: str) -> None:
    """Raise ``TypeError`` unless ``env`` is a memorization environment, wrapped or not."""
    if not hasattr(env.unwrapped, "episode"):
        raise TypeError(f"{wrapper} needs a memorization environment, not {env}")


def episode_of(env: gym.Env[Any, Any]) -> Episode:
    """Give the running episode; raises ``RuntimeError`` before the first reset."""
    episode: Episode | None = env.unwrapped.episode  # type: ignore[attr-defined]
    if episode is None:
        raise RuntimeError("no episode has begun; call reset()")
    return episode


def expected_utilities(episode: Episode, memories: BoolArray) -> FloatArray:
    """Utility of memories ``(B, n_claims)`` under truth and p_D, as the episode pays it: ``(B,)``.

    Where a single query is known beforehand (level 0) all mass is on that query.
    """
    if episode.known_query is not None:
        query = episode.known_query
        stored = [frozenset(np.flatnonzero(memory).tolist()) for memory in memories]
        return np.array([float(episode.account.settle(query, each).answered) for each in stored])
    material, utility = episode.prepared.material, episode.rules.utility
    if utility == "coverage":
        return np.asarray(material.coverage(memories))
    if utility == "precision":
        return np.asarray(material.precision(memories))
    return np.asarray(material.end_to_end(memories))
