"""The simulated tasks: each makes the widget of an instance from counted random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from memenvs.counter import uniforms
from memenvs.envs.panels.widget import Node, Widget

FILLER = 20  # words of a panel
LINK_SHARE = 0.2  # of them that are links
DRAWS = 512  # random numbers of an instance: more than any task takes

_ONSETS = "b c d f g l m n p r s t v".split()
_VOWELS = "a e i o u".split()
WORDS = tuple(
    first + vowel + second + end
    for first in _ONSETS
    for vowel in _VOWELS
    for second in _ONSETS[::3]
    for end in ("a", "is", "um")
)


class Task(NamedTuple):
    """A simulated task: how its instances are made, and of which kind it is.

    A ``"container"`` task hides its target in one of several interchangeable containers, a
    ``"look-alike"`` one has pages that nothing in view tells apart, and on a ``"control"`` there is
    nothing to remember.
    """

    make: Callable[[Draws], Widget]
    kind: str
    meaning: str


class Draws:
    """The random numbers of an instance, one after the other."""

    def __init__(self, instance: int) -> None:
        self._numbers: Iterator[float] = iter(
            uniforms(np.uint64(instance), 0, np.arange(DRAWS)).tolist()
        )

    def below(self, n: int) -> int:
        """Draw an integer from 0 to n - 1."""
        return int(next(self._numbers) * n)

    def chance(self, share: float) -> bool:
        """Say yes in a share of the cases."""
        return next(self._numbers) < share

    def word(self) -> str:
        """Draw a word."""
        return WORDS[self.below(len(WORDS))]

    def words(self, n: int) -> list[str]:
        """Draw different words."""
        drawn: dict[str, None] = {}
        while len(drawn) < n:
            drawn[self.word()] = None
        return list(drawn)


def make_widget(task: str, instance: int) -> Widget:
    """Make an instance of a task; raises ``ValueError`` for an unknown task."""
    return find_task(task).make(Draws(instance))


def find_task(task: str) -> Task:
    """Give a task by name; raises ``ValueError`` that lists the names."""
    if task not in TASKS:
        raise ValueError(f"no simulated task is named '{task}'; choose from {', '.join(TASKS)}")
    return TASKS[task]


def _panel(draws: Draws) -> tuple[str, list[str]]:
    """Draw a panel: its text, and those of the words that are links."""
    words = [draws.word() for _ in range(FILLER)]
    return " ".join(words), [word for word in words if draws.chance(LINK_SHARE)]


def _panels(draws: Draws, role: str, labels: list[str]) -> tuple[list[Node], list[str]]:
    """Draw containers with a panel each: their nodes in page order, and all links."""
    drawn = [_panel(draws) for _ in labels]
    if not any(links for _, links in drawn):
        text, _ = drawn[-1]
        drawn[-1] = text, [text.split()[0]]
    nodes: list[Node] = []
    for label, (text, links) in zip(labels, drawn, strict=True):
        place = len(nodes)
        nodes.append(Node(role, label, text=text, opens=True))
        nodes += [Node("link", link, place, final=True) for link in links]
    return nodes, [link for _, links in drawn for link in links]


def _tabs(draws: Draws, count: int) -> Widget:
    drawn, links = _panels(draws, "tab", [f"Tab #{i + 1}" for i in range(count)])
    target = links[draws.below(len(links))]
    goal = f'Switch between the tabs to find and click on the link "{target}".'
    return Widget(_tabs_first(drawn), goal, target, 1)


def _tabs_first(nodes: list[Node]) -> tuple[Node, ...]:
    """Put the row of tabs above the panels."""
    tabs = [i for i, node in enumerate(nodes) if node.role == "tab"]
    place = {old: new for new, old in enumerate(tabs)}
    panels = [n._replace(parent=place[n.parent]) for n in nodes if n.role != "tab"]
    return (*(nodes[i] for i in tabs), *panels)


def _order(draws: Draws) -> Widget:
    """Three tabs; the link shows in the first one only right after the third was open."""
    labels = [f"Tab #{i + 1}" for i in range(3)]
    tabs = [Node("tab", label, text=_panel(draws)[0], opens=True) for label in labels]
    target = draws.word()
    nodes = (*tabs, Node("link", target, 0, secret=True, final=True))
    goal = f'Switch between the tabs until the link "{target}" appears, and click on it.'
    return Widget(nodes, goal, target, 1, order=(2, 0))


def _collapsible(draws: Draws) -> Widget:
    nodes, links = _panels(draws, "section", [f"Section #{i + 1}" for i in range(3)])
    target = links[draws.below(len(links))]
    goal = f'Expand the sections below, to find and click on the link "{target}".'
    return Widget(tuple(nodes), goal, target)


def _menu(draws: Draws) -> Widget:
    """A menu of three items, and one that opens into four more when hovered over."""
    words = draws.words(7)
    nodes = [
        Node("button", "Menu", opens=True),
        Node("menuitem", words[0], 0, final=True),
        Node("menuitem", "More", 0, opens=True),
        *(Node("menuitem", word, 2, final=True) for word in words[3:]),
        *(Node("menuitem", word, 0, final=True) for word in words[1:3]),
    ]
    target = words[draws.below(7)]
    goal = f'Click the "Menu" button, and then find and click on the item labeled "{target}".'
    return Widget(tuple(nodes), goal, target, texts=(_panel(draws)[0],) * 2)


def _tree(draws: Draws) -> Widget:
    """Three folders, each with a folder of two files and two files of its own."""
    files = draws.words(12)
    nodes: list[Node] = []
    for number in range(3):
        mine, place = files[4 * number : 4 * number + 4], len(nodes)
        nodes.append(Node("folder", f"Folder {number + 1}", opens=True))
        nodes.append(Node("folder", f"Folder {number + 1}a", place, opens=True))
        nodes += [Node("file", name, place + 1, final=True) for name in mine[:2]]
        nodes += [Node("file", name, place, final=True) for name in mine[2:]]
    target = files[draws.below(12)]
    goal = f'Open the folders to find the file "{target}", and click on it.'
    return Widget(tuple(nodes), goal, target, texts=(_panel(draws)[0],) * 2)


def _arm(draws: Draws) -> Widget:
    """Three buttons; submitting succeeds when armed, which no element shows."""
    nodes = (
        Node("button", "Help"),
        Node("button", "Submit", submits=True),
        Node("button", "Arm", arms=True),
    )
    armed = draws.chance(0.5)
    texts = (_panel(draws)[0], _panel(draws)[0])
    start = 1 << len(nodes) if armed else 0
    return Widget(nodes, "Submit the form while it is armed.", "", start, texts)


def _toggle(draws: Draws) -> Widget:
    """Submitting succeeds after an odd number of toggles, which no element shows."""
    nodes = (Node("button", "Toggle", toggles=True), Node("button", "Submit", submits=True))
    texts = (_panel(draws)[0], _panel(draws)[0])
    return Widget(nodes, "Submit the form while it is switched on.", "", 0, texts)


def _submit(draws: Draws) -> Widget:
    """Four buttons in view, and always the second is right: whoever leaves it loses."""
    labels = ("Cancel", "Submit", "Help", "Reset")
    nodes = tuple(Node("button", label, final=True) for label in labels)
    return Widget(nodes, "Send the form.", "Submit", texts=(_panel(draws)[0],) * 2)


def _named(draws: Draws, role: str, goal: str, count: int) -> Widget:
    """All controls are in view and the goal names one: the task needs no memory."""
    words = draws.words(count)
    target = words[draws.below(count)]
    nodes = tuple(Node(role, word, final=True) for word in words)
    return Widget(nodes, goal.format(target), target, texts=(_panel(draws)[0],) * 2)


_link = partial(_named, role="link", goal='Click on the link "{}".', count=6)
_button = partial(_named, role="button", goal='Click on the "{}" button.', count=4)

TASKS: dict[str, Task] = {
    **{
        f"tabs-{count}": Task(partial(_tabs, count=count), "container", f"{count} tabs")
        for count in range(2, 7)
    },
    "tabs-order": Task(_order, "container", "a link shows where tabs are opened in a hidden order"),
    "collapsible": Task(_collapsible, "container", "three sections, of which one can be open"),
    "menu": Task(_menu, "container", "a menu with a submenu that opens under the mouse"),
    "tree": Task(_tree, "container", "folders within folders"),
    "arm": Task(_arm, "look-alike", "submitting fails unless armed, which no element shows"),
    "toggle": Task(_toggle, "look-alike", "submitting succeeds after a toggle, unseen"),
    "submit": Task(_submit, "control", "four buttons in view; the policy's own choice is right"),
    "link": Task(_link, "control", "the link is in view"),
    "button": Task(_button, "control", "the button is in view"),
}
