"""Partitions of the states by a merge rule: the symbol B of equation 7, and its rivals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.bisimulation.constants import Constants
from memenvs.policies.bisimulation.distance import TOLERANCE
from memenvs.policies.bisimulation.graph import COUNT, SOURCE, TARGET, TERMINALS, Graph
from memenvs.policies.bisimulation.placement import place
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


def make_partition(
    rule: Rule, constants: Constants, elements: Sequence[frozenset[int]]
) -> Partition:
    """Build the partition of a rule; ``elements`` of the nodes grow with the graph."""
    if rule.compares == "predictions":
        return Predictions(rule, constants)
    if rule.compares == "elements":
        return Looks(rule, constants, elements)
    if rule.compares == "occupancy":
        return Occupancies(rule, constants)
    return Identity()


class Looks:
    """The closure of pages of one label whose elements overlap enough (Jaccard similarity)."""

    def __init__(
        self, rule: Rule, constants: Constants, elements: Sequence[frozenset[int]]
    ) -> None:
        self._rule = rule
        self._overlap = constants.overlap
        self._elements = elements
        self._alike: dict[tuple[int, frozenset[int]], int] = {}  # a node with these elements
        self._blocks: IntArray = np.arange(TERMINALS)

    def update(self, graph: Graph, touched: list[int]) -> IntArray:
        """Unite each new page with those it looks like: pages never change."""
        for node in range(len(self._blocks), graph.nodes):
            self._blocks = np.append(self._blocks, node)
            label = graph.labels[node] if self._rule.labelled else 0
            key = label, self._elements[node]
            alike = [
                other
                for (of, elements), other in self._alike.items()
                if of == label and jaccard(elements, key[1]) >= self._overlap - TOLERANCE
            ]
            for other in alike:
                self._blocks[self._blocks == self._blocks[other]] = self._blocks[node]
            self._alike.setdefault(key, node)
        return self._blocks


def jaccard(first: frozenset[int], second: frozenset[int]) -> float:
    """Shared elements among all; 1 of two empty pages."""
    shared = len(first & second)
    union = len(first) + len(second) - shared
    return shared / union if union else 1.0


class Occupancies:
    """The closure of pages of one label with like successor representations.

    A page's occupancy is (1 - γ)(I - γP)⁻¹, summed over the pages of each label; terminals absorb.
    Two agree if half their L1 distance is small. P knows no actions, and neither does the placement
    of pages at which nothing was done.
    """

    def __init__(self, rule: Rule, constants: Constants) -> None:
        self._rule = rule
        self._constants = constants

    def update(self, graph: Graph, touched: list[int]) -> IntArray:
        """Compare all pages again."""
        blocks = np.arange(graph.nodes)
        profile = occupancies(graph, self._constants.discount)
        label = graph.label_array if self._rule.labelled else np.zeros_like(graph.label_array)
        for each in np.unique(label[graph.active]).tolist():
            nodes = np.flatnonzero(graph.active & (label == each))
            found, inverse = np.unique(profile[nodes].round(9), axis=0, return_inverse=True)
            apart = 0.5 * np.abs(found[:, None] - found[None]).sum(axis=2)
            near = apart <= self._constants.occupancy + TOLERANCE
            parts = _connected(near)[inverse.reshape(-1)]
            oldest = np.full(parts.max() + 1, graph.nodes)
            np.minimum.at(oldest, parts, nodes)
            blocks[nodes] = oldest[parts]
        for node in graph.idle:
            block = place(graph, node, blocks, self._rule)
            blocks[node] = node if block is None else block
        return blocks


def occupancies(graph: Graph, discount: float) -> FloatArray:
    """Discounted occupancy of each label's pages, and of each terminal, from a node: ``(n, l)``."""
    source, target, count = graph.edges[[SOURCE, TARGET, COUNT]]
    steps = np.zeros((graph.nodes, graph.nodes))
    np.add.at(steps, (source, target), count)
    steps /= np.maximum(steps.sum(axis=1, keepdims=True), 1.0)
    steps[range(TERMINALS), range(TERMINALS)] = 1.0
    _, columns = np.unique(graph.label_array, return_inverse=True)
    own = np.eye(columns.max() + 1)[columns]
    return np.asarray(np.linalg.solve(np.eye(graph.nodes) - discount * steps, (1 - discount) * own))


def _connected(near: IntArray) -> IntArray:
    from scipy.sparse.csgraph import connected_components

    found: IntArray = connected_components(near, directed=False)[1]
    return found
