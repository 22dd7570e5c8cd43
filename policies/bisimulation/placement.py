"""Where a state stands at which nothing was done yet: by how it was reached (section 2.3)."""

from __future__ import annotations

import numpy as np

from memenvs.material.incidence import IntArray
from memenvs.policies.bisimulation.graph import LAST, Graph
from memenvs.policies.bisimulation.rules import Rule


def place(graph: Graph, node: int, blocks: IntArray, rule: Rule) -> int | None:
    """Give the block of a state without actions; None where nothing speaks for one.

    A first page joins the block in which most earlier episodes of its label began; any other joins
    the block that transitions leaving B(u) under a reached most often, for the latest recorded
    (u, a, s) that has one. Only states of its label at which something was done count, so that
    such states do not place each other; ties go to the block with the oldest state.
    """
    if node in graph.first:
        found = _first_page(graph, node, blocks, rule)
        if found is not None:
            return found
    edges = graph.edges
    source, action, target, count, _ = edges
    for edge in sorted(graph.into[node], key=lambda e: -int(edges[LAST, e])):
        leaving = blocks[source] == blocks[source[edge]]
        if rule.by_action:
            leaving &= action == action[edge]
        leaving &= graph.active[target]
        if rule.labelled:
            leaving &= graph.label_array[target] == graph.labels[node]
        reached = np.flatnonzero(leaving)
        if len(reached):
            return _plurality(target[reached], count[reached], blocks, graph)
    return None


def _first_page(graph: Graph, node: int, blocks: IntArray, rule: Rule) -> int | None:
    label = graph.labels[node]
    begun = {
        page: times
        for page, times in graph.first.items()
        if graph.out[page] and (not rule.labelled or graph.labels[page] == label)
    }
    if not begun:
        return None
    return _plurality(np.array(list(begun)), np.array(list(begun.values())), blocks, graph)


def _plurality(nodes: IntArray, times: IntArray, blocks: IntArray, graph: Graph) -> int:
    """Block that ``nodes`` ``(k,)`` were in most often, counted ``times`` ``(k,)``."""
    total: dict[int, int] = {}
    for block, each in zip(blocks[nodes].tolist(), times.tolist(), strict=True):
        total[block] = total.get(block, 0) + each
    most = max(total.values())
    ties = [block for block, each in total.items() if each == most]
    if len(ties) == 1:
        return ties[0]
    return min(ties, key=lambda block: int((blocks == block).argmax()))
