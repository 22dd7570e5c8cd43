"""A memory for any agent on a graphical interface: it is shown pages and actions, as text.

It needs no environment. ``suggest`` ranks the actions that an agent proposes by what equal pages
have shown; ``observe`` records what was done and what followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from memenvs.envs.gui.goal import read_goal
from memenvs.errors import MaterialError
from memenvs.policies.bisimulation.graph import (
    ACTION,
    COUNT,
    FAILURE,
    LAST,
    NEITHER,
    SOURCE,
    SUCCESS,
    TARGET,
    TERMINALS,
)
from memenvs.policies.bisimulation.graph_view import graph_of
from memenvs.policies.bisimulation.memory import UNKNOWN, TransitionMemory
from memenvs.policies.bisimulation.rules import find_rule
from memenvs.policies.gui.actions import Act, read_action
from memenvs.policies.gui.adapter import label, number
from memenvs.policies.gui.journal import Event, Journal
from memenvs.policies.gui.naming import described, element_name, element_names, name_of, signature
from memenvs.policies.gui.nodes import View

Action = Act | str | Mapping[str, Any]
LIMIT = 10_000  # pages
SLACK = 1.25  # of the limit: so much is let grow before the oldest are forgotten
TITLE = 60  # characters of a page's text that are kept to show it


class Suggestion(NamedTuple):
    """One proposed action, and what is known of it."""

    action: Any  # as it was proposed
    score: float  # evidence, less what its place in the proposal costs
    evidence: float  # q_B: above 0 what led on, below 0 what failed; 0 where nothing is known
    times: int  # that it was recorded on equal pages


class GuiMemory:
    """What was tried on which page, by whatever agent.

    Args:
        path: the file it lives in, which is made where there is none; every observation is on the
            disk when ``observe`` returns. None: in memory alone.
        rule: name of the merge rule; that of a file stands.
        limit: pages it keeps; those that were not seen for longest are forgotten.

    Raises ``MaterialError`` for a file that is damaged, open already, or no GUI memory, and
    ``ValueError`` for an unknown rule.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        rule: str = "guarded",
        limit: int = LIMIT,
    ) -> None:
        find_rule(rule)
        if limit < 1:
            raise ValueError(f"limit={limit!r} is not a positive integer")
        self.limit = limit
        self.reads = ""  # how its views were read
        self.names: dict[int, str] = {}  # of pages and actions, to show them
        self._begun = False  # whether an episode is running
        self._stuck: dict[int, set[int]] = {}  # by page: what left it as it was, in this episode
        self._core = TransitionMemory(rule)
        self._journal = None if path is None else Journal(path)
        if self._journal is not None:
            try:
                self._restore(self._journal)
            except BaseException:
                self._journal.close()
                raise

    @property
    def core(self) -> TransitionMemory:
        """The graph and its partition; the numbers in it are those of ``names``."""
        return self._core

    def suggest(self, view: View, candidates: Sequence[Action]) -> list[Suggestion]:
        """Rank proposed actions, which come in the agent's own order; the best first.

        Where nothing is known the agent's order stands. Raises ``ValueError`` for actions that
        cannot be read, and for a view that was read in another way than those in memory.
        """
        self._check(view)
        if not self._begun:
            self.begin(view)
        self._record(self._page(view))
        found = [self._known(view, read_action(each, view)) for each in candidates]
        stuck = self._stuck.get(signature(view), ())
        evidence = self._core.evidence(signature(view), found, stuck)
        scores = evidence.values - self._core.constants.rank_penalty * np.arange(len(found))
        ranked = [
            Suggestion(action, float(score), float(value), int(count))
            for action, score, value, count in zip(
                candidates, scores, evidence.values, evidence.counts, strict=True
            )
        ]
        return sorted(ranked, key=lambda each: -each.score)

    def begin(self, view: View) -> None:
        """Begin an episode at a page, as ``suggest`` and ``observe`` do after an end."""
        self._check(view)
        self._record([*self._page(view), ["begin", signature(view), 1]])
        self._begun = True

    def observe(
        self, view: View, action: Action, after: View, reward: float = 0.0, done: bool = False
    ) -> None:
        """Record what was done at a page, and what followed.

        With ``done`` the episode ends there: in success where ``reward`` is above 0, in failure
        where it is below, and else it was cut.
        """
        for each in (view, after):
            self._check(each)
        if not self._begun:
            self.begin(view)
        act = read_action(action, view)
        named = name_of(view, act)
        done_number = number("action", *named)
        events = [*self._page(view), *self._name(done_number, described(named))]
        target, role = signature(after), None
        if done:
            target, role = 0, SUCCESS if reward > 0 else FAILURE if reward < 0 else NEITHER
        else:
            events += self._page(after)
        self._record([*events, ["edge", signature(view), done_number, target, role, 1]])
        if role is None and target == signature(view):
            self._stuck.setdefault(target, set()).add(done_number)
        if done:
            self.end()
        if len(self._core.pages()) > SLACK * self.limit:
            self._rewrite(self.limit)

    def end(self) -> None:
        """Leave an episode where it is: the next observation begins another."""
        self._begun = False
        self._stuck.clear()

    def merge(self, other: GuiMemory) -> None:
        """Take over all that another memory has recorded; a page that both know is one."""
        if other.reads and self.reads and other.reads != self.reads:
            raise ValueError(f"one memory reads {self.reads}, the other {other.reads}")
        self._record(list(other.events()))
        if len(self._core.pages()) > self.limit:
            self._rewrite(self.limit)

    def events(self, keep: int | None = None) -> Iterator[Event]:
        """Give what makes this memory again; ``keep``: of the pages seen last alone."""
        graph = self._core.graph
        pages, edges = self._core.pages(), graph.edges
        kept = set(range(graph.nodes))
        if keep is not None and len(pages) > keep:
            seen = np.zeros(graph.nodes, dtype=np.int64)
            for end in (SOURCE, TARGET):
                np.maximum.at(seen, edges[end], edges[LAST])
            latest = np.argsort(seen[TERMINALS:], kind="stable")[-keep:] + TERMINALS
            kept = {*range(TERMINALS), *latest.tolist()}
        yield ["memory", self.reads, self._core.rule]
        templates = self._core.templates()
        signatures = [page[0] for page in pages]
        for node, (mark, offers, elements) in enumerate(pages, TERMINALS):
            if node in kept:
                yield ["page", mark, offers, sorted(elements)]
                yield from self._named(mark)
        for node, times in graph.first.items():
            if node in kept:
                yield ["begin", signatures[node - TERMINALS], times]
        named: set[int] = set()
        for edge in np.argsort(edges[LAST], kind="stable").tolist():
            source, action, target = (int(edges[row, edge]) for row in (SOURCE, ACTION, TARGET))
            if source not in kept or target not in kept:
                continue
            if action not in named:
                named.add(action)
                yield from self._named(templates[action])
            role = target if target < TERMINALS else None
            mark = 0 if role is not None else signatures[target - TERMINALS]
            origin = signatures[source - TERMINALS]
            yield ["edge", origin, templates[action], mark, role, int(edges[COUNT, edge])]

    def graph(self) -> dict[str, Any]:
        """Describe what it holds, for ``as_html`` and ``as_dot``."""
        return graph_of(self._core, self.names)

    def close(self) -> None:
        """Let go of the file; all of it is on the disk already."""
        if self._journal is not None:
            self._journal.close()

    def _check(self, view: View) -> None:
        if self.reads and view.reads != self.reads:
            raise ValueError(
                f"this memory holds pages read as {self.reads}, and the view was read as "
                f"{view.reads}; keep a memory for each"
            )

    def _known(self, view: View, act: Act) -> int:
        """Give the number of an action; UNKNOWN where its name could mean another element."""
        if act.ref and element_names(view).count(element_name(view, act)) > 1:
            return UNKNOWN
        return number("action", *name_of(view, act))

    def _page(self, view: View) -> list[Event]:
        mark, page = signature(view), view.page
        if mark in self._core.signatures:
            return []
        events: list[Event] = [] if self.reads else [["memory", view.reads, self._core.rule]]
        offers = label(page, read_goal(page.goal))
        elements = sorted(number("element", *element) for element in page.elements)
        title = page.text[:TITLE] or ", ".join(e.label for e in page.elements)[:TITLE]
        return [*events, ["page", mark, offers, elements], ["name", mark, title]]

    def _name(self, key: int, text: str) -> list[Event]:
        return [] if key in self.names else [["name", key, text]]

    def _named(self, key: int) -> Iterator[Event]:
        if key in self.names:
            yield ["name", key, self.names[key]]

    def _record(self, events: list[Event]) -> None:
        """Write events to the disk, and then know them."""
        if events and self._journal is not None:
            self._journal.append(events)
        for event in events:
            self._apply(event)

    def _apply(self, event: Event) -> None:
        kind, *rest = event
        if kind == "memory":
            self.reads = rest[0] or self.reads
        elif kind == "page":
            self._core.add_page(rest[0], rest[1], frozenset(rest[2]))
        elif kind == "name":
            self.names[rest[0]] = rest[1]
        elif kind == "begin":
            self._core.graph.begin(self._core.node(rest[0]), rest[1])
        else:
            source, action, target, role, times = rest
            node = self._core.node(target) if role is None else role
            self._core.graph.record(
                self._core.node(source), self._core.template(action), node, times
            )

    def _restore(self, journal: Journal) -> None:
        events = journal.read()
        try:
            if events:
                kind, _, rule = events[0]
                if kind != "memory":
                    raise ValueError
                self._core = TransitionMemory(rule)
            for event in events:
                self._apply(event)
        except (ValueError, LookupError, TypeError):
            raise MaterialError("holds no GUI memory", file=str(journal.path)) from None

    def _rewrite(self, keep: int) -> None:
        """Forget all but the pages that were seen last."""
        events = list(self.events(keep))
        if self._journal is not None:
            self._journal.replace(events)
        self._core, self.names = TransitionMemory(self._core.rule), {}
        for event in events:
            self._apply(event)
