"""One construction of a context, in the paper's order: choose, feed back, priorities, suppress."""

from __future__ import annotations

import numpy as np

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.weighted_tree.nodes import ACTIVE, GLOBAL, TASK
from memenvs.policies.weighted_tree.scores import selection_value
from memenvs.policies.weighted_tree.selector import Pool, Selector
from memenvs.policies.weighted_tree.state import Event, State
from memenvs.policies.weighted_tree.synthesizer import (
    Context,
    closed,
    lines,
    serial,
    whole_branches,
    within,
)


def constructed(
    state: State, selector: Selector, query: str, budget: float, step: str | int | None
) -> Event:
    """Decide what the next context holds, and which branches are suppressed after it."""
    nodes, pool = state.nodes, state.pool()
    left = budget - int(nodes.tokens[state.path].sum())
    chosen, asked = _chosen(state, selector, query, pool, left)
    selected = serial(nodes, chosen, state.configuration)
    return {
        "op": "context",
        "step": step,
        "selected": selected,
        "tokens": int(nodes.tokens[[*state.path, *selected]].sum()),
        "selector_tokens": asked,
        "suppressed": _suppressed(state, selected) if state.configuration.suppression else [],
    }


def context_of(state: State) -> Context:
    """Give the context of the last construction."""
    nodes, last = state.nodes, state.last
    path, selected, pool = last["path"], last["selected"], last["candidates"]
    return Context(
        text="\n".join(lines(nodes, path, selected)),
        path=tuple(path),
        selected=tuple(selected),
        candidates=tuple(np.asarray(pool).tolist()),
        tokens=last["tokens"],
        selected_tokens=int(nodes.tokens[selected].sum()),
        candidate_tokens=int(nodes.tokens[pool].sum()),
        selector_tokens=last["selector_tokens"],
    )


def _chosen(
    state: State, selector: Selector, query: str, pool: IntArray, left: float
) -> tuple[list[int], int]:
    """Give the selected nodes, and the tokens of the question to the selector."""
    nodes, switches = state.nodes, state.configuration
    if switches.history != "tree" or not len(pool):
        return pool.tolist(), 0
    if switches.selector:
        candidates = _pool(state, query, pool)
        ranked = selector.rank(candidates)
        chosen = within(ranked, nodes, int(candidates.tokens.min()), left)
        return chosen, selector.tokens(candidates)
    if switches.scores:
        order = state.priorities(nodes.score)
        order[nodes.kind == GLOBAL] = nodes.score[nodes.kind == GLOBAL]
        return whole_branches(pool, nodes, state.active, order, left), 0
    return within(pool[::-1].tolist(), nodes, int(nodes.tokens[pool].min()), left), 0


def _pool(state: State, query: str, pool: IntArray) -> Pool:
    nodes = state.nodes
    step = f"{nodes.texts[state.active]} {query}".strip()
    relevance, retention = state.index.relevance(step)[pool], nodes.score[pool]
    priority = _weights(state)[pool] if state.configuration.scores else np.ones(len(pool))
    return Pool(
        query=step,
        ids=pool,
        relevance=relevance,
        retention=retention,
        priority=priority,
        value=selection_value(relevance, retention, priority, state.constants),
        tokens=nodes.tokens[pool],
        nodes=nodes,
    )


def _weights(state: State) -> FloatArray:
    """Weight that the containing branch gives to each node: ``(n,)``.

    A branch of negative priority gives none, and a global memory belongs to no branch.
    """
    nodes = state.nodes
    branch = state.priorities(nodes.score)[nodes.task]
    weight = np.maximum(branch, 0.0) ** state.constants.priority
    return np.where(nodes.kind == GLOBAL, 1.0, weight)


def _suppressed(state: State, selected: list[int]) -> list[int]:
    """Give the branches whose priority falls below the threshold by this selection (eq. 7).

    Eligible are active tasks off the active path, of this tree, that no folded or obsolete one
    hides.
    """
    nodes, path = state.nodes, state.path
    score, _ = state.after(selected) if state.configuration.scores else (nodes.score, None)
    open_ = (nodes.kind == TASK) & (nodes.lifecycle == ACTIVE) & (nodes.root == state.root)
    low = open_ & (state.priorities(score) < state.constants.threshold)
    low[path] = False
    if not low.any():
        return []
    return np.flatnonzero(low & ~closed(nodes, path)).tolist()
