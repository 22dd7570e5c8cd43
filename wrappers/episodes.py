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
    """Utility of memories ``(B, n_claims)`` by the episode's objective, exactly: ``(B,)``."""
    return np.asarray(episode.account.objective.expected(episode.prepared.material, memories))
