"""A person at an environment that is not of memories: what it shows, what may be done."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from memenvs.envs.family import Family
from memenvs.train.play import masks_of, measured

SHOWN = 40  # numbers of an array that are shown whole


class PlainPlayer:
    """One episode of any environment, decided about by the numbers of actions."""

    def __init__(self, env: gym.Env[Any, Any], seed: int) -> None:
        self.env = env
        self._observation, self._info = env.reset(seed=seed)
        self._over, self._earned, self._steps = False, 0.0, 0

    def is_over(self) -> bool:
        """Whether the episode has ended."""
        return self._over

    def view(self) -> str:
        """Give what the environment renders as text, or what an agent observes."""
        if self.env.render_mode == "ansi":
            return str(self.env.render())
        seen = self._observation
        named = seen.items() if isinstance(seen, dict) else [("observation", seen)]
        return "\n".join(
            f"{name}\n{np.array2string(np.asarray(array), precision=2, threshold=SHOWN)}"
            for name, array in named
            if name != "action_mask"
        )

    def choices(self) -> str:
        """List the legal actions."""
        if not isinstance(self.env.action_space, spaces.Discrete):
            return f"legal\n     an element of {self.env.action_space}, as JSON"
        return f"legal\n     {' '.join(map(str, self._legal()))}"

    def question(self) -> str:
        """Give the prompt."""
        return "action (q to quit)"

    def take(self, answer: str) -> str | None:
        """Take the decision that was typed; gives what is wrong with it, if anything."""
        space = self.env.action_space
        try:
            action: Any = json.loads(answer)
        except ValueError:
            return f"'{answer}' is no number; type one of those listed, or q"
        if isinstance(space, spaces.Discrete):
            if action not in self._legal():
                return f"{answer} is not legal here; type one of those listed, or q"
        else:
            action = np.asarray(action, dtype=space.dtype)
            if not space.contains(action):
                return f"{answer} is no element of {space}"
        self._observation, reward, terminated, truncated, self._info = self.env.step(action)
        self._over, self._steps = terminated or truncated, self._steps + 1
        self._earned += float(reward)
        return None

    def hint(self) -> str:
        """Say that there is none."""
        return "what is best is not known in this environment"

    def summary(self) -> str:
        """Give what the episode ended with."""
        family: Family | None = getattr(self.env.unwrapped, "family", None)
        names = [name for name in measured(family) if name in self._info] if self._over else []
        return "\n".join(
            [
                f"{'the end' if self._over else 'stopped'} after {self._steps} steps",
                f"{'return':<24} {self._earned:.4f}",
                *(f"{name:<24} {float(self._info[name]):.4f}" for name in names),
            ]
        )

    def _legal(self) -> list[int]:
        space = self.env.action_space
        assert isinstance(space, spaces.Discrete)
        mask = masks_of(self._info, self.env)
        places = np.arange(space.n) if mask is None else np.flatnonzero(mask)
        return [int(space.start) + int(place) for place in places]
