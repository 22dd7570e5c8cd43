"""Evidence for actions: pooled over a block (equation 7), and of the page itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.bisimulation.constants import Constants
from memenvs.policies.bisimulation.graph import FAILURE, TARGET, TERMINALS, Graph

STUCK = -1.0  # worth of what left this very page as it was: no more than a failure's


class Evidence(NamedTuple):
    """What a page and its block say of some actions."""

    values: FloatArray  # (m,) q_B of each; 0 where nothing is recorded, STUCK where it does nothing
    total: int  # transitions recorded from the block, under whatever action
    counts: IntArray  # (m,) of them under each action


def pooled(
    graph: Graph,
    values: FloatArray,
    blocks: IntArray,
    node: int,
    actions: list[int | None],
    constants: Constants,
) -> Evidence:
    """Pool δ(u, v) + η c̄(u, v) over the transitions that leave B(node); None is no known action.

    What was seen on this very page outweighs the pool where it left the page as it was each time.
    """
    inside = np.flatnonzero(blocks[graph.edges[0]] == blocks[node])
    source, action, target, count, _ = graph.edges[:, inside]
    ahead = np.where(target < TERMINALS, values[target], constants.discount * values[target])
    progress = np.where(target == FAILURE, -1, graph.grades[inside])
    worth = count * (ahead - values[source] + constants.dense * progress)
    size = 2 + max([int(action.max(initial=0)), *(a for a in actions if a is not None)])
    wanted = np.array([size - 1 if a is None else a for a in actions], dtype=np.int64)
    counts = np.bincount(action, weights=count, minlength=size)[wanted]
    sums = np.bincount(action, weights=worth, minlength=size)[wanted]
    worths = sums / (constants.prior + counts)
    for place, each in enumerate(actions):
        edges = graph.out[node].get(each) if each is not None else None
        if edges and (graph.edges[TARGET, edges] == node).all():
            worths[place] = STUCK
    return Evidence(worths, int(count.sum()), counts.astype(np.int64))
