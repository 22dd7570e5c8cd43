"""Evidence for actions, pooled over a block of the partition (equation 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.bisimulation.constants import Constants
from memenvs.policies.bisimulation.graph import FAILURE, TERMINALS, Graph


class Evidence(NamedTuple):
    """What a block says of some actions."""

    values: FloatArray  # (m,) q_B of each; 0 where nothing is recorded
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
    """Pool δ(u, v) + η c̄(u, v) over the transitions that leave B(node); None is no known action."""
    inside = np.flatnonzero(blocks[graph.edges[0]] == blocks[node])
    source, action, target, count, _ = graph.edges[:, inside]
    ahead = np.where(target < TERMINALS, values[target], constants.discount * values[target])
    progress = np.where(target == FAILURE, -1, graph.grades[inside])
    worth = count * (ahead - values[source] + constants.dense * progress)
    size = 2 + max([int(action.max(initial=0)), *(a for a in actions if a is not None)])
    wanted = np.array([size - 1 if a is None else a for a in actions], dtype=np.int64)
    counts = np.bincount(action, weights=count, minlength=size)[wanted]
    sums = np.bincount(action, weights=worth, minlength=size)[wanted]
    return Evidence(sums / (constants.prior + counts), int(count.sum()), counts.astype(np.int64))
