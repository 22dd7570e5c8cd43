"""The constants of the memories in use today, in one table, each with where it stands.

Source "paper" and "code" are the system's own; "stand-in" is ours, where the system asks a language
model or has no such number, and says what it stands for.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Constant(NamedTuple):
    """One constant of one system."""

    system: str
    name: str
    value: float
    source: Literal["paper", "code", "stand-in"]
    meaning: str


TABLE: tuple[Constant, ...] = (
    Constant("clock", "hours_per_decision", 1, "stand-in", "where claims have no times"),
    Constant(
        "clock", "hours_per_unit", 24, "stand-in", "a unit of a claim's time is read as a day"
    ),
    Constant("judge", "same", 0.92, "stand-in", "similarity from which two claims say the same"),
    Constant("judge", "subject", 0.80, "stand-in", "similarity from which they share a subject"),
    Constant("judge", "shown", 10, "code", "nearest memories that a model is shown, as in mem0"),
    Constant("judge", "equal_text", 0.9999, "stand-in", "similarity of equal texts"),
    Constant(
        "generative-agents", "decay", 0.995, "paper", "of recency, per hour since last access"
    ),
    Constant("generative-agents", "recency", 1, "paper", "weight"),
    Constant("generative-agents", "importance", 1, "paper", "weight"),
    Constant("generative-agents", "relevance", 1, "paper", "weight"),
    Constant("generative-agents:as-coded", "decay", 0.99, "code", "of recency, per rank of access"),
    Constant("generative-agents:as-coded", "recency", 0.5, "code", "weight"),
    Constant("generative-agents:as-coded", "importance", 2, "code", "weight"),
    Constant("generative-agents:as-coded", "relevance", 3, "code", "weight"),
    Constant("memorybank", "scale", 5, "code", "of t / S in days, in exp(−t / (5 S))"),
    Constant("memorybank", "strength", 1, "paper", "S of a new memory, and its gain at a recall"),
    Constant("memgpt", "flushed", 0.75, "code", "share of a full queue that is flushed"),
    Constant("memgpt", "kept", 3, "code", "last messages that stay in any case"),
    Constant("letta", "evicted", 0.40, "code", "least share that is evicted"),
    Constant(
        "letta", "until", 0.70, "code", "share that the rest must be under; always is, as 40 % go"
    ),
    Constant("reflexion", "kept", 3, "code", "last reflections"),
    Constant("memos", "working", 20, "code", "cap of the working memory"),
    Constant("memos", "long_term", 1500, "code", "cap of the long-term memory"),
    Constant("memos", "raw_file", 1500, "code", "cap of the memory of raw files"),
    Constant("memos", "user", 480, "code", "cap of the user memory"),
    Constant("memos", "merge", 0.92, "code", "similarity from which two memories are merged"),
    Constant(
        "memos", "conflict", 0.80, "code", "likewise in conflict; the judge's 'subject' decides"
    ),
    Constant("lightmem", "similar", 0.9, "code", "similarity from which the older one goes"),
    Constant(
        "lightmem",
        "neighbours",
        20,
        "code",
        "older neighbours looked at; 'kept' is less, and decides",
    ),
    Constant("lightmem", "kept", 10, "code", "of them that enter the update queue"),
    Constant(
        "mem0", "nearest", 10, "code", "neighbours to find an equal text among; it is the first"
    ),
    Constant("mem0:legacy", "nearest", 5, "code", "neighbours that the model is shown"),
    Constant("a-mem", "links", 5, "code", "nearest notes that a note may be linked to"),
    Constant("hipporag", "damping", 0.5, "paper", "of personalised PageRank"),
    Constant("hipporag", "synonymy", 0.8, "paper", "similarity from which there is an edge"),
    Constant("hipporag", "entity", 0.5, "stand-in", "similarity that tells of a shared entity"),
)

_BY_NAME = {(row.system, row.name): row.value for row in TABLE}


def constant(system: str, name: str) -> float:
    """Give a constant of a system, or of "SYSTEM:VARIANT"."""
    return _BY_NAME[system, name]
