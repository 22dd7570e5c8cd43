"""A view of a page: its elements by role, name and state, out of a tree of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memenvs.envs.gui.page import Element, Page

Box = tuple[float, float, float, float]  # left, top, right, bottom

# Roles of accessibility trees that can be acted upon.
ACTIONABLE = frozenset(
    "button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option "
    "radio searchbox slider spinbutton switch tab textbox treeitem section folder file image "
    "columnheader disclosuretriangle".split()
)
STATES = ("selected", "checked", "expanded", "collapsed", "pressed", "disabled")  # that are shown


@dataclass(frozen=True, slots=True)
class View:
    """A page, and by which reference an action names each of its elements."""

    page: Page
    refs: tuple[str, ...]  # of the elements, in page order
    boxes: tuple[Box | None, ...] = ()  # where they are, if the format says so
    reads: str = "tree/1"  # how it was read: pages of two ways are not told alike

    def at(self, x: float, y: float) -> str | None:
        """Give the reference of the smallest element at a point; None where there is none."""
        found = [
            ((right - left) * (bottom - top), ref)
            for ref, box in zip(self.refs, self.boxes, strict=False)
            if box is not None
            for left, top, right, bottom in (box,)
            if left <= x <= right and top <= y <= bottom
        ]
        return min(found)[1] if found else None


@dataclass
class Node:
    """One node of a tree, whatever the format."""

    role: str = ""
    name: str = ""
    states: set[str] = field(default_factory=set)
    ref: str = ""
    box: Box | None = None
    children: list[Node] = field(default_factory=list)
    text: str = ""  # its own, without that of its children

    def walk(self, inside: bool = False) -> Iterator[Node]:
        """Give the node and all below it, in page order; a text that names a node is said once."""
        naming = self.role.lower() in ACTIONABLE and not self.name
        name = self.all_text() if naming else self.name
        said = "" if inside or naming else self.text
        yield Node(self.role, name, self.states, self.ref, self.box, text=said)
        for child in self.children:
            yield from child.walk(inside or naming)

    def all_text(self) -> str:
        """Give the text of the node and of all below it."""
        return tidy(" ".join([self.text, *(child.all_text() for child in self.children)]))


def view_of(goal: str, nodes: Iterable[Node], reads: str) -> View:
    """Make a view of nodes in page order; what has no reference is named by its place."""
    elements: list[Element] = []
    refs: list[str] = []
    boxes: list[Box | None] = []
    texts: list[str] = []
    for node in nodes:
        role = node.role.lower()
        if role in ACTIONABLE:
            state = " ".join(state for state in STATES if state in node.states)
            elements.append(Element(role, tidy(node.name), state))
            refs.append(node.ref or str(len(refs)))
            boxes.append(node.box)
        texts.append(node.text)
    return View(
        Page(goal, tuple(elements), tidy(" ".join(texts))), tuple(refs), tuple(boxes), reads
    )


def tidy(text: str) -> str:
    """Make runs of white space one blank each."""
    return " ".join(text.split())
