"""Views of a page as agents get them, from the formats in use: each becomes roles, names, states.

Playwright, Chromium's accessibility tree (BrowserGym), WebArena's text, HTML and DOM snapshots, and
Android's elements. What changes from run to run (numbers of elements, places on the screen) becomes
the reference of an element alone: by it an action names the element, and nothing else looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from memenvs.policies.gui.nodes import ACTIONABLE, STATES, Node, View, tidy, view_of

TAGS = {"a": "link", "button": "button", "select": "combobox", "textarea": "textbox"}
TAGS |= {"option": "option", "summary": "button", "img": "image"}
INPUTS = {"checkbox": "checkbox", "radio": "radio", "range": "slider", "number": "spinbutton"}
INPUTS |= dict.fromkeys(("button", "submit", "reset", "image"), "button")
CLASSES = {"ui-tabs-anchor": "tab", "ui-accordion-header": "section", "ui-menu-item": "menuitem"}
CLASSES |= {"alink": "link", "folder": "folder", "file": "file"}
UNSEEN = frozenset("script style head template noscript meta link".split())


def from_tree(tree: Mapping[str, Any], goal: str) -> View:
    """Read a nested accessibility tree: ``role``, ``name``, states, ``children``, maybe ``ref``.

    Playwright's ``page.accessibility.snapshot()`` is one, and so are most exports.
    """
    return view_of(goal, _nested(tree).walk(), "tree/1")


def _nested(tree: Mapping[str, Any]) -> Node:
    node = Node(
        str(tree.get("role", "")), str(tree.get("name") or ""), ref=str(tree.get("ref", ""))
    )
    node.states = _states(tree.get)
    if node.role.lower() not in ACTIONABLE:
        node.text = node.name
    elif tree.get("value") not in (None, ""):
        node.text = str(tree["value"])
    node.children = [_nested(child) for child in tree.get("children") or ()]
    return node


def _states(get: Callable[[str], Any]) -> set[str]:
    found = {name for name in STATES if _true(get(name))}
    if get("expanded") in (False, "false"):
        found.add("collapsed")
    return found


def _true(value: Any) -> bool:
    return value is True or value in ("true", "mixed", "")


_LINE = re.compile(r'^(\s*)- (?:"|\')?([\w-]+)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])*)(.*)$')


def from_playwright(snapshot: str, goal: str) -> View:
    """Read what Playwright's ``locator.aria_snapshot()`` gives: ``- button "Save" [ref=e5]``."""
    nodes = []
    for line in snapshot.splitlines():
        found = _LINE.match(line)
        if not found:
            continue
        _, role, name, marks, rest = found.groups()
        said = dict(
            mark.split("=", 1) if "=" in mark else (mark, "true")
            for mark in re.findall(r"\[([^\]]*)\]", marks)
        )
        after = rest.removeprefix(":").strip()
        name = (name or "").replace('\\"', '"')
        node = Node("" if role == "text" else role, name, _states(said.get), said.get("ref", ""))
        node.text = " ".join(filter(None, ("" if node.role in ACTIONABLE else name, after)))
        nodes.append(node)
    return view_of(goal, nodes, "playwright/1")


def from_browsergym(observation: Mapping[str, Any], goal: str | None = None) -> View:
    """Read BrowserGym's observation: ``axtree_object`` with its ``bid``s, and ``goal``."""
    tree = observation["axtree_object"]
    nodes = []
    for each in tree["nodes"]:
        if each.get("ignored"):
            continue
        said = {p["name"]: p["value"].get("value") for p in each.get("properties", ())}
        if said.get("hidden") is True:
            continue
        role = str(each.get("role", {}).get("value", ""))
        name = str(each.get("name", {}).get("value") or "")
        node = Node(role, name, _states(said.get), str(each.get("browsergym_id") or ""))
        node.text = name if role in ("StaticText", "heading") else ""
        nodes.append(node)
    goal = str(observation.get("goal", "")) if goal is None else goal
    return view_of(goal, nodes, "browsergym/1")


_WEBARENA = re.compile(r"^\s*\[(\w+)\] (\w+) (?:'(.*?)'|\"(.*?)\")?(.*)$")


def from_webarena(text: str, goal: str) -> View:
    """Read WebArena's text of an accessibility tree: ``[12] link 'Orders' focused: True``."""
    nodes = []
    for line in text.splitlines():
        found = _WEBARENA.match(line)
        if not found:
            continue
        ref, role, single, double, rest = found.groups()
        said = {k: v.lower() for k, v in re.findall(r"(\w+): (\w+)", rest)}
        node = Node(role, single or double or "", _states(said.get), ref)
        node.text = "" if role.lower() in ACTIONABLE else node.name
        nodes.append(node)
    return view_of(goal, nodes, "webarena/1")


