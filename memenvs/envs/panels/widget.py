"""How a simulated page behaves: which nodes are open, what a click changes, what ends an episode.

A page is a tree of nodes in page order. A node shows while all nodes above it are open. The state
is one integer: bit i says that node i is open, and the bit after the last node is the flag, a fact
that no element shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from memenvs.envs.gui.page import HOVER, Element, Page

TOP = -1  # parent of the nodes that always show
ALONE = ("tab", "section", "menuitem")  # of these only one in its group is open


class Node(NamedTuple):
    """One element of a page."""

    role: str
    label: str
    parent: int = TOP
    text: str = ""  # shown while it is open
    opens: bool = False  # whether it holds others
    secret: bool = False  # shows only while the flag is set
    arms: bool = False  # a click sets the flag
    toggles: bool = False  # a click sets the flag, or clears it
    submits: bool = False  # a click ends the episode, in success while the flag is set
    final: bool = False  # a click ends the episode, in success on the target


@dataclass(frozen=True)
class Widget:
    """One instance of a task.

    ``order``: the flag is set by a click on tab ``order[1]`` while tab ``order[0]`` is open, and
    any other click on a tab clears it.
    """

    nodes: tuple[Node, ...]
    goal: str
    target: str = ""  # its label
    start: int = 0
    texts: tuple[str, str] = ("", "")  # above the nodes: while the flag is clear, and set
    order: tuple[int, int] | None = None
    flag: int = field(init=False)
    needs: tuple[int, ...] = field(init=False)  # of each node the bits without which it hides

    def __post_init__(self) -> None:
        flag = 1 << len(self.nodes)
        needs: list[int] = []
        for node in self.nodes:
            above = 0 if node.parent == TOP else needs[node.parent] | 1 << node.parent
            needs.append(above | flag if node.secret else above)
        object.__setattr__(self, "flag", flag)
        object.__setattr__(self, "needs", tuple(needs))

    def shown(self, state: int) -> list[int]:
        """List the nodes that show, in page order."""
        return [i for i, need in enumerate(self.needs) if state & need == need]

    def page(self, state: int) -> Page:
        """Give the page that a state shows."""
        elements, texts = [], [self.texts[bool(state & self.flag)]]
        for i in self.shown(state):
            node, is_open = self.nodes[i], bool(state >> i & 1)
            elements.append(Element(node.role, node.label, _state(node, is_open)))
            if is_open:
                texts.append(node.text)
        return Page(self.goal, tuple(elements), " ".join(filter(None, texts)))

    def act(self, state: int, i: int, kind: int) -> tuple[int, float | None]:
        """Act on a node that shows: the state after it, and the reward if the episode ends."""
        node = self.nodes[i]
        if kind == HOVER:
            return (self._open(state, i) if node.role == "menuitem" and node.opens else state), None
        if node.submits:
            return state, 1.0 if state & self.flag else -1.0
        if node.arms:
            return state | self.flag, None
        if node.toggles:
            return state ^ self.flag, None
        if node.role == "tab":
            return self._turn(state, i), None
        if node.opens:
            if node.role == "menuitem":  # a click leaves it as the mouse, moving there, made it
                return self._open(state, i), None
            return (self._shut(state, i) if state >> i & 1 else self._open(state, i)), None
        if node.final:
            return state, 1.0 if node.label == self.target else -1.0
        return state, None

    def _turn(self, state: int, i: int) -> int:
        """Open a tab, and keep account of the hidden order."""
        if self.order is not None:
            first, second = self.order
            unlocked = i == second and (
                state >> first & 1 or (state >> i & 1 and state & self.flag)
            )
            state = state | self.flag if unlocked else state & ~self.flag
        return self._open(state, i)

    def _open(self, state: int, i: int) -> int:
        node = self.nodes[i]
        if node.role in ALONE:
            for other, each in enumerate(self.nodes):
                if other != i and each.parent == node.parent and each.role == node.role:
                    state = self._shut(state, other)
        return state | 1 << i

    def _shut(self, state: int, i: int) -> int:
        """Close a node, and what was open in it."""
        state &= ~(1 << i)
        for other, node in enumerate(self.nodes):
            if node.parent == i and state >> other & 1:
                state = self._shut(state, other)
        return state


def _state(node: Node, is_open: bool) -> str:
    if node.role == "tab":
        return "selected" if is_open else ""
    if node.opens and node.role != "button":  # a button does not say whether its menu is open
        return "open" if is_open else "closed"
    return ""
