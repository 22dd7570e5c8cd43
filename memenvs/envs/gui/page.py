"""A page as an agent sees it, and what an action on it led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

CLICK, HOVER = 0, 1
KINDS = ("click", "hover")


class Element(NamedTuple):
    """One visible element that can be acted upon."""

    role: str  # one of columns.ROLES
    label: str
    state: str = ""  # one of columns.STATES


@dataclass(frozen=True, slots=True)
class Page:
    """The goal, the visible elements in page order, and the text between them."""

    goal: str
    elements: tuple[Element, ...]
    text: str = ""


class Outcome(NamedTuple):
    """A page, and whether the episode ended there: ``reward`` is above 0 at a success."""

    page: Page
    done: bool = False
    reward: float = 0.0


class Action(NamedTuple):
    """An action on a page: the place of an element in page order, and ``CLICK`` or ``HOVER``."""

    element: int
    kind: int = CLICK


class Site(Protocol):
    """Where pages come from: the instance of a task begins, and answers actions."""

    def begin(self, instance: int) -> Outcome:
        """Show the first page of an instance."""

    def act(self, action: Action) -> Outcome:
        """Act on the page that is shown."""
