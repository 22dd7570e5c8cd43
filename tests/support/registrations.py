"""Forgets what a test registers."""

from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium as gym

from memenvs.envs import registry
from memenvs.materials import library


@contextmanager
def forgotten() -> Iterator[None]:
    """Give every table of registrations back as it was."""
    tables = (registry._rows, library._REGISTERED, gym.registry)
    before = [dict(table) for table in tables]
    yield
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)
