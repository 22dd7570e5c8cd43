"""An environment in words: the observation as a text, actions as JSON."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from memenvs.material.incidence import BoolArray
from memenvs.policies.base import privileged
from memenvs.policies.systems.text_writing import (
    asked_of,
    check_writable,
    describe,
    instruction,
    read_action,
)
from memenvs.wrappers.episodes import check_memorization


class Words(gym.Space[str]):
    """Any text: Gymnasium's ``Text`` has an alphabet and a length."""

    def __init__(self) -> None:
        super().__init__((), str)

    @property
    def is_np_flattenable(self) -> bool:
        """It has no fixed length."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Give some text, which says nothing."""
        letters = self.np_random.integers(ord("a"), ord("z") + 1, size=8)
        return "".join(map(chr, letters))

    def contains(self, x: Any) -> bool:
        """Whether it is a string."""
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words)


class TextObservation(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Give what is observed as a text, and take an action as JSON, for a language model.

    The text holds the considered statement, the memory and the disclosed queries in their own
    words, with the facts and records that an agent may know. An action is a string with one JSON
    object: ``{"action": "keep"}`` (into a free slot), ``{"action": "replace", "slot": 1}``,
    ``{"action": "clear", "slot": 1}`` (where clearing is enabled) or ``{"action": "pass"}``.
    Anything else, and what is not legal, is a pass; ``info["invalid_actions"]`` counts these in the
    episode and ``info["invalid_reason"]`` says why the last action was one, or "".
    ``instruction`` tells a model all this. Raises ``ValueError`` for a pool, for priorities, and
    where claims have no texts.
    """

    def __init__(self, env: gym.Env[dict[str, Any], Any]) -> None:
        check_memorization(env, "TextObservation")
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._layout = env.get_wrapper_attr("layout")
        self._actions = env.get_wrapper_attr("actions")
        rules = env.get_wrapper_attr("rules")
        check_writable(rules, self._layout, "TextObservation")
        self.instruction = instruction(rules, self._actions)
        self.observation_space = Words()
        self.action_space = Words()
        self._invalid = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._invalid = 0
        return self._text(observation), self._told(info, "")

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Take the action that a text says."""
        (view,) = privileged(self.env)
        mask = np.asarray(self.action_masks())
        number, problem = read_action(action, self._actions, view.slots, mask)
        self._invalid += bool(problem)
        observation, reward, terminated, truncated, info = self.env.step(number)
        return (
            self._text(observation),
            reward,
            terminated,
            truncated,
            self._told(info, problem),
        )

    def action_masks(self) -> BoolArray:
        """Legal actions ``(n,)`` of the environment within."""
        masks: BoolArray = self.env.get_wrapper_attr("action_masks")()
        return masks

    def _text(self, observation: dict[str, Any]) -> str:
        (view,) = privileged(self.env)
        return describe(view, observation, self._layout, asked_of(self.env))

    def _told(self, info: dict[str, Any], problem: str) -> dict[str, Any]:
        return {**info, "invalid_actions": self._invalid, "invalid_reason": problem}
