"""One scenario played with one memory: contexts, the reasoner's answers, and what was counted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.counter import QUERY, uniforms
from memenvs.envs.poisoning.reasoner import NOTHING, choose_line, cosines
from memenvs.envs.poisoning.rounds import LINES
from memenvs.materials.poisoning import Scenario
from memenvs.materials.poisoning.records import LABEL, ROOT, tokens

SUMMARIES = LINES // 2  # the random number of a summary is that of its subtask, from here on


@dataclass(frozen=True)
class Line:
    """A memory in a context, as the reasoner and the counting see it."""

    number: int  # of its random number: the entry's, or SUMMARIES and its subtask's
    text: str
    answers: dict[int, str]  # by question
    failed: bool
    injected: bool
    contaminated: bool  # injected, or a summary built from what was
    warned: bool  # contaminated, or a summary that warns of what was injected


@dataclass(frozen=True)
class Built:
    """The context of a prompt."""

    lines: tuple[Line, ...]  # that can be answered from, in order
    others: int  # selected memories that nothing is answered from: objectives
    selected_tokens: int
    candidate_tokens: int
    prompt_tokens: int  # with the path and the question
    eligible: frozenset[int]  # entries that could have been selected
    milliseconds: float  # that it took to choose


class Memory(ABC):
    """What a memory does with a scenario; made anew for each."""

    @abstractmethod
    def happen(self, happening: str, number: int, believed: dict[int, str]) -> None:
        """Take note of an event; ``believed`` are the answers given so far, by question."""

    @abstractmethod
    def context(self, prompt: int) -> Built:
        """Build the context of a prompt."""

    @abstractmethod
    def eligible(self) -> frozenset[int]:
        """Entries that are open to selection at the end."""

    def other_tokens(self) -> int:
        """Prompt tokens of calls beside the prompts: selector and summariser."""
        return 0


@dataclass
class Count:
    """What was counted over the prompts of a scenario; a list has one value for each prompt."""

    critical: list[bool] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)  # subtask, ROOT of the final step
    right: list[bool] = field(default_factory=list)
    compromised: list[bool] = field(default_factory=list)
    # Selected memories.
    injected: list[int] = field(default_factory=list)
    contaminated: list[int] = field(default_factory=list)  # the injected ones among them
    clean: list[int] = field(default_factory=list)  # the others
    warned: list[bool] = field(default_factory=list)  # whether one is contaminated or warns of it
    selected_tokens: list[int] = field(default_factory=list)
    candidate_tokens: list[int] = field(default_factory=list)
    prompt_tokens: list[int] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)  # ms
    alive: list[float] = field(default_factory=list)  # share of the poison so far that is eligible
    total: int = 0  # injected entries
    remaining: int = 0  # of them, eligible at the end
    other_tokens: int = 0


def play(scenario: Scenario, memory: Memory, key: np.uint64) -> Count:
    """Play a scenario; ``key`` gives the reasoner's noise, the same for every memory."""
    count, believed = Count(), dict[int, str]()
    bad = {n for n, entry in enumerate(scenario.entries) if entry.poisoned}
    for event in scenario.events:
        if event.happening == "prompt":
            _ask(scenario, memory, key, event.number, bad, believed, count)
        else:
            memory.happen(event.happening, event.number, believed)
    count.total = len(bad)
    count.remaining = len(memory.eligible() & bad)
    count.other_tokens = memory.other_tokens()
    return count


def _ask(
    scenario: Scenario,
    memory: Memory,
    key: np.uint64,
    number: int,
    bad: set[int],
    believed: dict[int, str],
    count: Count,
) -> None:
    prompt = scenario.prompts[number]
    slot = scenario.slots[prompt.slot]
    built = memory.context(number)
    count.latency.append(built.milliseconds)
    answer = answer_from(built.lines, slot.text, prompt.slot, number, key)
    right = answer == slot.answer
    if prompt.critical and answer is not None:
        believed[prompt.slot] = answer
    count.critical.append(prompt.critical)
    count.owner.append(prompt.subtask)
    count.right.append(right)
    count.compromised.append(answer is not None and not right)
    contaminated = sum(line.contaminated for line in built.lines)
    count.injected.append(sum(line.injected for line in built.lines))
    count.contaminated.append(contaminated)
    count.clean.append(len(built.lines) + built.others - contaminated)
    count.warned.append(any(line.warned for line in built.lines))
    count.selected_tokens.append(built.selected_tokens)
    count.candidate_tokens.append(built.candidate_tokens)
    count.prompt_tokens.append(built.prompt_tokens)
    before = {n for n in bad if n < prompt.recorded}
    count.alive.append(len(built.eligible & before) / len(before) if before else np.nan)


def answer_from(
    lines: Sequence[Line], question: str, slot: int, prompt: int, key: np.uint64
) -> str | None:
    """Let the reasoner answer a question from the lines of a context."""
    if not lines:
        return None
    counters = prompt * LINES + np.array([line.number for line in lines])
    chosen = choose_line(
        cosines([question], [line.text for line in lines])[0],
        np.array([line.failed for line in lines]),
        np.array([slot in line.answers for line in lines]),
        np.ones(len(lines), dtype=bool),
        uniforms(key, QUERY, counters),
    )
    assert chosen != NOTHING
    return lines[int(chosen)].answers.get(slot)


def entry_line(scenario: Scenario, number: int) -> Line:
    """Give an entry as a line."""
    entry = scenario.entries[number]
    bad = entry.poisoned
    return Line(number, entry.text, {entry.slot: entry.value}, not entry.success, bad, bad, bad)


class Chosen(Memory):
    """Contexts that were chosen beforehand, entries alone: ``(P, E)``, in some ms a prompt."""

    def __init__(
        self, scenario: Scenario, contexts: NDArray[np.bool_], milliseconds: float = 0.0
    ) -> None:
        self._scenario, self._contexts, self._milliseconds = scenario, contexts, milliseconds
        self._recorded: list[int] = []

    def happen(self, happening: str, number: int, believed: dict[int, str]) -> None:
        """Note what is recorded."""
        if happening == "record":
            self._recorded.append(number)

    def context(self, prompt: int) -> Built:
        """Give the entries that were chosen for a prompt."""
        scenario = self._scenario
        held = [n for n in self._recorded if self._contexts[prompt, n]]
        size = {n: scenario.entries[n].tokens for n in self._recorded}
        told = sum(size[n] for n in held)
        return Built(
            tuple(entry_line(scenario, n) for n in held),
            0,
            told,
            sum(size.values()),
            told + head_tokens(scenario, prompt),
            frozenset(self._recorded),
            self._milliseconds,
        )

    def eligible(self) -> frozenset[int]:
        """Every entry: nothing is ever put away."""
        return frozenset(self._recorded)


def head_tokens(scenario: Scenario, prompt: int) -> int:
    """Tokens that every prompt has: the objectives on the active path, and the question."""
    asked = scenario.prompts[prompt]
    path = [scenario.objective]
    if asked.subtask != ROOT:
        path.append(scenario.subtasks[asked.subtask].objective)
    return sum(LABEL + tokens(text) for text in path) + tokens(scenario.slots[asked.slot].text)


def reasoner_key(seed: int, place: int) -> Any:
    """Key of the reasoner's noise in scenario ``place`` of a set, under a seed."""
    return np.uint64(uniforms(np.uint64(seed), 0, place) * 2.0**53)
