"""The registered environments, grouped into the families that have a page each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from generator.markdown import words
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.table import ENTRY_POINT, TABLE, EnvRow

LEVEL_PAGES = {"0": "single-query", "1a": "known-queries", "1b": "disclosed-queries"}


@dataclass(frozen=True)
class Registered:
    """A row of the table, and the environment that it makes."""

    row: EnvRow
    env: MemorizationEnv

    @property
    def arrays(self) -> dict[str, spaces.Space[Any]]:
        """Spaces of the observation by name."""
        space = self.env.observation_space
        assert isinstance(space, spaces.Dict)
        return dict(space.spaces)

    @property
    def name(self) -> str:
        """The id in short."""
        return self.row.id.removeprefix("memenvs/")


def find_families() -> dict[str, list[Registered]]:
    """Group the table's rows, in the order of docs/words.yaml; raises ``LookupError``."""
    found: dict[str, list[Registered]] = {}
    for row in TABLE:
        if row.entry_point != ENTRY_POINT:
            continue  # it stands on a page of its own kind
        env = gym.make(row.id).unwrapped
        assert isinstance(env, MemorizationEnv), f"{row.id}: say here how to document it"
        found.setdefault(family_of(row), []).append(Registered(row, env))
    described = words()["families"]
    for family in found:
        if family not in described:
            raise LookupError(f"docs/words.yaml does not describe the family '{family}'; add it")
    return {family: found[family] for family in described if family in found}


def family_of(row: EnvRow) -> str:
    """Name the page on which an environment stands: its tier's, or its level's."""
    if "odyssey" in row.tags:
        return "odyssey"
    if "scenario" in row.tags:
        return "scenarios"
    if row.level == "2":
        return re.sub(r"-\d+$", "", str(row.kwargs["material"]))
    return LEVEL_PAGES.get(row.level, row.level)
