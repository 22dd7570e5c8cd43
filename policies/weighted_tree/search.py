"""A look into a tree that changes nothing: what it holds for a query, whatever is worked on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memenvs.policies.weighted_tree.beliefs import WITHDRAWN
from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    GLOBAL,
    KINDS,
    OBSOLETE,
    OUTCOMES,
    SUMMARY,
)
from memenvs.policies.weighted_tree.scores import selection_value
from memenvs.policies.weighted_tree.state import State


class Found(NamedTuple):
    """A memory and its value for the query."""

    node: int
    text: str
    kind: str
    outcome: str | None
    value: float
    metadata: dict[str, Any]  # its source, and what else was recorded with it


class Filter(NamedTuple):
    """What may be found; None asks for nothing. Times are those of ``time=`` in the metadata."""

    root: int | None
    source: str | None
    since: float | None
    until: float | None

    def passes(self, told: dict[str, Any]) -> bool:
        """Tell whether what was recorded with a memory is asked for."""
        if self.source is not None and told.get("source") != self.source:
            return False
        if self.since is None and self.until is None:
            return True
        time = told.get("time")
        if not isinstance(time, int | float):
            return False
        after = self.since is None or time >= self.since
        return after and (self.until is None or time <= self.until)


def found(state: State, query: str, count: int, asked: Filter) -> list[Found]:
    """Give the memories of highest value, the best first; see ``WeightedTree.search``."""
    nodes = state.nodes
    relevance = state.index.relevance(query)
    gone = nodes.inherited(np.asarray(nodes.withdrawn == WITHDRAWN))
    open_ = np.isin(nodes.kind, (ACTION, SUMMARY, GLOBAL)) & (nodes.lifecycle != OBSOLETE) & ~gone
    if asked.root is not None:
        open_ &= (nodes.root == asked.root) | (nodes.kind == GLOBAL)
    places = np.flatnonzero(open_ & (relevance > 0))
    priority = np.ones(len(places))
    if state.configuration.scores:
        branch = np.maximum(state.priorities(nodes.score)[nodes.task[places]], 0.0)
        priority = np.where(nodes.kind[places] == GLOBAL, 1.0, branch**state.constants.priority)
    value = selection_value(relevance[places], nodes.score[places], priority, state.constants)
    best: list[Found] = []
    for place in np.argsort(-value, kind="stable").tolist():
        if len(best) == count:
            break
        node = int(places[place])
        if asked.passes(nodes.metadata[node]):
            best.append(
                Found(
                    node,
                    nodes.texts[node],
                    KINDS[nodes.kind[node]],
                    OUTCOMES[nodes.outcome[node]],
                    float(value[place]),
                    dict(nodes.metadata[node]),
                )
            )
    return best
