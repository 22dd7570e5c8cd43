"""Poisoner and writer, version 0: ``env``, ``parallel_env`` and the native batch ``vector_env``."""

from __future__ import annotations

from typing import Any

from memenvs.games.parallel import forms
from memenvs.games.poison import PoisonerWriter

NAME = "poisoner_writer_v0"


def vector_env(
    material: Any = "hidden", *, capacity: int = 6, every: int | None = 2, **settings: Any
) -> PoisonerWriter:
    """Make B episodes that are stepped together; ``PoisonerWriter`` says what the settings are."""
    return PoisonerWriter(material, capacity=capacity, every=every, **settings)


parallel_env, raw_env = forms(NAME, vector_env)
env = raw_env
