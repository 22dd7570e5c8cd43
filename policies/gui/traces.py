"""Public traces of people and agents on graphical interfaces, by their published formats."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memenvs.errors import MaterialError
from memenvs.policies.gui.actions import Act, read_action
from memenvs.policies.gui.gui_memory import GuiMemory
from memenvs.policies.gui.nodes import View
from memenvs.policies.gui.views import from_android, from_dom, from_html, from_webarena


class Step(NamedTuple):
    """A page, and what was done there."""

    view: View
    act: Act


class Trace(NamedTuple):
    """One episode; ``reward`` is above 0 at a success, below at a failure, 0 where none is told."""

    steps: tuple[Step, ...]
    reward: float

    def record(self, memory: GuiMemory) -> None:
        """Show it to a memory, as an episode of its own."""
        memory.end()
        for place in range(len(self.steps)):
            self.show(memory, place)

    def show(self, memory: GuiMemory, place: int) -> None:
        """Show one step to a memory."""
        view, act = self.steps[place]
        last = place == len(self.steps) - 1
        after = view if last else self.steps[place + 1].view
        memory.observe(view, act, after, self.reward if last else 0.0, done=last)


def mind2web(path: str | os.PathLike[str]) -> Iterator[Trace]:
    """Read a file of Mind2Web: a JSON list of tasks, each with the HTML before every action."""
    for task in _json(path):
        steps = []
        for action in task["actions"]:
            view = from_html(action["cleaned_html"], task["confirmed_task"], "backend_node_id")
            targets = [str(each["backend_node_id"]) for each in action["pos_candidates"]]
            ref = next((each for each in targets if each in view.refs), "")
            kind = {"TYPE": "fill"}.get(action["operation"]["op"], "")
            kind = kind or str(action["operation"]["op"]).lower()
            steps.append(Step(view, Act(kind, ref, str(action["operation"].get("value") or ""))))
        if steps:
            yield Trace(tuple(steps), 1.0)  # people who were checked


def android_control(path: str | os.PathLike[str]) -> Iterator[Trace]:
    """Read a shard of AndroidControl: gzipped TFRecords of one episode each."""
    from memenvs.policies.gui.trace_records import examples, forest_elements

    for example in examples(path):
        goal = example["goal"][0].decode()
        steps = []
        trees, actions = example["accessibility_trees"], example["actions"]
        for tree, action in zip(trees, actions, strict=False):  # the last screen has no action
            view = from_android(forest_elements(tree), goal)
            steps.append(Step(view, read_action(json.loads(action), view)))
        if steps:
            yield Trace(tuple(steps), 1.0)


def webarena(path: str | os.PathLike[str]) -> Iterator[Trace]:
    """Read WebArena-like logs: JSON Lines with ``intent``, ``steps`` and a ``score``.

    A step holds ``observation``, the text of the accessibility tree, and the ``action`` on it.
    """
    for record in _lines(path):
        steps = []
        for step in record["steps"]:
            view = from_webarena(step["observation"], record["intent"])
            steps.append(Step(view, read_action(step["action"], view)))
        if steps:
            yield Trace(tuple(steps), 1.0 if float(record.get("score", 0)) > 0 else -1.0)


def miniwob(path: str | os.PathLike[str]) -> Iterator[Trace]:
    """Read demonstrations of MiniWoB++: a file, or all ``*.json`` and ``*.json.gz`` of a folder.

    Clicks are taken by the element under them, and runs of keys as one ``fill`` of the box that was
    clicked last.
    """
    place = Path(path)
    files = sorted(place.rglob("*.json*")) if place.is_dir() else [place]
    for file in files:
        record = _json(file)
        steps = tuple(_demonstrated(record))
        if steps:
            yield Trace(steps, 1.0 if record["rawReward"] > 0 else -1.0)


def _demonstrated(record: dict[str, Any]) -> Iterator[Step]:
    box, typed, typing = "", "", None
    for state in record["states"]:
        event = state["action"]
        if not event or event["type"] not in ("click", "keypress") or event.get("timing") != 1:
            continue
        view = from_dom(state["dom"], record["utterance"])
        if event["type"] == "keypress":
            typing, typed = typing or view, typed + chr(event.get("charCode") or 32)
            continue
        if typing is not None and box in typing.refs:
            yield Step(typing, Act("fill", box, typed))
        typing, typed = None, ""
        box = view.at(event["x"], event["y"]) or ""
        yield Step(view, Act("click", box))


class Agreement(NamedTuple):
    """In how many of the steps the first suggestion was the logged action."""

    steps: int
    frozen: int  # of the baseline, which proposes and learns nothing
    memory: int
    gained: int  # steps at which the memory alone agreed
    lost: int  # steps at which the baseline alone did


Proposal = Callable[[View], list[Act]]


def agreement(traces: Iterable[Trace], memory: GuiMemory, propose: Proposal) -> Agreement:
    """Ask a memory before each step of each trace, and then show it the step.

    Only steps whose logged action is on the page count.
    """
    steps = frozen = own = gained = lost = 0
    for trace in traces:
        memory.end()
        for place, (view, act) in enumerate(trace.steps):
            proposed = propose(view)
            if act.ref and proposed:
                best = memory.suggest(view, proposed)[0].action
                before, now = (same(each, act) for each in (proposed[0], best))
                steps, frozen, own = steps + 1, frozen + before, own + now
                gained, lost = gained + (now and not before), lost + (before and not now)
            trace.show(memory, place)
    return Agreement(steps, frozen, own, gained, lost)


def same(first: Act, second: Act) -> bool:
    """Say whether two actions do the same to one element, whatever the value."""
    return (first.kind, first.ref) == (second.kind, second.ref)


def named_first(view: View) -> list[Act]:
    """Propose every element, those that share most words with the goal first: a frozen baseline."""
    goal = set(_words(view.page.goal))

    def shared(place: int) -> tuple[float, int]:
        words = _words(view.page.elements[place].label)
        return -sum(word in goal for word in words) / max(len(words), 1), place

    order = sorted(range(len(view.refs)), key=shared)
    boxes = [i for i in order if view.page.elements[i].role in ("textbox", "searchbox")]
    return [
        *(Act("click", view.refs[i]) for i in order),
        *(Act("fill", view.refs[i], "?") for i in boxes),
    ]


def _words(text: str) -> list[str]:
    kept = "".join(c.lower() if c.isalnum() or c == "#" else " " for c in text)
    return kept.split()


def _json(path: str | os.PathLike[str]) -> Any:
    try:
        content = Path(path).read_bytes()
        return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (OSError, ValueError, EOFError) as error:
        raise MaterialError(f"cannot be read as JSON: {error}", file=os.fspath(path)) from None


def _lines(path: str | os.PathLike[str]) -> Iterator[Any]:
    with Path(path).open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise MaterialError(
                        f"line {number} is no JSON: {error}", file=os.fspath(path)
                    ) from None
