"""Retention scores and branch priorities (section 2.4 of the paper), as functions of arrays."""

from __future__ import annotations

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    FAILURE,
    NONE,
    OBSOLETE,
    Nodes,
)


def exponent(misses: int, streak: int) -> int:
    """Give h_M(r): how often ρ multiplies in after r missed selections in a row (eq. 15)."""
    if misses <= streak:
        return misses * (misses + 1) // 2
    return streak * misses - streak * (streak - 1) // 2


def after_selection(
    score: FloatArray,
    missed: IntArray,
    eligible: BoolArray,
    selected: BoolArray,
    is_global: BoolArray,
    constants: Constants,
) -> tuple[FloatArray, IntArray]:
    """Give scores and streaks after a context was built (eqs. 3 to 5); any equal shapes.

    What was selected has its streak reset, what was eligible and not selected decays, the rest
    stays. The streak of a global memory is always one.
    """
    passed_over = eligible & ~selected
    streak = np.where(passed_over, np.where(is_global, 1, missed + 1), missed)
    streak = np.where(selected, 0, streak)
    powers = constants.decay ** np.arange(constants.streak + 1)
    ordinary = powers[np.minimum(streak, constants.streak)]
    factor = np.where(is_global, constants.global_decay, ordinary)
    decayed = np.clip(score * factor, 0.0, 1.0)
    return np.where(passed_over, decayed, score), streak


def combined(
    highest: FloatArray, mean: FloatArray, failed: FloatArray, obsolete: FloatArray, c: Constants
) -> FloatArray:
    """Give U_b from a branch's highest and mean score and its two shares (eq. 6)."""
    return c.alpha * highest + c.beta * mean - c.gamma * failed - c.delta * obsolete


def selection_value(
    relevance: FloatArray, retention: FloatArray, priority: FloatArray, c: Constants
) -> FloatArray:
    """Give what memories are worth to a step: relevance · (1 − w + w · retention · priority).

    The share 1 − w no score can take away, so that what is relevant is found however long it was
    passed over. Arrays of any equal shapes; priorities are not negative.
    """
    return relevance * (1.0 - c.weight + c.weight * retention * priority)


class Branches:
    """The branches of a tree: their nodes, and their shares of failed and obsolete ones.

    A branch is a task and all its descendants. A node counts as obsolete where it is marked itself.
    It holds until a node is added, or changes its lifecycle or its outcome.
    """

    def __init__(self, nodes: Nodes) -> None:
        self._size = len(nodes)
        self._order = np.argsort(nodes.task, kind="stable")  # the nodes of each task side by side
        self._first = np.flatnonzero(np.diff(nodes.task[self._order], prepend=NONE))
        self._tasks = nodes.task[self._order][self._first]  # of global memories, too
        depth = nodes.depth[self._tasks]
        place = np.searchsorted(self._tasks, nodes.parent[self._tasks])
        below = [np.flatnonzero(depth == d) for d in range(int(depth.max(initial=0)), 0, -1)]
        self._levels = [(level, place[level]) for level in below]  # children, and their parents
        actions = nodes.kind == ACTION
        failures = actions & (nodes.outcome == FAILURE)
        self._count, acted, failed, obsolete = (
            self._summed(flags.astype(np.float64))
            for flags in (self._order >= 0, actions, failures, nodes.lifecycle == OBSOLETE)
        )
        self._failed = failed / np.maximum(acted, 1.0)
        self._obsolete = obsolete / np.maximum(self._count, 1.0)

    def priorities(self, score: FloatArray, constants: Constants) -> FloatArray:
        """Give U_b of every task at the task's place, by scores ``(n,)``: ``(n,)``; 0 elsewhere."""
        found = np.zeros(self._size)
        if self._size:
            highest = np.maximum.reduceat(score[self._order], self._first)
            for level, parent in self._levels:
                np.maximum.at(highest, parent, highest[level])
            mean = self._summed(score) / self._count
            found[self._tasks] = combined(highest, mean, self._failed, self._obsolete, constants)
        return found

    def _summed(self, values: FloatArray) -> FloatArray:
        """Sum over each branch."""
        if not self._size:
            return values
        total = np.asarray(np.add.reduceat(values[self._order], self._first))
        for level, parent in self._levels:  # children into their parents
            np.add.at(total, parent, total[level])
        return total
