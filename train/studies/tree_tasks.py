"""Long-horizon tasks for the weighted tree: a seeded generator, and the order of their actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memenvs.policies.weighted_tree.nodes import Outcome

# Seeds of the first task of a split: constants are looked at on the first split alone.
SEEDS = {"validation": 50_000, "test": 60_000}

NAMES = (
    "Arvida Belmont Castor Dunmore Elsinor Farrow Galena Harwick Islay Juniper Kestrel Lorient"
).split()
ATTRIBUTES = "founder architect owner director supplier builder painter sponsor".split()
VALUES = 997  # words that stand for people

STALE, INTERRUPTED, ABANDONED, RECALLED, FAILED = 0.3, 0.3, 0.15, 0.5, 0.1  # chances


class Fact(NamedTuple):
    """What an action observed: a value of a slot, or nothing."""

    text: str
    slot: str
    value: str  # "": it found nothing
    outcome: Outcome
    official: bool


@dataclass(frozen=True)
class Part:
    """A subtask: its facts in order, and the slots that are asked for at its end."""

    objective: str
    facts: tuple[Fact, ...]
    asked: tuple[str, ...]
    interrupted: bool  # the next subtask begins when half of it is done
    finished: bool


@dataclass(frozen=True)
class Task:
    """One query; ``final`` are the slots that its answer needs, ``truth`` the values by slot."""

    seed: int
    query: str
    parts: tuple[Part, ...]
    final: tuple[str, ...]
    truth: dict[str, str]


def draw_task(seed: int) -> Task:
    """Draw a task of five to eight subtasks with four to seven actions each."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(NAMES)[: rng.integers(5, 9)].tolist()
    truth = {
        slot(attribute, name): f"p{value}"
        for name in names
        for attribute, value in zip(
            ATTRIBUTES, rng.choice(VALUES, len(ATTRIBUTES), replace=False), strict=True
        )
    }
    sought = [slot(str(rng.choice(ATTRIBUTES)), name) for name in names]
    finished = [bool(rng.random() >= ABANDONED) for _ in names]
    parts = []
    for place, wanted in enumerate(sought):
        # The subtask before may have been interrupted by this one, and not have found its own yet.
        known = [s for s, done in zip(sought[: max(place - 1, 0)], finished, strict=False) if done]
        asked = [wanted] if finished[place] else []
        if known and rng.random() < RECALLED:
            asked.append(str(rng.choice(known)))
        facts = _facts(rng, wanted, names, truth, finished[place])
        parts.append(
            Part(
                f"Find the {wanted}",
                facts,
                tuple(asked),
                bool(rng.random() < INTERRUPTED),
                finished[place],
            )
        )
    known = [s for s, done in zip(sought, finished, strict=True) if done]
    final = tuple(rng.choice(known, min(2, len(known)), replace=False).tolist())
    query = f"Say whether one person is {' and '.join(final)}"
    return Task(seed, query, tuple(parts), final, truth)


def slot(attribute: str, name: str) -> str:
    """Name what a fact is about."""
    return f"{attribute} of {name}"


def _facts(
    rng: np.random.Generator, wanted: str, names: Sequence[str], truth: dict[str, str], found: bool
) -> tuple[Fact, ...]:
    """Draw what a subtask observes: the key fact if it is found, after a stale one, and detours."""
    attribute, _, name = wanted.partition(" of ")
    facts = []
    for _ in range(int(rng.integers(3, 7))):
        kind = rng.random()
        if kind < 0.35:  # another attribute
            about = slot(str(rng.choice([a for a in ATTRIBUTES if a != attribute])), name)
        elif kind < 0.7:  # another name
            about = slot(attribute, str(rng.choice([n for n in names if n != name])))
        else:
            text = f"Searched archive {rng.integers(99)} for the {wanted} and found nothing"
            facts.append(Fact(text, wanted, "", "failure", False))
            continue
        facts.append(Fact(f"The {about} is {truth[about]}", about, truth[about], "success", False))
    if found:
        at = int(rng.integers(len(facts) // 2, len(facts) + 1))
        outcome: Outcome = "failure" if rng.random() < FAILED else "success"
        key = Fact(f"The {wanted} is {truth[wanted]}", wanted, truth[wanted], outcome, True)
        facts.insert(at, key)
        if rng.random() < STALE:
            old = f"q{rng.integers(VALUES)}"
            text = f"An old page says the {wanted} is {old}"
            facts.insert(int(rng.integers(at + 1)), Fact(text, wanted, old, "success", False))
    return tuple(facts)


def schedule(parts: Sequence[Part]) -> Iterator[tuple[int, tuple[Fact, ...], bool]]:
    """Give the stretches of a task in order: the subtask, its facts, and whether they end it."""
    waiting: int | None = None
    for place, part in enumerate(parts):
        half = len(part.facts) // 2
        if part.interrupted and waiting is None and place + 1 < len(parts):
            yield place, part.facts[:half], False
            waiting = place
            continue
        yield place, part.facts, True
        if waiting is not None:
            facts = parts[waiting].facts
            yield waiting, facts[len(facts) // 2 :], True
            waiting = None
