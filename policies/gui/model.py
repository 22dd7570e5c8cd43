"""A language model behind an OpenAI-compatible server as a frozen policy."""

from __future__ import annotations

from typing import Any

from memenvs.envs.gui.columns import ELEMENTS
from memenvs.envs.gui.env import encode
from memenvs.envs.gui.page import KINDS, Action, Page
from memenvs.policies.gui.scripted import ALTERNATIVES, shortcut
from memenvs.text.model_server import ModelServer, chat_body, chat_field

PROMPT = """You act on a web page. Goal: {goal}
Visible elements:
{elements}
Text: {text}
Done so far: {done}
Give up to {count} different actions, the best first, each as [kind, number of the element]; a kind
is "click" or "hover". Reply with JSON alone: {{"actions": [["click", 0], ["hover", 2]]}}."""
LONGEST_TEXT = 2000  # characters of a page that are sent


class ModelPolicy:
    """Ask a model for a shortlist, at temperature 0, and no question twice.

    The same shortcut stands before it as before the scripted policy: where an element carries the
    label that the goal names, no model is asked. Arguments and errors are those of ``ModelServer``.
    The state is what was chosen first in the episode so far, in words.
    """

    def __init__(self, base_url: str, model: str, **settings: Any) -> None:
        self._server = ModelServer(base_url, "/chat/completions", "model", **settings)
        self._model = model
        self._known: dict[str, list[int]] = {}  # by prompt

    def shortlist(
        self, observation: Any, info: dict[str, Any], state: Any = None
    ) -> tuple[list[int], tuple[str, ...]]:
        """Give up to four distinct legal actions, its own choice first, and the next state."""
        page: Page = info["page"]
        done: tuple[str, ...] = state or ()
        found = shortcut(observation)
        if not found and page.elements:
            found = self._ask(page, done)
        found = found[:ALTERNATIVES] or [0]
        return found, (*done, describe(found[0], page))

    def _ask(self, page: Page, done: tuple[str, ...]) -> list[int]:
        lines = [
            f"{place}: {e.role} {e.label}" + (f" ({e.state})" if e.state else "")
            for place, e in enumerate(page.elements[:ELEMENTS])
        ]
        prompt = PROMPT.format(
            goal=page.goal,
            elements="\n".join(lines),
            text=page.text[:LONGEST_TEXT],
            done="; ".join(done) or "nothing",
            count=ALTERNATIVES,
        )
        if prompt not in self._known:
            body = chat_body(self._model, prompt)
            self._known[prompt] = self._server.ask(body, lambda sent: read_actions(sent, page))
        return self._known[prompt]


def read_actions(body: bytes, page: Page) -> list[int]:
    """Read the actions of a completion; raises ``ValueError`` where they are none of this page."""
    given, said = chat_field(body, "actions")
    count = min(len(page.elements), ELEMENTS)
    found: dict[int, None] = {}
    for each in given if isinstance(given, list) else []:
        if not (isinstance(each, list) and len(each) == 2):
            continue
        kind, place = each
        if kind in KINDS and type(place) is int and 0 <= place < count:
            found[encode(Action(place, KINDS.index(kind)))] = None
    if not found:
        raise ValueError(f"answered {said} where JSON with 'actions' on {count} elements was due")
    return list(found)


def describe(number: int, page: Page) -> str:
    """Say an action in words."""
    kind, place = divmod(number, ELEMENTS)
    if place >= len(page.elements):
        return "nothing"
    element = page.elements[place]
    return f"{KINDS[kind]} {element.role} {element.label}"
