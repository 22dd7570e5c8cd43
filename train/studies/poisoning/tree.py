"""The weighted tree, and its ablations, as the memory of a poisoned scenario."""

from __future__ import annotations

import time
from typing import Any

from memenvs.envs.poisoning.poisoning_env import BUDGET
from memenvs.materials.poisoning import Scenario
from memenvs.materials.poisoning.records import NO_SLOT, ROOT, Entry, tokens
from memenvs.materials.poisoning.texts import LEADS
from memenvs.policies.weighted_tree import Configuration, Constants, WeightedTree
from memenvs.policies.weighted_tree.nodes import ACTION, SUMMARY
from memenvs.train.studies.poisoning.counts import SUMMARIES, Built, Line, Memory, entry_line


class TreeMemory(Memory):
    """A tree to which a scenario happens: subtasks are tasks, entries are actions.

    The budget bounds the selected memories, beside the active path. The result of a completed
    subtask is what was answered in it so far.
    """

    def __init__(
        self,
        scenario: Scenario,
        configuration: str | Configuration = "full",
        constants: Constants | None = None,
        *,
        budget: int = BUDGET,
    ) -> None:
        self._scenario, self._budget = scenario, budget
        self.tree = WeightedTree(configuration, constants)
        self._root = self.tree.begin_task(scenario.objective)
        self._tasks: dict[int, int] = {}  # node by subtask
        self._entries: dict[int, int] = {}  # entry by node
        self._results: dict[int, dict[int, str]] = {}  # answers by summary

    def happen(self, happening: str, number: int, believed: dict[int, str]) -> None:
        """Tell the tree of an event."""
        scenario, tree = self._scenario, self.tree
        if happening == "begin":
            self._go(self._root)
            self._tasks[number] = tree.begin_task(scenario.subtasks[number].objective)
        elif happening == "return":
            tree.return_to(self._tasks[number], details=True)
        elif happening == "record":
            self._record(number)
        else:
            self._complete(number, believed)

    def context(self, prompt: int) -> Built:
        """Build the context of a prompt, and let it feed back."""
        asked, tree = self._scenario.prompts[prompt], self.tree
        if asked.subtask == ROOT:
            self._go(self._root)
        question = self._scenario.slots[asked.slot].text
        assert tree.active is not None
        path = int(tree.nodes.tokens[tree.nodes.path(tree.active)].sum())
        begun = time.perf_counter()
        context = tree.context(question, self._budget + path, prompt)
        milliseconds = 1e3 * (time.perf_counter() - begun)
        lines = [self._line(n) for n in context.selected if tree.nodes.kind[n] in (ACTION, SUMMARY)]
        return Built(
            tuple(lines),
            len(context.selected) - len(lines),
            context.selected_tokens,
            context.candidate_tokens,
            context.tokens + tokens(question),
            self._among(context.candidates),
            milliseconds,
        )

    def eligible(self) -> frozenset[int]:
        """Entries that the tree would still consider."""
        return self._among(self.tree.candidates().tolist())

    def other_tokens(self) -> int:
        """Tokens of the selector's and the summariser's calls."""
        return self.tree.tokens.selector + self.tree.tokens.summarizer

    def _record(self, number: int) -> None:
        entry = self._scenario.entries[number]
        told: dict[str, Any] = {}
        if entry.slot != NO_SLOT:
            told = {"slot": str(entry.slot), "value": entry.value}
        node = self.tree.record_action(
            entry.text,
            "success" if entry.success else "failure",
            source=_said_by(entry),
            official=entry.source == "official",
            **told,
        )
        self._entries[node] = number

    def _complete(self, number: int, believed: dict[int, str]) -> None:
        own = {
            slot: believed.get(slot)
            for slot, asked in enumerate(self._scenario.slots)
            if asked.subtask == number
        }
        known = {slot: value for slot, value in own.items() if value is not None}
        summary = self.tree.complete(
            self._tasks[number],
            result="; ".join(known.values()),
            unresolved=[self._scenario.slots[slot].text for slot in own if slot not in known],
        )
        if summary is not None:
            self._results[summary] = known

    def _line(self, node: int) -> Line:
        if self.tree.nodes.kind[node] == ACTION:
            return entry_line(self._scenario, self._entries[node])
        scenario, tree = self._scenario, self.tree
        entries = [scenario.entries[n] for n in sorted(self._among(tree.sources(node)))]
        warned = self._among(tree.sources(node, warnings=True))
        result = self._results[node]
        false = any(value != scenario.slots[slot].answer for slot, value in result.items())
        bad = false or any(entry.poisoned for entry in entries)
        answers = {entry.slot: entry.value for entry in entries} | result
        task = int(tree.nodes.task[node])
        subtask = next(number for number, own in self._tasks.items() if own == task)
        return Line(
            SUMMARIES + subtask,
            tree.nodes.texts[node],
            answers,
            failed=False,
            injected=False,
            contaminated=bad,
            warned=bad or any(scenario.entries[n].poisoned for n in warned),
        )

    def _among(self, nodes: Any) -> frozenset[int]:
        return frozenset(self._entries[n] for n in nodes if n in self._entries)

    def _go(self, task: int) -> None:
        if self.tree.active != task:
            self.tree.return_to(task)


def _said_by(entry: Entry) -> str:
    """Name the source of an entry: two of one kind are told apart by their words."""
    return next((lead for lead in LEADS[entry.source] if lead in entry.text), entry.source)
