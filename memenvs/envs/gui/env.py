"""A page with a goal as an environment: act on its elements until the goal is reached or missed.

State: the page. Action: click an element, or hover over it. Reward: 1 where the episode ends in
success, -1 where it ends in failure. Episode: a fresh instance of the task, at most ``steps``
actions; one that runs out of them is truncated, and is neither a success nor a failure.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.counter import episode_key
from memenvs.envs.family import GUI
from memenvs.envs.gui.columns import (
    ACTIONS,
    CONTEXT_COLUMNS,
    ELEMENT_COLUMNS,
    ELEMENTS,
    GOAL_COLUMNS,
    action_mask,
    element_rows,
    goal_row,
    observation_space,
)
from memenvs.envs.gui.goal import read_goal
from memenvs.envs.gui.page import KINDS, Action, Outcome, Page, Site

Observation = dict[str, NDArray[Any]]

STEPS = 8  # as in section 3 of the paper
INSTANCES = 1024


class GuiEnv(gym.Env[Observation, Any]):
    """Reach the goal of a page by clicks and hovers.

    Args:
        task: name of the task.
        steps: actions after which an episode is truncated.
        instances: an episode plays one of so many instances of the task.
        strict: raise ``ValueError`` on an illegal action instead of counting it as a pass.

    Action ``32 * kind + place`` acts on an element by its place in page order; kind 0 clicks, 1
    hovers. ``info["page"]`` is the page in words; at the end of an episode ``info["success"]`` says
    how it went. ``reset(options={"instance": n})`` plays the instance of that number, any from 0.
    """

    family = GUI
    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 2}  # noqa: RUF012
    final_info = frozenset({"success"})
    described = MappingProxyType(  # columns of the arrays, for the documentation
        {"elements": ELEMENT_COLUMNS, "goal": GOAL_COLUMNS, "context": CONTEXT_COLUMNS}
    )

    def __init__(
        self,
        task: str,
        site: Site,
        *,
        steps: int = STEPS,
        instances: int = INSTANCES,
        strict: bool = False,
        render_mode: str | None = None,
    ) -> None:
        check_settings(steps, instances, render_mode)
        self.task, self.site = task, site
        self.steps, self.instances, self.strict = steps, instances, strict
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(ACTIONS)
        self.observation_space: spaces.Dict = observation_space()  # type: ignore[assignment]
        self.illegal = self.taken = 0
        self._outcome: Outcome | None = None

    @property
    def page(self) -> Page:
        """The page that is shown."""
        return self._shown.page

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions ``(64,)``; never all False."""
        return action_mask(self.page).astype(bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Show the first page of an instance."""
        super().reset(seed=seed)
        drawn = instance_of(episode_key(self.np_random), self.instances)
        self._outcome = None  # where the next line fails, there is no episode
        self._outcome = self.site.begin(given_instance(options, drawn))
        self.illegal = self.taken = 0
        return self._observe()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act on the page; the reward says how the episode ended, if it did."""
        shown = self._shown
        if shown.done or self.taken >= self.steps:
            raise RuntimeError("the episode is over; call reset()")
        number = int(action)
        if not (0 <= number < ACTIONS and action_mask(shown.page)[number]):
            if self.strict:
                raise ValueError(refusal(number, shown.page))
            self.illegal += 1
        elif shown.page.elements:  # a page without any has one legal action, which does nothing
            shown = self._outcome = self.site.act(decode(number))
        self.taken += 1
        truncated = not shown.done and self.taken >= self.steps
        observation, info = self._observe()
        if shown.done or truncated:
            info["success"] = shown.reward > 0
        return observation, float(shown.reward), shown.done, truncated, info

    def render(self) -> Any:
        """Give the page as text."""
        if self.render_mode is None:
            gym.logger.warn("render() shows nothing without a render_mode: give one to gym.make()")
            return None
        page = self.page
        lines = [
            f"{place:>2} {e.role} {e.label}" + (f" ({e.state})" if e.state else "")
            for place, e in enumerate(page.elements)
        ]
        return "\n".join([page.goal, *lines, page.text])

    @property
    def _shown(self) -> Outcome:
        if self._outcome is None:
            raise RuntimeError("no episode has begun; call reset()")
        return self._outcome

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        page = self.page
        left = (self.steps - self.taken) / self.steps
        mask = action_mask(page)
        observation: Observation = {
            "elements": element_rows(page).astype(np.float32),
            "goal": goal_row(read_goal(page.goal)).astype(np.float32),
            "context": np.array([left], dtype=np.float32),
            "action_mask": mask,
        }
        info = {"page": page, "action_mask": mask.copy(), "illegal_action": self.illegal}
        return observation, info


def check_settings(steps: Any, instances: Any, render_mode: str | None) -> None:
    """Raise ``ValueError`` that names a setting which cannot be used."""
    for name, value in (("steps", steps), ("instances", instances)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r} is not a positive integer")
    if render_mode not in (None, "ansi"):
        raise ValueError(f"render_mode={render_mode!r} is unknown; choose 'ansi' or None")


def instance_of(key: np.uint64, instances: int) -> int:
    """Draw the number of an instance from the key of an episode."""
    return int(key) % instances


def given_instance(options: dict[str, Any] | None, drawn: int) -> int:
    """Give the instance that the options of a reset ask for, else the drawn one."""
    chosen = (options or {}).get("instance", drawn)
    if not isinstance(chosen, int | np.integer) or chosen < 0:
        raise ValueError(f"options['instance']={chosen!r} is not an integer from 0")
    return int(chosen)


def encode(action: Action) -> int:
    """Give the number of an action."""
    return action.kind * ELEMENTS + action.element


def decode(number: int) -> Action:
    """Give the action of a number."""
    kind, element = divmod(number, ELEMENTS)
    return Action(element, kind)


def refusal(number: int, page: Page) -> str:
    """Say why an action is illegal."""
    if not 0 <= number < ACTIONS:
        return f"action {number} (there are {ACTIONS}) is illegal"
    kind, element = divmod(number, ELEMENTS)
    return (
        f"action {number} ({KINDS[kind]} element {element}) is illegal: the page shows "
        f"{len(page.elements)}"
    )
