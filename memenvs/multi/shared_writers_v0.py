"""Shared writers, version 0: ``env``, ``parallel_env`` and the native batch ``vector_env``."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils.conversions import parallel_to_aec

from memenvs.multi.parallel import Game
from memenvs.multi.shared_writers import SharedWriters

NAME = "shared_writers_v0"


def vector_env(
    material: Any = "hidden", *, capacity: int = 6, every: int | None = 2, **settings: Any
) -> SharedWriters:
    """Make B episodes that are stepped together; ``SharedWriters`` says what the settings are."""
    return SharedWriters(material, capacity=capacity, every=every, **settings)


def parallel_env(
    *, render_mode: str | None = None, max_cycles: int | None = None, **settings: Any
) -> Game:
    """Make one episode, in which all agents act at once."""
    batch = vector_env(num_envs=1, autoreset=False, max_cycles=max_cycles, **settings)
    return Game(batch, NAME, render_mode)


def raw_env(**settings: Any) -> AECEnv[str, Any, Any]:
    """Make one episode, in which the agents act in turn, on what they saw as the round began."""
    return parallel_to_aec(parallel_env(**settings))


env = raw_env
