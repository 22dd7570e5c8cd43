"""A language model behind an OpenAI-compatible server as a frozen policy."""

from __future__ import annotations

from typing import Any, NamedTuple

from memenvs.envs.gui.columns import ELEMENTS
from memenvs.envs.gui.gui_env import encode
from memenvs.envs.gui.page import KINDS, Action, Page
from memenvs.policies.gui.scripted import ALTERNATIVES, shortcut
from memenvs.text.chat import Chat
from memenvs.text.completions import chat_field

PROMPT = """You act on a web page. Goal: {goal}
Visible elements:
{elements}
Text: {text}
Done so far: {done}
An action is [kind, number of the element]; a kind is "click" or "hover".
"""
BEST = """Give the best action. Reply with JSON alone: {"actions": [["click", 0]]}."""
OTHERS = """Give up to {count} other actions than {first}, the best first. Reply with JSON alone:
{{"actions": [["click", 0], ["hover", 2]]}}."""
LONGEST_TEXT = 2000  # characters of a page that are sent


class History(NamedTuple):
    """What an episode is told to the model as."""

    done: tuple[str, ...] = ()  # what was executed, in words
    page: Page | None = None  # that is shown


class ModelPolicy:
    """Ask a model for its action, and in a second call for others, as the paper does.

    The head of a shortlist is what the model does alone, so that a memory that never overrides
    plays as the model plays. No question is asked twice. The same shortcut stands before it as
    before the scripted policy: where an element carries the label that the goal names, no model is
    asked. The model is told what was executed, which may not be what it chose. Errors are those of
    ``Chat``.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._known: dict[str, list[int]] = {}  # by prompt

    def shortlist(
        self, observation: Any, info: dict[str, Any], state: Any = None
    ) -> tuple[list[int], History]:
        """Give up to four distinct legal actions, its own choice first, and the next state."""
        page: Page = info["page"]
        done = (state or History()).done
        found = shortcut(observation)
        if not found and page.elements:
            found = self._ask(page, done)
        return found[:ALTERNATIVES] or [0], History(done, page)

    def observe(self, executed: int, state: History) -> History:
        """Note what was executed."""
        assert state.page is not None
        return state._replace(done=(*state.done, describe(executed, state.page)))

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
        )
        first = self._answer(prompt + BEST, page)[0]
        if len(lines) == 1:
            return [first]
        others = OTHERS.format(count=ALTERNATIVES - 1, first=describe(first, page))
        return list(dict.fromkeys([first, *self._answer(prompt + others, page)]))

    def _answer(self, prompt: str, page: Page) -> list[int]:
        if prompt not in self._known:
            self._known[prompt] = self._chat.ask(prompt, lambda sent: read_actions(sent, page))
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
