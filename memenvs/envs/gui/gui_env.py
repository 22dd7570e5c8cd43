"""A page with a goal as an environment: act on its elements until the goal is reached or missed.

State: the page. Action: click an element, or hover over it. Reward: 1 where the episode ends in
success, -1 where it ends in failure. Episode: a fresh instance of the task, at most ``steps``
actions; one that runs out of them is truncated, and is neither a success nor a failure.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.arguments import check_counts, refusal
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
from memenvs.envs.single import Observation, SingleEnv

STEPS = 8  # as in section 3 of the paper
INSTANCES = 1024
# Number of the first page of each split: an episode that is not told its instance plays one of the
# training, so the others are kept back from it.
FIRST_PAGES = {"train": 0, "validation": 2**29, "test": 2**30}


class GuiEnv(SingleEnv):
    """Reach the goal of a page by clicks and hovers.

    Args:
        task: name of the task.
        steps: actions after which an episode is truncated.
        instances: an episode plays one of so many instances of the task.
        strict: raise ``ValueError`` on an illegal action instead of counting it as a pass.

    Action ``32 * kind + place`` acts on an element by its place in page order; kind 0 clicks, 1
    hovers. ``info["page"]`` is the page in words; at the end of an episode, when ``info["final"]``
    is True, ``info["success"]`` says how it went. ``reset(options={"instance": n})`` plays the
    instance of that number, any from 0.
    """

    family = GUI
    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 2}  # noqa: RUF012
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
        check_counts(steps=steps, instances=instances)
        if instances > FIRST_PAGES["validation"]:
            raise ValueError(
                f"instances={instances} is more than {FIRST_PAGES['validation']}: pages from there "
                "on are kept for validation and test"
            )
        self.open(render_mode)
        self.task, self.site = task, site
        self.steps, self.instances, self.strict = steps, instances, strict
        self.action_space = spaces.Discrete(ACTIONS)
        self.observation_space: spaces.Dict = observation_space()
        self.taken = 0
        self._refused = 0
        self._last_shown: Outcome | None = None

    @property
    def page(self) -> Page:
        """The page that is shown."""
        return self._shown.page

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions ``(64,)``; never all False."""
        return action_mask(self.page).astype(bool)

    @property
    def illegal(self) -> int:
        """Illegal actions of the episode so far."""
        return self._refused

    def check_instance(self, given: Any) -> int:
        """Give the number of an instance."""
        return check_number(given)

    def begin(self, key: np.uint64, wanted: int | None) -> None:
        """Show the first page of an instance."""
        number = instance_of(key, self.instances) if wanted is None else wanted
        self._last_shown = self.site.begin(number)
        self._refused = self.taken = 0

    def act(self, action: Any) -> float:
        """Act on the page; the reward says how the episode ended, if it did."""
        number, shown = int(action), self._shown
        if not (0 <= number < ACTIONS and action_mask(shown.page)[number]):
            if self.strict:
                raise ValueError(refusal(action_name(number)))
            self._refused += 1
        elif shown.page.elements:  # a page without any has one legal action, which does nothing
            shown = self._last_shown = self.site.act(decode(number))
        self.taken += 1
        return float(shown.reward)

    def over(self) -> tuple[bool, bool]:
        """Say whether the page is done, or the steps are used up."""
        return self._shown.done, self.taken >= self.steps

    def finals(self) -> dict[str, Any]:
        """Say whether the goal was reached."""
        return {"success": self._shown.reward > 0}

    def extras(self) -> dict[str, Any]:
        """Give the page in words."""
        return {"page": self.page}

    def observe(self) -> Observation:
        """Give the page, the goal and the steps left."""
        page = self.page
        left = (self.steps - self.taken) / self.steps
        return {
            "elements": element_rows(page).astype(np.float32),
            "goal": goal_row(read_goal(page.goal)).astype(np.float32),
            "context": np.array([left], dtype=np.float32),
            "action_mask": action_mask(page),
        }

    def frame(self) -> str:
        """Give the page as text."""
        return as_text(self.page)

    @property
    def _shown(self) -> Outcome:
        self.check_begun()
        assert self._last_shown is not None
        return self._last_shown


def as_text(page: Page) -> str:
    """Give a page as text."""
    lines = [
        f"{place:>2} {e.role} {e.label}" + (f" ({e.state})" if e.state else "")
        for place, e in enumerate(page.elements)
    ]
    return "\n".join([page.goal, *lines, page.text])


def instance_of(key: np.uint64, instances: int) -> int:
    """Draw the number of an instance from the key of an episode."""
    return int(key) % instances


def pages(split: str, count: int) -> range:
    """Give the numbers of so many pages of a split; raises ``ValueError`` for an unknown one."""
    if split not in FIRST_PAGES:
        raise ValueError(f"pages have no split '{split}'; choose from {', '.join(FIRST_PAGES)}")
    return range(FIRST_PAGES[split], FIRST_PAGES[split] + count)


def check_number(given: Any) -> int:
    """Give the number of an instance; raises ``ValueError`` for what is none."""
    if not isinstance(given, int | np.integer) or given < 0:
        raise ValueError(f"options['instance']={given!r} is not an integer from 0")
    return int(given)


def encode(action: Action) -> int:
    """Give the number of an action."""
    return action.kind * ELEMENTS + action.element


def decode(number: int) -> Action:
    """Give the action of a number."""
    kind, element = divmod(number, ELEMENTS)
    return Action(element, kind)


def action_name(number: int) -> str:
    """Describe an action in words."""
    if not 0 <= number < ACTIONS:
        return f"action {number} (there are {ACTIONS})"
    kind, element = divmod(number, ELEMENTS)
    return f"action {number} ({KINDS[kind]} element {element})"
