"""Actions as agents write them: BrowserGym's calls, WebArena's brackets, Android's JSON, words."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memenvs.policies.gui.nodes import View


class Act(NamedTuple):
    """What is done, to which element, with which value: ``Act("fill", "12", "Ada")``."""

    kind: str
    ref: str = ""  # of an element of the page; empty where none is meant
    value: str = ""


# One name for what the formats call differently.
KINDS = {"input_text": "fill", "type": "fill", "long_press": "press", "open_app": "open"}
KINDS |= {
    "select_option": "select",
    "dblclick": "double",
    "navigate_back": "back",
    "go_back": "back",
}
KINDS |= {"tap": "click", "dual_point": "click"}
_CALL = re.compile(r"^\s*(\w+)\s*\((.*)\)\s*$", re.DOTALL)
_BRACKET = re.compile(r"\[([^\]]*)\]")


def read_action(action: Act | str | Mapping[str, Any], view: View) -> Act:
    """Read an action that was meant for a view.

    ``click('a46')`` and ``fill('12', 'Ada')`` are BrowserGym's, ``click [46]`` WebArena's,
    ``{"action_type": "click", "index": 3}`` (or ``x`` and ``y``) Android's, ``click e12`` is plain.
    Raises ``ValueError`` for what is none of these.
    """
    if isinstance(action, Act):
        return action
    if not isinstance(action, str):
        return _of_fields(action, view)
    if action.lstrip().startswith("{"):
        return _of_fields(json.loads(action), view)
    call = _CALL.match(action)
    if call:
        kind, arguments = call[1], _arguments(call[2], action)
    else:
        words = action.split()
        if not words:
            raise ValueError("an action is empty; write one such as click('12')")
        kind = words[0]
        arguments = _BRACKET.findall(action) or words[1:]
    kind = KINDS.get(kind, kind)
    if arguments and arguments[0] in view.refs:
        return Act(kind, arguments[0], " ".join(arguments[1:]))
    return Act(kind, "", " ".join(arguments))


def _arguments(text: str, action: str) -> list[str]:
    try:
        found = ast.literal_eval(f"({text},)" if text.strip() else "()")
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"the action {action[:80]!r} has arguments that cannot be read") from None
    return [str(each) for each in found]


def _of_fields(action: Mapping[str, Any], view: View) -> Act:
    kind = str(action.get("action_type") or action.get("action") or action.get("op") or "")
    if not kind:
        raise ValueError(f"the action {dict(action)!r} has no action_type")
    kind = KINDS.get(kind.lower(), kind.lower())
    value = str(action.get("text") or action.get("value") or action.get("direction") or "")
    value = value or str(action.get("app_name") or "")
    if "index" in action or "ref" in action:
        return Act(kind, str(action.get("index", action.get("ref"))), value)
    if "x" in action and "y" in action:
        return Act(kind, view.at(float(action["x"]), float(action["y"])) or "", value)
    return Act(kind, "", value)
