"""How a memory reads a page: signature, label and templates, all of them numbers (section 2.1)."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from typing import Any, Literal, get_args

from memenvs.envs.gui.columns import ACTIONS, ELEMENTS
from memenvs.envs.gui.goal import Goal, read_goal
from memenvs.envs.gui.gui_env import encode
from memenvs.envs.gui.page import KINDS, Action, Element, Page
from memenvs.policies.bisimulation.adapter import Look
from memenvs.policies.bisimulation.graph import FAILURE, NEITHER, SUCCESS
from memenvs.policies.bisimulation.memory import UNKNOWN

TITLE = 80  # characters of a page's title
CONTENT = ("link", "file")  # what pages hold many of, and never the same number
Naming = Literal["labels", "elements", "pages"]


class GuiAdapter:
    """Reads pages, which it finds in ``info["page"]``.

    Args:
        env: a graphical environment, scalar or a batch; nothing is asked of it.
        templates: ``"labels"``: an action is named by what survives the episode; ``"elements"``: by
            the number of an element, as agents have it; ``"pages"``: by page and number, which
            names nothing twice (ablations of the paper).
    """

    def __init__(self, env: Any = None, templates: Naming = "labels") -> None:
        if templates not in get_args(Naming):
            known = ", ".join(get_args(Naming))
            raise ValueError(f"templates={templates!r} is unknown; choose from {known}")
        self._naming = templates

    def look(self, observation: Any, info: dict[str, Any]) -> Look:
        """Read one page."""
        return look_at(info["page"], self._naming)

    def role(self, earned: float, steps: int, terminated: bool) -> int:
        """Say how an episode ended; one that was cut did neither."""
        if not terminated:
            return NEITHER
        return SUCCESS if earned > 0 else FAILURE


@lru_cache(maxsize=4096)
def look_at(page: Page, naming: Naming = "labels") -> Look:
    """Read a page: σ is the whole of it, ℓ what it offers (equation 5)."""
    goal = read_goal(page.goal)
    signature = number("page", page.goal, page.elements, page.text)
    templates, resolved, words = [UNKNOWN] * ACTIONS, [False] * ACTIONS, [""] * ACTIONS
    for kind in range(len(KINDS)):
        names: list[tuple[object, ...]] = [
            template(element, goal)
            if naming == "labels"
            else ("id", place, signature if naming == "pages" else "")
            for place, element in enumerate(page.elements[:ELEMENTS])
        ]
        counts = Counter(names)
        for place, name in enumerate(names):
            action = encode(Action(place, kind))
            templates[action] = number("action", KINDS[kind], *name)
            resolved[action] = counts[name] == 1
            words[action] = " ".join([KINDS[kind], *map(str, name)])
    if not page.elements:
        templates[0] = number("action", "none")
    elements = frozenset(number("element", *element) for element in page.elements)
    state = [f"{e.label} {e.state}" for e in page.elements if e.state]
    title = f"{'; '.join(state)} | {page.text}"[:TITLE]
    return Look(
        signature, label(page, goal), tuple(templates), tuple(resolved), elements, title, words
    )


def template(element: Element, goal: Goal) -> tuple[object, ...]:
    """Name an element across episodes: by the slot of the goal that it fills, else by its label."""
    slot = goal.slot(element.label)
    return ("slot", slot) if slot is not None else (element.role, element.label)


def label(page: Page, goal: Goal) -> int:
    """Give ℓ: the goal with slots, how many controls of each role, which contents, and the slots.

    Controls count, contents do not: how many links a text has is of the episode, not of the task.
    """
    roles = [element.role for element in page.elements]
    controls = sorted(Counter(role for role in roles if role not in CONTENT).items())
    contents = sorted({role for role in roles if role in CONTENT})
    named = {goal.slot(element.label) for element in page.elements}
    fillable = sorted(slot for slot in named if slot is not None)
    return number("label", goal.wording, controls, contents, fillable)


def number(*parts: object) -> int:
    """Hash parts to an integer from 0, alike in every process."""
    text = repr([list(map(tuple, p)) if isinstance(p, tuple) else p for p in parts])
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
