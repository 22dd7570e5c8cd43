"""The weighted memory tree: what an agent records, and the contexts that it is given back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from memenvs.policies.weighted_tree.configurations import Configuration
from memenvs.policies.weighted_tree.configurations import configuration as switches
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.construction import constructed, context_of
from memenvs.policies.weighted_tree.folding import branch_of
from memenvs.policies.weighted_tree.journal import (
    Journal,
    header,
    heading,
    outdated,
    replay,
)
from memenvs.policies.weighted_tree.kept import Kept
from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    ACTIVE,
    GLOBAL,
    NONE,
    OBSOLETE,
    OUTCOMES,
    ROOT,
    TASK,
    Outcome,
    checked_outcome,
)
from memenvs.policies.weighted_tree.salvage import Salvaged, salvaged
from memenvs.policies.weighted_tree.selector import LexicalSelector, Selector
from memenvs.policies.weighted_tree.state import Event, State
from memenvs.policies.weighted_tree.summarizer import PlainSummarizer, Summarizer
from memenvs.policies.weighted_tree.synthesizer import Context, closed
from memenvs.storage.handles import one_at_a_time


class WeightedTree(Kept):
    """A hierarchical memory whose nodes have retention scores (sections 2.2 to 2.6 of the paper).

    Args:
        configuration: a name of ``CONFIGURATIONS``, or switches of your own.
        constants: scores, decay and coefficients.
        selector: chooses single memories where the configuration has a selector.
        summarizer: writes the summary of a completed branch where it folds.

    Nodes are numbered from 0 in the order in which they came, and are never deleted. Methods raise
    ``ValueError`` for a node that does not exist or cannot be meant. A tree in memory alone is kept
    with ``save``; one that was opened from a file has each change on the disk before the method
    that made it returns.
    """

    def __init__(
        self,
        configuration: str | Configuration = "full",
        constants: Constants | None = None,
        *,
        selector: Selector | None = None,
        summarizer: Summarizer | None = None,
    ) -> None:
        super().__init__(State(switches(configuration), constants or Constants()))
        self._selector: Selector = selector or LexicalSelector()
        self._summarizer: Summarizer = summarizer or PlainSummarizer()
        self._built: tuple[Any, Context] | None = None  # the last context, by its step

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        configuration: str | Configuration | None = None,
        constants: Constants | None = None,
        *,
        selector: Selector | None = None,
        summarizer: Summarizer | None = None,
    ) -> WeightedTree:
        """Open the tree of a file, or begin one there.

        A file keeps its configuration and constants; others than these are refused. Raises
        ``MaterialError`` that names the file and the line.
        """
        journal, events = Journal.open(path)
        try:
            wanted = None if configuration is None else switches(configuration)
            kept = heading(events, os.fspath(path), wanted, constants)
            tree = cls(*kept, selector=selector, summarizer=summarizer)
            if not events:
                journal.append(header(*kept))
            replay(tree._state, events[1:], os.fspath(path))
            if outdated(events):
                journal.rewrite([header(*kept), tree._state.saved()])
        except BaseException:
            journal.close()
            raise
        tree._journal = journal
        return tree

    @classmethod
    def salvage(cls, path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Salvaged:
        """Write to ``out`` the tree of a damaged file, up to what is damaged; the file stays.

        Gives how many lines were kept, and what every other line was: what comes after a damaged
        one names nodes by numbers that nobody can tell any more. Raises ``MaterialError`` for a
        file that was never a tree.
        """
        return salvaged(path, out)

    @one_at_a_time
    def begin_task(self, objective: str, **metadata: Any) -> int:
        """Begin the root with the user's query, or a subtask of the active task; it is then active.

        After a root was completed the next query begins a tree of its own beside the old one.
        """
        return self._commit({"op": "task", "text": objective, "metadata": metadata})

    @one_at_a_time
    def begin_root(self, objective: str, **metadata: Any) -> int:
        """Begin a tree of its own beside the others, as for a user or a session; it is active."""
        return self._commit({"op": "task", "text": objective, "metadata": metadata, "root": True})

    @one_at_a_time
    def record_action(
        self,
        text: str,
        outcome: Outcome | None = None,
        *,
        source: str = "",
        slot: str | None = None,
        value: str | None = None,
        official: bool = False,
        **metadata: Any,
    ) -> int:
        """Record an action with its observation under the active task; gives its node.

        ``slot`` and ``value`` say what it claims of what: ``official`` successes that agree
        supersede the actions of this tree with another value of the slot, earlier and later ones,
        where the configuration has supersession. ``metadata`` is kept, and must be what JSON can
        hold.
        """
        if self._state.active == NONE:
            raise ValueError("no task is active; begin one before recording an action")
        told: dict[str, Any] = {"source": source, **metadata}
        if slot is not None and value is not None:
            told |= {"slot": slot, "value": value, "official": official}
        event = {"op": "action", "text": text, "metadata": told}
        return self._commit({**event, "outcome": checked_outcome(outcome)})

    @one_at_a_time
    def revise(self, action: int, outcome: Outcome | None) -> None:
        """Record or revise the outcome of an action: its score is set anew, its streak stays."""
        self._check(action, "an action", ACTION)
        self._commit({"op": "outcome", "node": action, "outcome": checked_outcome(outcome)})

    @one_at_a_time
    def update(self, action: int, text: str, **metadata: Any) -> int:
        """Say an action anew, in its place: the old wording gives way; gives the new node."""
        self._check(action, "an action", ACTION)
        nodes = self._state.nodes
        told = {**nodes.metadata[action], **metadata}
        event: Event = {"op": "action", "text": text, "metadata": told, "supersedes": [action]}
        outcome = OUTCOMES[nodes.outcome[action]]
        return self._commit(event | {"outcome": outcome, "parent": int(nodes.parent[action])})

    @one_at_a_time
    def forget(self, action: int) -> None:
        """Erase an action, and every summary and global memory that was built from it.

        Their texts are gone from the tree and from its file; their numbers stay.
        """
        self._check(action, "an action", ACTION)
        self._commit({"op": "forget", "node": action})
        self._compact()

    @one_at_a_time
    def complete(
        self, task: int | None = None, *, result: str = "", unresolved: Sequence[str] = ()
    ) -> int | None:
        """Complete a task, by default the active one; gives its summary where branches are folded.

        Its parent is then active, if it was on the active path; after the root none is.
        """
        state = self._state
        task = self._active() if task is None else task
        self._check(task, "a task", ROOT, TASK)
        shut = closed(state.nodes, state.path)
        if state.nodes.lifecycle[task] != ACTIVE or shut[task]:
            raise ValueError(f"node {task} is no active task; return to it first")
        event: Event = {"op": "complete", "node": task, "summary": None}
        if state.configuration.folding:
            branch, evidence, warnings = branch_of(
                state.nodes, state.pool().tolist(), task, result, tuple(unresolved)
            )
            event |= {"summary": self._summarizer.summarize(branch)}
            event |= {"evidence": evidence, "warnings": warnings, "result": branch.result}
            event |= {"tokens": self._summarizer.tokens(branch)}
        added = self._commit(event)
        return None if added == NONE else added

    @one_at_a_time
    def invalidate(self, node: int) -> None:
        """Mark a memory, or a task with all below it, obsolete; without supersession do nothing."""
        self._mark_obsolete(node, None)

    @one_at_a_time
    def supersede(self, old: int, new: int) -> None:
        """Mark a memory obsolete in favour of another; without supersession do nothing."""
        self._check(new, "a node")
        self._mark_obsolete(old, new)

    @one_at_a_time
    def reinstate(self, node: int) -> None:
        """Take back that a memory or a task is obsolete, whatever made it so.

        No official success supersedes it from then on; without supersession do nothing.
        """
        self._check(node, "a task, an action or a global memory", TASK, ACTION, GLOBAL)
        if not self._state.nodes.texts[node]:
            raise ValueError(f"node {node} was forgotten")
        if self._state.configuration.supersession:
            self._commit({"op": "reinstate", "node": node})

    @one_at_a_time
    def return_to(self, task: int, *, details: bool = False) -> None:
        """Resume a task, folded or obsolete: its summary is there at once.

        With ``details`` what stands behind the summary is, too, where the configuration reopens.
        """
        self._check(task, "a task", ROOT, TASK)
        details = details and self._state.configuration.suppression
        self._commit({"op": "return", "node": task, "details": details})

    @one_at_a_time
    def promote(self, task: int | None = None) -> int:
        """Make the summary of a completed task, by default of the root, a global memory."""
        nodes = self._state.nodes
        task = self._state.root if task is None else task
        self._check(task, "a task", ROOT, TASK)
        summary = int(nodes.summary[task])
        sound = summary != NONE and nodes.lifecycle[summary] != OBSOLETE
        if not sound or nodes.lifecycle[task] == ACTIVE:
            raise ValueError(f"node {task} has no summary to promote; complete it, with folding on")
        built = {"evidence": [summary], "warnings": []}
        return self._commit({"op": "global", "text": nodes.texts[summary], "metadata": built})

    @one_at_a_time
    def context(
        self, query: str = "", budget: int | None = None, step_id: str | int | None = None
    ) -> Context:
        """Build the working context of a step, then let selection feed back into the scores.

        ``query`` says what the step asks, beside the objective of the active task. ``budget``
        bounds the tokens of the text, but never cuts the active path; a linear history knows no
        budget, and whole branches are taken as long as any is left. The same ``step_id`` twice in
        a row is one step: it gives the same context and decays nothing.
        """
        self._active()
        last = self._state.last
        if step_id is not None and last and last["step"] == step_id:
            if self._built is None or self._built[0] != step_id:
                self._built = step_id, context_of(self._state)
            return self._built[1]
        asked = np.inf if budget is None else budget
        self._commit(constructed(self._state, self._selector, query, asked, step_id))
        context = context_of(self._state)
        self._built = step_id, context
        return context

    def _mark_obsolete(self, node: int, by: int | None) -> None:
        self._check(node, "a task, an action or a global memory", TASK, ACTION, GLOBAL)
        if node in self._state.path:
            raise ValueError(f"node {node} is on the active path; complete it or leave it first")
        if self._state.configuration.supersession:
            self._commit({"op": "obsolete", "nodes": [node], "by": by})