def from_html(html: str, goal: str, ref: str = "bid") -> View:
    """Read HTML; the attribute ``ref`` is the reference, ``backend_node_id`` in Mind2Web."""
    parser = _Dom(ref)
    parser.feed(html)
    parser.close()
    return view_of(goal, parser.root.walk(), "html/1")


class _Dom(HTMLParser):
    """Builds nodes of HTML; what no page shows is passed over."""

    VOID = frozenset("input img br hr meta link area base col source wbr".split())

    def __init__(self, ref: str) -> None:
        super().__init__()
        self.root = Node()
        self._open: list[tuple[str, Node]] = [("", self.root)]
        self._ref = ref

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add a node."""
        said = {name: value or "" for name, value in attrs}
        node = dom_node(tag, said, said.get(self._ref, ""))
        if tag not in UNSEEN and not any(name in UNSEEN for name, _ in self._open):
            self._open[-1][1].children.append(node)
        if tag not in self.VOID:
            self._open.append((tag, node))

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost node of that tag, and what was left open in it."""
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place][0] == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        """Add text where it stands."""
        if data.strip() and not any(name in UNSEEN for name, _ in self._open):
            self._open[-1][1].children.append(Node(text=tidy(data)))


def dom_node(tag: str, said: Mapping[str, str], ref: str) -> Node:
    """Make a node of a tag and its attributes: its ARIA role, else what the tag is."""
    role = said.get("role") or TAGS.get(tag, "")
    if tag == "input":
        role = INPUTS.get(said.get("type", "text"), "textbox")
    for word in said.get("class", "").split():
        role = CLASSES.get(word, role)
    name = next((said[key] for key in ("aria-label", "alt", "title") if said.get(key)), "")
    if tag == "input" and not name:
        name = said.get("value" if role == "button" else "placeholder", "") or said.get("name", "")
    states = _states(lambda key: said.get(f"aria-{key}"))
    states |= {state for state in STATES if state in said and said[state] != "false"}
    return Node(role, name, states, ref)


def from_dom(tree: Mapping[str, Any], goal: str) -> View:
    """Read a DOM snapshot of MiniWoB++: ``tag``, ``ref``, ``text``, ``children``, boxes."""
    return view_of(goal, _snapshot(tree, set()).walk(), "dom/1")


def _snapshot(tree: Mapping[str, Any], inherited: set[str]) -> Node:
    tag, classes = str(tree["tag"]).lower(), str(tree.get("classes", ""))
    said = {"class": classes, "type": tag.partition("_")[2] or "text"}
    said["name"] = str(tree.get("id", ""))
    node = dom_node(tag.partition("_")[0], said, str(tree.get("ref", "")))
    passed = {"selected"} if "ui-tabs-active" in classes.split() else set()
    if "ui-accordion-header-active" in classes.split():
        node.states.add("expanded")
    value = tree.get("value")
    if value is True:
        node.states.add("checked")
    node.states |= inherited
    node.text = tidy(str(tree.get("text", "")))
    if isinstance(value, str):
        node.text = tidy(f"{node.text} {value}")
    left, top = float(tree["left"]), float(tree["top"])
    node.box = (left, top, left + float(tree["width"]), top + float(tree["height"]))
    node.children = [_snapshot(child, passed) for child in tree["children"]]
    return node


def from_android(elements: Sequence[Mapping[str, Any]], goal: str) -> View:
    """Read the elements of a screen as AndroidWorld gives them; their place is their reference.

    Of each: ``text``, ``content_description``, ``class_name``, ``is_clickable``, ``is_editable``,
    ``is_checkable``, ``is_checked``, ``is_selected``, ``is_enabled``, and ``bbox_pixels`` with
    ``x_min``, ``y_min``, ``x_max``, ``y_max``.
    """
    nodes = []
    for place, each in enumerate(elements):
        name = str(
            each.get("content_description") or each.get("text") or each.get("hint_text") or ""
        )
        node = Node(_android_role(each), name, ref=str(place))
        for state in ("checked", "selected"):
            if each.get(f"is_{state}"):
                node.states.add(state)
        if each.get("is_enabled") is False:
            node.states.add("disabled")
        box = each.get("bbox_pixels")
        if box:
            node.box = (box["x_min"], box["y_min"], box["x_max"], box["y_max"])
        if node.role not in ACTIONABLE or node.role == "textbox":
            node.text = str(each.get("text") or "")
        nodes.append(node)
    return view_of(goal, nodes, "android/1")


def _android_role(each: Mapping[str, Any]) -> str:
    kind = str(each.get("class_name") or "").rpartition(".")[2].lower()
    for part, role in (("switch", "switch"), ("checkbox", "checkbox"), ("radio", "radio")):
        if part in kind:
            return role
    if each.get("is_editable") or "edittext" in kind:
        return "textbox"
    for part, role in (("seekbar", "slider"), ("spinner", "combobox"), ("tab", "tab")):
        if part in kind:
            return role
    return "button" if each.get("is_clickable") or "button" in kind else ""
