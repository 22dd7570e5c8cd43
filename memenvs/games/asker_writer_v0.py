"""Asker and writer, version 0: ``env``, ``parallel_env`` and the native batch ``vector_env``."""

from __future__ import annotations

from typing import Any

from memenvs.games.asker import AskerWriter
from memenvs.games.parallel import forms

NAME = "asker_writer_v0"


def vector_env(
    material: Any = "hidden", *, capacity: int = 6, every: int | None = 2, **settings: Any
) -> AskerWriter:
    """Make B episodes that are stepped together; ``AskerWriter`` says what the settings are."""
    return AskerWriter(material, capacity=capacity, every=every, **settings)


parallel_env, raw_env = forms(NAME, vector_env)
env = raw_env
