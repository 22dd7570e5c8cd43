"""Names of pages, elements and actions that hold across episodes."""

from __future__ import annotations

from collections.abc import Sequence

from memenvs.envs.gui.goal import Goal, read_goal
from memenvs.policies.gui.actions import Act
from memenvs.policies.gui.adapter import number, template
from memenvs.policies.gui.nodes import View


def signature(view: View) -> int:
    """Number a page: all of it but the references."""
    return number("page", view.page.goal, view.page.elements, view.page.text)


def name_of(view: View, act: Act) -> tuple[object, ...]:
    """Name an action across episodes: what is done, to what, and whether the goal gave the value.

    Raises ``ValueError`` where the page has no such element.
    """
    goal = read_goal(view.page.goal)
    slot = goal.slot(act.value) if act.value else None
    value = act.value
    if slot is not None:
        value = f"<{slot + 1}>"
    elif act.kind == "fill" and act.value:
        value = "<text>"  # what is typed is of the episode
    element = element_name(view, act) if act.ref else ()
    return (act.kind, *element, value)


def element_name(view: View, act: Act) -> tuple[object, ...]:
    """Name the element of an action; raises ``ValueError`` where the page has none such."""
    if act.ref not in view.refs:
        raise ValueError(f"the page has no element {act.ref!r}; it has {_some(view.refs)}")
    return element_names(view)[view.refs.index(act.ref)]


def element_names(view: View) -> list[tuple[object, ...]]:
    """Name the elements across episodes: by the slot of the goal that they fill, or role, label."""
    goal: Goal = read_goal(view.page.goal)
    return [template(element, goal) for element in view.page.elements]


def described(named: tuple[object, ...]) -> str:
    """Say an action's name in words."""
    return " ".join(str(part) for part in named if part != "")


def _some(refs: Sequence[str]) -> str:
    shown = ", ".join(refs[:8]) or "none"
    return f"{shown}, and others" if len(refs) > 8 else shown
