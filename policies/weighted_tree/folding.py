"""What a fold keeps of a completed branch (section 2.5), and what a summary was built from."""

from __future__ import annotations

import numpy as np

from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    ACTIVE,
    FAILURE,
    GLOBAL,
    NONE,
    OBSOLETE,
    SUMMARY,
    TASK,
    Nodes,
)
from memenvs.policies.weighted_tree.summarizer import Branch

EVIDENCE = 2  # memories that support the result
WARNINGS = 2  # failed actions that are told
WORDS = 12  # of a failed action
LONGEST = 60  # words of a memory that is evidence


def branch_of(
    nodes: Nodes, pool: list[int], task: int, result: str, unresolved: tuple[str, ...]
) -> tuple[Branch, list[int], list[int]]:
    """Gather a branch from the candidates of the tree; also the nodes of evidence and warnings.

    Evidence are the memories of highest retention that did not fail, summaries of subtasks among
    them, of equal ones the latest. A subtask that was left open is unresolved. Of an earlier fold
    of the task its evidence, its warnings and, where none is given, its result go on, not its text:
    a summary does not grow by being folded again.
    """
    result, earlier = _earlier(nodes, task, result)
    flags = np.zeros(len(nodes), dtype=bool)
    flags[task] = True
    inside = nodes.inherited(flags)
    members = [number for number in pool if inside[number] and number != task]
    own = nodes.summary[task]
    told = sorted(
        {n for n in members if nodes.kind[n] in (ACTION, SUMMARY) and n != own} | set(earlier)
    )
    sound = [n for n in told if nodes.outcome[n] != FAILURE]
    best = sorted(sound, key=lambda n: (-nodes.score[n], -n))[:EVIDENCE]
    failures = [n for n in told if nodes.outcome[n] == FAILURE][-WARNINGS:]
    opened = [n for n in members if nodes.kind[n] == TASK and nodes.lifecycle[n] == ACTIVE]
    evidence = sorted(best)
    branch = Branch(
        objective=nodes.texts[task],
        result=result,
        evidence=tuple(_clipped(nodes.texts[n], LONGEST) for n in evidence),
        unresolved=(*unresolved, *(nodes.texts[n] for n in opened)),
        warnings=tuple(_clipped(nodes.texts[n], WORDS) for n in failures),
    )
    return branch, evidence, failures


def _earlier(nodes: Nodes, task: int, result: str) -> tuple[str, list[int]]:
    """Give what an earlier fold of a task hands on, if it still stands: a result, and nodes."""
    summary = int(nodes.summary[task])
    if summary == NONE or nodes.lifecycle[summary] == OBSOLETE:
        return result, []
    built = nodes.metadata[summary]
    return result or built.get("result", ""), [*built["evidence"], *built["warnings"]]


def _clipped(text: str, most: int) -> str:
    return " ".join(text.split()[:most])


def sources(nodes: Nodes, number: int, *, warnings: bool = False) -> frozenset[int]:
    """Give the actions whose content a node carries: itself, or what its summary was built from.

    With ``warnings`` also those that it warns of.
    """
    if nodes.kind[number] == ACTION:
        return frozenset((number,))
    if nodes.kind[number] not in (SUMMARY, GLOBAL):
        return frozenset()
    built = nodes.metadata[number]
    below = [*built.get("evidence", ()), *(built.get("warnings", ()) if warnings else ())]
    return frozenset().union(*(sources(nodes, each, warnings=warnings) for each in below))
