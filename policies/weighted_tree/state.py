"""The memory of a tree as a fold over events: the same ones build it, and build it again."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.weighted_tree.beliefs import (
    REINSTATED,
    STANDS,
    SUPPRESSED,
    WITHDRAWN,
    Beliefs,
    below,
)
from memenvs.policies.weighted_tree.configurations import Configuration
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    ACTIVE,
    COMPLETED,
    FOLDED,
    GLOBAL,
    LABEL_TOKENS,
    NONE,
    OUTCOMES,
    ROOT,
    SUCCESS,
    SUMMARY,
    TASK,
    UNKNOWN,
    Nodes,
)
from memenvs.policies.weighted_tree.relevance import Index
from memenvs.policies.weighted_tree.scores import Branches, after_selection
from memenvs.policies.weighted_tree.synthesizer import candidates

Event = dict[str, Any]


@dataclass
class Tokens:
    """Prompt tokens so far, of every call that the configuration makes."""

    prompts: int = 0
    selector: int = 0
    summarizer: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.prompts + self.selector + self.summarizer


class State:
    """Nodes, the active task, and what was built last; changed by ``apply`` alone."""

    def __init__(self, configuration: Configuration, constants: Constants) -> None:
        self.configuration, self.constants = configuration, constants
        self.nodes, self.index, self.tokens = Nodes(), Index(), Tokens()
        self.beliefs = Beliefs(self.nodes, constants, supersession=configuration.supersession)
        self.root, self.active = NONE, NONE
        self.last: Event = {}  # the last context's event, with its path and candidates
        self._pool: IntArray | None = None
        self._branches: Branches | None = None

    @property
    def path(self) -> list[int]:
        """Tasks from the root to the active one."""
        return self.nodes.path(self.active)

    def pool(self) -> IntArray:
        """Candidates beside the path, ascending."""
        if self._pool is None:
            self._pool = self._candidates()
        return self._pool

    def priorities(self, score: FloatArray) -> FloatArray:
        """Give U_b of every task by scores ``(n,)``, 0 elsewhere: ``(n,)``."""
        if self._branches is None:
            self._branches = Branches(self.nodes)
        return self._branches.priorities(score, self.constants)

    def after(self, selected: list[int]) -> tuple[FloatArray, IntArray]:
        """Give scores and streaks as they are after a selection."""
        nodes = self.nodes
        eligible, chosen = np.zeros((2, len(nodes)), dtype=bool)
        chosen[selected] = chosen[self.path] = True
        eligible[self.pool()] = True
        return after_selection(
            nodes.score,
            nodes.missed,
            eligible | chosen,
            chosen,
            np.asarray(nodes.kind == GLOBAL),
            self.constants,
        )

    def apply(self, event: Event) -> int:
        """Make the change of an event; gives the node that it added, else NONE."""
        added: int | None = getattr(self, f"_{event['op']}")(event)
        if event["op"] != "context" or event["suppressed"]:
            self._pool = self._branches = None
        return NONE if added is None else added

    def _task(self, event: Event) -> int:
        if self.active == NONE or event.get("root"):
            self.root = self.active = self._add(ROOT, event, NONE)
        else:
            self.active = self._add(TASK, event, self.active)
        return self.active

    def _action(self, event: Event) -> int:
        number = self._add(ACTION, event, event.get("parent", self.active))
        for old in event.get("supersedes", ()):
            self.beliefs.supersede(old, number)
        self._outcome({"node": number, "outcome": event["outcome"]})
        return number

    def _outcome(self, event: Event) -> None:
        """Set u by the outcome (eq. 2); the streak of missed selections stays."""
        outcome, node, constants = OUTCOMES.index(event["outcome"]), event["node"], self.constants
        self.nodes.outcome[node] = outcome
        if self.configuration.scores and outcome != UNKNOWN:
            self.nodes.score[node] = constants.success if outcome == SUCCESS else constants.failure
        self.beliefs.revise([node])

    def _complete(self, event: Event) -> int | None:
        nodes, task = self.nodes, event["node"]
        self._reach(task, COMPLETED)
        if task in self.path:
            self.active = int(nodes.parent[task])
        if event["summary"] is None:
            return None
        if nodes.summary[task] != NONE:  # it is part of the new one
            self._reach(int(nodes.summary[task]), FOLDED)
        self._reach(task, FOLDED)
        nodes.mark[task] = len(nodes)
        built = {name: event[name] for name in ("evidence", "warnings", "result") if name in event}
        nodes.summary[task] = number = self._add(
            SUMMARY, {"text": event["summary"], "metadata": built}, task
        )
        self.tokens.summarizer += event["tokens"]
        return number

    def _obsolete(self, event: Event) -> None:
        for node in event["nodes"]:
            if event["by"] is None:
                self.nodes.withdrawn[node] = WITHDRAWN
            else:
                self.beliefs.supersede(node, event["by"])
            self.beliefs.revise(below(self.nodes, node))

    def _reinstate(self, event: Event) -> None:
        """Take back what made a node obsolete; no official success supersedes it from then on."""
        node = event["node"]
        self.nodes.withdrawn[node], self.nodes.told[node] = REINSTATED, NONE
        self.beliefs.revise(below(self.nodes, node))

    def _forget(self, event: Event) -> None:
        """Erase an action, and what was built from it; the nodes stay, empty and withdrawn."""
        nodes = self.nodes
        gone = [event["node"], *self.beliefs.built(event["node"])]
        left = self.beliefs.forget(event["node"])
        for node in gone:
            self.index.forget(node, nodes.texts[node])
            nodes.texts[node], nodes.metadata[node] = "", {}
            nodes.tokens[node] = LABEL_TOKENS
            nodes.withdrawn[node] = WITHDRAWN
        self.beliefs.revise([*gone, *left])

    def _reach(self, node: int, stage: int) -> None:
        self.nodes.stage[node] = stage
        self.beliefs.show(node)

    def _return(self, event: Event) -> None:
        """Activate a task and those above it; what a fold hides stays behind its summary."""
        nodes = self.nodes
        path = nodes.path(event["node"])
        for above, task in zip([NONE, *path], path, strict=False):
            withdrawn = nodes.withdrawn[task] == WITHDRAWN
            nodes.withdrawn[task], nodes.told[task] = STANDS, NONE
            self._reach(task, ACTIVE)
            if withdrawn:
                self.beliefs.revise(below(nodes, task))
            if above != NONE and task < nodes.mark[above]:
                nodes.mark[task] = max(nodes.mark[task], nodes.mark[above])
        if event["details"]:
            nodes.mark[event["node"]] = 0
        self.active, self.root = event["node"], path[0]

    def _global(self, event: Event) -> int:
        return self._add(GLOBAL, event, NONE)

    def _context(self, event: Event) -> None:
        self.last = {**event, "path": self.path, "candidates": self.pool()}
        if self.configuration.scores:
            self.nodes.score[:], self.nodes.missed[:] = self.after(event["selected"])
        for branch in event["suppressed"]:
            self.nodes.withdrawn[branch] = SUPPRESSED
            self.beliefs.show(branch)
        self.tokens.prompts += event["tokens"]
        self.tokens.selector += event["selector_tokens"]

    def saved(self) -> Event:
        """Give the event that builds this state again."""
        last = dict(self.last)
        if last:
            last["candidates"] = np.asarray(last["candidates"]).tolist()
        rest = {"root": self.root, "active": self.active, "last": last}
        return {"op": "state", **self.nodes.saved(), **rest, "tokens": list(astuple(self.tokens))}

    def _state(self, event: Event) -> None:
        """Enter what was saved."""
        self.nodes.load(event)
        for number, text in enumerate(event["texts"]):
            self.index.add(text)
            self.beliefs.add(number)
        for number in np.flatnonzero(self.nodes.told != NONE).tolist():
            self.beliefs.supersede(number, int(self.nodes.told[number]))
        self.root, self.active = event["root"], event["active"]
        self.last, self.tokens = event["last"], Tokens(*event["tokens"])

    def _add(self, kind: int, event: Event, parent: int) -> int:
        constants = self.constants
        prior = {
            ROOT: constants.root,
            TASK: constants.task,
            ACTION: constants.action,
            SUMMARY: constants.summary,
            GLOBAL: constants.global_,
        }
        self.index.add(event["text"])
        # A copy: what happens to a node later is written into it.
        number = self.nodes.append(
            kind, event["text"], parent, prior[kind], dict(event["metadata"])
        )
        self.beliefs.add(number)
        return number

    def _candidates(self) -> IntArray:
        nodes, history = self.nodes, self.configuration.history
        if self.active == NONE or history == "none":
            return np.zeros(0, dtype=np.int64)
        if history == "tree":
            return candidates(nodes, self.root, self.path)
        everything: BoolArray = nodes.root == self.root
        everything[self.path] = False
        return np.flatnonzero(everything | (nodes.kind == GLOBAL))
