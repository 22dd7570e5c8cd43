"""The records of a scenario: entries, questions, subtasks, prompts, and the order of events."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query

Kind: TypeAlias = Literal["observation", "claim", "tool"]
Source: TypeAlias = Literal["official", "database", "news", "forum", "mirror"]
Happening: TypeAlias = Literal["begin", "return", "record", "prompt", "complete"]

KINDS: tuple[Kind, ...] = ("observation", "claim", "tool")
SOURCES: tuple[Source, ...] = ("official", "database", "news", "forum", "mirror")
TOKEN = re.compile(r"\w+|[^\w\s]")
NO_SLOT = -1  # of an entry that answers no question
LABEL = 2  # tokens that a line has beside its text: what it is, and a colon
ROOT = -1  # active subtask of the final step


def tokens(text: str) -> int:
    """Count the tokens of a text: its words, and each mark between them."""
    return len(TOKEN.findall(text))


@dataclass(frozen=True, slots=True)
class Entry:
    """One action of the history, with what it brought back and how it was recorded."""

    subtask: int
    kind: Kind
    source: Source
    text: str
    slot: int  # the question that it answers, NO_SLOT if none
    value: str  # its answer
    success: bool  # recorded outcome; operational, not factual
    confidence: float
    poisoned: bool  # no observation shows it

    @property
    def tokens(self) -> int:
        """Length of its line in a prompt."""
        return LABEL + tokens(self.text)


@dataclass(frozen=True, slots=True)
class Slot:
    """A question that a subtask answers, with its true answer."""

    subtask: int
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Subtask:
    """A goal; one that is not ``finished`` is left open until the end."""

    objective: str
    finished: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """A step of reasoning: which subtask is active, what is asked, whether the answer counts."""

    subtask: int  # ROOT in the final step
    slot: int
    critical: bool
    recorded: int  # entries recorded before it


@dataclass(frozen=True, slots=True)
class Event:
    """What happens next; ``number`` is of the subtask, the entry or the prompt."""

    happening: Happening
    number: int


@dataclass(frozen=True)
class Scenario:
    """A task of several subtasks, its history in order, and the prompts between.

    Entries stand in the order in which they are recorded; there is a prompt after each, and a last
    one at the root. Each critical prompt has a benign entry recorded before it that answers it.
    """

    name: str
    objective: str
    subtasks: tuple[Subtask, ...]
    slots: tuple[Slot, ...]
    entries: tuple[Entry, ...]
    prompts: tuple[Prompt, ...]
    events: tuple[Event, ...]

    def superseded(self, number: int) -> tuple[int, ...]:
        """Earlier entries that entry ``number`` supersedes, by a rule that observes no truth.

        A success of an official source supersedes what was said before in answer to the same
        question with another value. A spoofed official source supersedes the truth.
        """
        entry = self.entries[number]
        if entry.slot == NO_SLOT or entry.source != "official" or not entry.success:
            return ()
        return tuple(
            place
            for place, other in enumerate(self.entries[:number])
            if other.slot == entry.slot and other.value != entry.value
        )

    def without_poison(self) -> Scenario:
        """Give the scenario in which no poisoned entry is recorded; every prompt stays."""
        kept = [n for n, entry in enumerate(self.entries) if not entry.poisoned]
        place = {n: new for new, n in enumerate(kept)}
        return replace(
            self,
            name=f"{self.name}-clean",
            entries=tuple(self.entries[n] for n in kept),
            prompts=tuple(
                replace(prompt, recorded=sum(n < prompt.recorded for n in kept))
                for prompt in self.prompts
            ),
            events=tuple(
                Event("record", place[event.number]) if event.happening == "record" else event
                for event in self.events
                if event.happening != "record" or event.number in place
            ),
        )

    @cached_property
    def material(self) -> Material:
        """The scenario as a material: entries are claims, critical questions are queries.

        The items are the answers, supported by each entry that gives them; a query weighs as often
        as it is asked in a critical prompt.
        """
        asked = [prompt.slot for prompt in self.prompts if prompt.critical]
        claims = tuple(
            Claim(
                id=f"e{n}",
                text=entry.text,
                truth=not entry.poisoned,
                source=entry.source,
                time=float(n),
                group=f"subtask-{entry.subtask}",
                confidence=entry.confidence,
                type=entry.kind,
                cost=float(entry.tokens),
                cues={"success": float(entry.success)},
            )
            for n, entry in enumerate(self.entries)
        )
        supports: dict[tuple[int, str], list[tuple[str]]] = {}
        for n, entry in enumerate(self.entries):
            if entry.slot in asked:
                supports.setdefault((entry.slot, entry.value), []).append((f"e{n}",))
        items = tuple(
            Item(id=f"n{k}", text=value, supports=tuple(given), answers=(f"q{slot}",))
            for k, ((slot, value), given) in enumerate(supports.items())
        )
        queries = tuple(
            Query(
                id=f"q{slot}",
                text=self.slots[slot].text,
                weight=float(asked.count(slot)),
                answer=self.slots[slot].answer,
            )
            for slot in sorted(set(asked))
        )
        return Material(self.name, claims, items, queries)
