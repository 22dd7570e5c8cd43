"""The prompt synthesiser (section 2.6): candidates, a choice within the budget, their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.weighted_tree.configurations import Configuration
from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    ACTIVE,
    FAILURE,
    FOLDED,
    GLOBAL,
    NONE,
    OBSOLETE,
    ROOT,
    SUMMARY,
    TASK,
    Nodes,
)


@dataclass(frozen=True)
class Context:
    """What one prompt is told, and what it was chosen from; node numbers are in prompt order."""

    text: str
    path: tuple[int, ...]  # the mandatory tasks, from the root to the active one
    selected: tuple[int, ...]
    candidates: tuple[int, ...]  # what could have been selected, ascending
    tokens: int  # of the text
    selected_tokens: int  # of the selected memories' lines, without the path
    candidate_tokens: int  # of the candidates' lines
    selector_tokens: int  # of the question to the selector; 0 without one


def closed(nodes: Nodes, path: list[int]) -> BoolArray:
    """Say which nodes are, or stand below, a folded or obsolete task, or behind a summary."""
    tasks = nodes.kind == TASK
    folded = (nodes.lifecycle == FOLDED) & ~unsound(nodes)
    shut = ((nodes.kind == ROOT) | tasks) & (folded | (nodes.lifecycle == OBSOLETE))
    below = np.flatnonzero(nodes.parent != NONE)
    behind = np.zeros(len(nodes), dtype=bool)
    behind[below] = _behind(nodes, below, nodes.parent[below])
    shut |= tasks & behind
    shut[path] = behind[path] = False
    return nodes.inherited(shut) | behind


def candidates(nodes: Nodes, root: int, path: list[int]) -> IntArray:
    """Give the candidate pool of a tree beside its mandatory path, ascending.

    Active and completed tasks and their actions; the summary of a folded task in its stead, and
    beside what came later once it is resumed; global memories. Nothing obsolete.
    """
    shut = closed(nodes, path)
    inner = (nodes.kind == ACTION) | (nodes.kind == TASK)
    found = (nodes.root == root) & inner & ~shut & (nodes.lifecycle != OBSOLETE)
    found[path] = False
    summaries = np.flatnonzero((nodes.kind == SUMMARY) & (nodes.root == root))
    owner = nodes.parent[summaries]
    current = (nodes.summary[owner] == summaries) & (nodes.lifecycle[summaries] == ACTIVE)
    above = nodes.parent[owner]
    hidden = np.where(above == NONE, False, shut[above]) | _behind(nodes, owner, above)
    alive = nodes.lifecycle[owner] != OBSOLETE
    found[summaries] = current & alive & (~hidden | np.isin(owner, path))
    found |= (nodes.kind == GLOBAL) & (nodes.lifecycle == ACTIVE)
    return np.flatnonzero(found)


def unsound(nodes: Nodes) -> BoolArray:
    """Say of each task whether its summary became obsolete: it stands open until a new fold."""
    return np.asarray((nodes.summary != NONE) & (nodes.lifecycle[nodes.summary] == OBSOLETE))


def _behind(nodes: Nodes, owner: IntArray, above: IntArray) -> BoolArray:
    """Say of nodes whether they stand behind the summary of the task above them."""
    hidden = (owner < nodes.mark[above]) & ~unsound(nodes)[above]
    return np.where(above == NONE, False, hidden)


def within(ranked: Iterable[int], nodes: Nodes, smallest: int, left: float) -> list[int]:
    """Take nodes in order while they fit; ends where not even the smallest line would."""
    taken, tokens = [], nodes.tokens
    for number in ranked:
        if left < smallest:
            break
        size = int(tokens[number])
        if size <= left:
            taken.append(number)
            left -= size
    return taken


def whole_branches(
    pool: IntArray, nodes: Nodes, active: int, order: FloatArray, left: float
) -> list[int]:
    """Take the candidates of whole branches as long as any budget is left: the active one first.

    A branch is a child of the root with all below it, or what hangs on the root itself; a global
    memory is one by itself. Then the highest ``order`` ``(n,)`` of their topmost nodes comes first,
    the latest of equal ones.
    """
    top = np.where(nodes.kind[pool] == GLOBAL, pool, nodes.top[pool])
    branches = np.unique(top)
    first = branches == nodes.top[active]
    taken: list[int] = []
    for branch in branches[np.lexsort((-branches, -order[branches], ~first))].tolist():
        if left <= 0:
            break
        members = pool[top == branch]
        taken += members.tolist()
        left -= int(nodes.tokens[members].sum())
    return taken


def serial(nodes: Nodes, chosen: list[int], configuration: Configuration) -> list[int]:
    """Give the order in a prompt: what is known, memories, summaries, warnings; each by age.

    A linear history is in the order of events.
    """
    if configuration.history == "linear":
        return sorted(chosen)

    outcome, kind = nodes.outcome, nodes.kind

    def section(number: int) -> int:
        if outcome[number] == FAILURE:
            return 3
        return {GLOBAL: 0, SUMMARY: 2}.get(int(kind[number]), 1)

    return sorted(chosen, key=lambda number: (section(number), number))


def lines(nodes: Nodes, path: list[int], selected: list[int]) -> Iterator[str]:
    """Give the lines of a prompt."""
    for number in (*path, *selected):
        yield nodes.line(number)
