"""The pages of environments of another kind than memorization, made from their classes."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from generator.environments import arguments
from generator.markdown import docstring, table, words
from memenvs.envs.memorization.layout import Columns
from memenvs.envs.table import ENTRY_POINT, TABLE, EnvRow


def find_others() -> dict[str, list[EnvRow]]:
    """Group the rows of other environments by their first tag, which names the page."""
    found: dict[str, list[EnvRow]] = {}
    for row in TABLE:
        if row.entry_point != ENTRY_POINT:
            found.setdefault(row.tags[0], []).append(row)
    return found


def other_title(tag: str) -> str:
    """Title of a page."""
    title: str = words().get("others", {}).get(tag, {}).get("title", tag.capitalize())
    return title


def other_page(tag: str, rows: list[EnvRow]) -> str:
    """Document the environments of one tag; a batch marks those that can be made here."""
    first = next(row for row in rows if row.vector_entry_point)
    env: Any = gym.make(first.id).unwrapped
    summary, parameters, rest = docstring(type(env))
    listed = [[f"`{row.id}`", f"`{arguments(row)}`", ", ".join(row.tags)] for row in rows]
    text = words().get("others", {}).get(tag, {}).get("text", "").strip()
    parts = [f"# {other_title(tag)}", text, summary, table(("id", "arguments", "tags"), listed)]
    parts += ["## Parameters", table(("parameter", "meaning"), _cells(parameters)), rest]
    parts += ["## Observation", _arrays(env.observation_space), *_columns(env)]
    parts += ["## Example", _example(first)]
    return "\n\n".join(part for part in parts if part)


def _cells(parameters: dict[str, str]) -> list[list[str]]:
    return [[f"`{name}`", meaning] for name, meaning in parameters.items()]


def _arrays(space: Any) -> str:
    """Tabulate the arrays of an observation."""
    assert isinstance(space, spaces.Dict)
    rows = [[f"`{name}`", f"`{array.shape}`"] for name, array in space.items()]
    return table(("array", "shape"), rows)


def _columns(env: Any) -> list[str]:
    """Tabulate the columns that a layout names and its module describes, if it does."""
    described: dict[str, Any] = getattr(getattr(env, "layout", None), "described", {})
    parts = []
    for array, columns in described.items():
        found = getattr(env.layout, array)
        assert isinstance(found, Columns)
        assert list(found.slices) == list(columns), f"{array}: describe each column"
        rows = [[f"`{name}`", column.meaning] for name, column in columns.items()]
        parts += [f"### Columns of `{array}`", table(("column", "meaning"), rows)]
    for array, sized in getattr(env, "described", {}).items():
        rows = [[f"`{name}`", str(size), meaning] for name, (size, meaning) in sized.items()]
        parts += [f"### Columns of `{array}`", table(("column", "numbers", "meaning"), rows)]
    return parts


def _example(row: EnvRow) -> str:
    """Write a program that plays an episode by chance."""
    return f'''```python
import gymnasium as gym
import memenvs

env = gym.make("{row.id}")
observation, info = env.reset(seed=0)
over = False
while not over:
    action = env.action_space.sample(mask=info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)
    over = terminated or truncated
```'''
