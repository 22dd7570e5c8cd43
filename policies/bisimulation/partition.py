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
    that is what this gives.) States without actions are placed again after every round. All K
    rounds are taken: a partition that is stable stays, and of one that comes round in a cycle, as
    placements and the guarded closure allow, the K-th stands.
    """

    def __init__(self, rule: Rule, constants: Constants) -> None:
        self._rounds = [Round(rule, constants, None)]
        for _ in range(constants.rounds if rule.refined else 0):
            self._rounds.append(Round(rule, constants, self._rounds[-1]))

    def update(self, graph: Graph, touched: list[int]) -> IntArray:
        """Take each round for what changed in the graph or in the round before it."""
        changed: list[int] = []
        for each in self._rounds:
            edges = [edge for node in changed for edge in graph.into[node]]
            nodes = dict.fromkeys(touched) | dict.fromkeys(graph.edges[SOURCE, edges].tolist())
            changed = each.update(graph, nodes)
        return self._rounds[-1].blocks


class Identity:
    """No two states are one."""

    def update(self, graph: Graph, touched: list[int]) -> IntArray:
        """Number the nodes."""
        return np.arange(graph.nodes)
