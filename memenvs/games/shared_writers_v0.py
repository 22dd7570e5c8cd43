"""Shared writers, version 0: ``env``, ``parallel_env`` and the native batch ``vector_env``."""

from __future__ import annotations

from typing import Any

from memenvs.games.parallel import forms
from memenvs.games.shared_writers import SharedWriters

NAME = "shared_writers_v0"


def vector_env(
    material: Any = "hidden", *, capacity: int = 6, every: int | None = 2, **settings: Any
) -> SharedWriters:
    """Make B episodes that are stepped together; ``SharedWriters`` says what the settings are."""
    return SharedWriters(material, capacity=capacity, every=every, **settings)


parallel_env, raw_env = forms(NAME, vector_env)
env = raw_env
