"""Partitions of the states by a merge rule: the symbol B of equation 7."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from memenvs.material.incidence import IntArray
from memenvs.policies.bisimulation.constants import Constants
from memenvs.policies.bisimulation.graph import SOURCE, Graph
from memenvs.policies.bisimulation.rounds import Round
from memenvs.policies.bisimulation.rules import Rule


class Partition(Protocol):
    """A partition that follows a growing graph."""

    def update(self, graph: Graph, touched: list[int]) -> IntArray:
        """Give the block of each node ``(n,)``; ``touched`` are those whose predictions changed."""
        ...


class Predictions:
    """The greatest fixed point of the action-conditioned distance, refined from B0 in K rounds.

    B0 compares immediate outcomes; each round then closes the pairs within the threshold FROM
    SINGLETONS, under d on the last partition. (Equation 6 closes from the last partition, and since
    d at γ is at least d at γ = 0 it unites nothing that B0 has not united: with ``refined=False``
    that is what this gives.) States without actions are placed again after every round. Rounds end
    with the first partition that is stable, since all later ones are equal to it; of one that comes
    round in a cycle, as placements and the guarded closure allow, the K-th stands.
    """

    def __init__(self, rule: Rule, constants: Constants) -> None:
        self._rounds = [Round(rule, constants, None)]
        for _ in range(constants.rounds if rule.refined else 0):
            self._rounds.append(Round(rule, constants, self._rounds[-1]))
        # What each round has not looked at yet: it was not needed.
        self._waiting: list[dict[int, None]] = [{} for _ in self._rounds]

    def update(self, graph: Graph, touched: list[int]) -> IntArray:
        """Take each round for what changed in the graph or in the round before it."""
        for waiting in self._waiting:
            waiting.update(dict.fromkeys(touched))
        for number, each in enumerate(self._rounds):
            changed = each.update(graph, self._waiting[number])
            self._waiting[number] = {}
            if number + 1 < len(self._rounds):
                edges = [edge for node in changed for edge in graph.into[node]]
                sources = graph.edges[SOURCE, edges].tolist()
                self._waiting[number + 1].update(dict.fromkeys(sources))
            if number and equal(each.blocks, self._rounds[number - 1].blocks):
                break
        return each.blocks


def equal(first: IntArray, second: IntArray) -> bool:
    """Say whether two numberings ``(n,)`` of blocks are one partition."""
    _, mine = np.unique(first, return_inverse=True)
    _, other = np.unique(second, return_inverse=True)
    if mine.max() != other.max():
        return False
    named = np.zeros(mine.max() + 1, dtype=np.int64)
    named[mine] = other
    return bool((named[mine] == other).all())


class Identity:
    """No two states are one."""

    def update(self, graph: Graph, touched: list[int]) -> IntArray:
        """Number the nodes."""
        return np.arange(graph.nodes)
