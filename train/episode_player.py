"""A person at an environment that has no material: what it shows as text, and the legal actions."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from memenvs.envs.family import GUI, POISONING, Family

Names = dict[int, str]


class EpisodePlayer:
    """One episode of any environment, decided about by numbers.

    Where the environment renders no text, the arrays of the observation are shown. Raises
    ``ValueError`` for an action space that is not typed in a line.
    """

    def __init__(self, env: gym.Env[Any, Any], seed: int) -> None:
        if not isinstance(env.action_space, spaces.Discrete | spaces.Box):
            raise ValueError(f"actions of {env.action_space} cannot be typed; play it by a program")
        self.env = env
        self._family: Family | None = getattr(env.unwrapped, "family", None)
        self._observation, self._info = env.reset(seed=seed)
        self._earned, self._taken, self._over = 0.0, 0, False

    def is_over(self) -> bool:
        """Whether the episode has ended."""
        return self._over

    def view(self) -> str:
        """Give what is shown, as text."""
        if self.env.render_mode == "ansi":
            return str(self.env.render())
        seen = self._observation
        arrays = seen if isinstance(seen, dict) else {"observation": seen}
        return "\n".join(f"{name}\n{array}" for name, array in arrays.items())

    def choices(self) -> str:
        """List the legal actions, one a line."""
        space = self.env.action_space
        if isinstance(space, spaces.Box):
            return f"legal\n     numbers between {space.low} and {space.high}, with spaces between"
        assert isinstance(space, spaces.Discrete)
        lines = [f"{a:>4}   {name}" for a, name in self._legal(int(space.n)).items()]
        return "\n".join(["legal", *lines])

    def question(self) -> str:
        """Give the prompt."""
        return "action (q to quit)"

    def take(self, answer: str) -> str | None:
        """Take the decision that was typed; gives what is wrong with it, if anything."""
        try:
            action = self._parsed(answer)
        except ValueError as error:
            return str(error)
        self._observation, reward, terminated, truncated, self._info = self.env.step(action)
        self._earned += float(reward)
        self._taken += 1
        self._over = bool(terminated or truncated)
        return None

    def hint(self) -> str:
        """Say that there is no optimal policy here."""
        return "there is no optimal policy to ask in this environment"

    def summary(self) -> str:
        """Say what was earned, and what the family ends with."""
        finals = () if self._family is None or not self._over else self._family.finals
        return "\n".join(
            [
                f"{'the end' if self._over else 'stopped'} after {self._taken} actions",
                f"earned {self._earned:g}",
                *(f"{name} {self._info[name]:.4g}" for name in finals),
            ]
        )

    def _parsed(self, answer: str) -> Any:
        """Read an action; raises ``ValueError`` that says what is wrong."""
        space = self.env.action_space
        assert isinstance(space, spaces.Discrete | spaces.Box)
        number = int if isinstance(space, spaces.Discrete) else float
        try:
            given = [number(each) for each in answer.split()]
        except ValueError:
            raise ValueError(f"'{answer}' is no number; type one of those listed, or q") from None
        if isinstance(space, spaces.Discrete):
            if len(given) != 1 or given[0] not in self._legal(int(space.n)):
                raise ValueError(f"{answer} is not legal here; type one of those listed, or q")
            return space.dtype.type(given[0])
        if len(given) != (wanted := int(np.prod(space.shape))):
            raise ValueError(f"type {wanted} numbers with spaces between")
        action = np.array(given, dtype=space.dtype).reshape(space.shape)
        if not space.contains(action):
            raise ValueError(f"{answer} is not between {space.low} and {space.high}")
        return action

    def _legal(self, count: int) -> Names:
        """Name the legal actions."""
        mask = self._mask()
        legal = range(count) if mask is None else np.flatnonzero(mask).tolist()
        return {action: self._name(action) for action in legal}

    def _mask(self) -> Any:
        if self.env.has_wrapper_attr("action_masks"):
            return self.env.get_wrapper_attr("action_masks")()
        seen = self._observation if isinstance(self._observation, dict) else {}
        return seen.get("action_mask", self._info.get("action_mask"))

    def _name(self, action: int) -> str:
        if self._family is POISONING:
            from memenvs.envs.poisoning.poisoning_env import action_name

            return action_name(action).partition("(")[2].removesuffix(")")
        if self._family is GUI:
            from memenvs.envs.gui.gui_env import decode
            from memenvs.envs.gui.page import KINDS

            chosen = decode(action)
            elements = self._info["page"].elements
            if not elements:
                return "nothing: the page shows no element"
            element = elements[chosen.element]
            return f"{KINDS[chosen.kind]} {element.role} {element.label}".rstrip()
        return ""


def make_any(env_id: str) -> gym.Env[Any, Any]:
    """Make an environment that shows text, if it can; raises ``ValueError``."""
    try:
        silent = gym.make(env_id)
        if "ansi" not in silent.metadata.get("render_modes", []):
            return silent
        return gym.make(env_id, render_mode="ansi")
    except (gym.error.Error, ImportError, TypeError) as error:
        raise ValueError(f"{env_id}: {error}") from None
