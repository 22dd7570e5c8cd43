"""The empirical transition graph: what was done at which state, what followed, how often.

States, labels and actions are numbers. Nodes 0, 1 and 2 are the terminals, one for each role: the
page of a last click often is the page before it, and would make the decisive click a self-loop.
"""

from __future__ import annotations

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray

SUCCESS, FAILURE, NEITHER = range(3)
TERMINALS = 3
SOURCE, ACTION, TARGET, COUNT, LAST = range(5)  # of an edge; LAST: when it was recorded last
COLUMNS = 5
PRECISION = 1e-13  # of a value


class Graph:
    """Counts n(s, a, s') and grades c(s, s') of every distinct transition (section 2.1)."""

    def __init__(self) -> None:
        self.labels: list[int] = []
        self.out: list[dict[int, list[int]]] = []  # edges that leave a node, by action
        self.into: list[list[int]] = []  # edges that reach a node
        self.first: dict[int, int] = {}  # episodes that began at a node
        self.idle: dict[int, None] = {}  # nodes at which nothing was done yet, but for terminals
        self.begun = self.records = 0  # episodes, and transitions
        self._touched: dict[int, None] = {}  # nodes whose predictions changed since `refresh`
        self._edges: dict[tuple[int, int, int], int] = {}
        self._table: IntArray = np.zeros((COLUMNS, 64), dtype=np.int64)
        self._grades: IntArray = np.zeros(64, dtype=np.int64)
        self._active: BoolArray = np.zeros(64, dtype=bool)
        self._labels: IntArray = np.zeros(64, dtype=np.int64)
        self._may_close = False  # whether a cycle may have closed
        for role in range(TERMINALS):
            self.add(-1 - role)
        self.idle.clear()

    @property
    def nodes(self) -> int:
        """Number of nodes, terminals among them."""
        return len(self.labels)

    @property
    def edges(self) -> IntArray:
        """Source, action, target, count and last record of the edges: ``(5, m)``."""
        return self._table[:, : len(self._edges)]

    @property
    def grades(self) -> IntArray:
        """Grade c of each edge ``(m,)``: -1 of a self-loop, 0 where a way leads back, else 1."""
        return self._grades[: len(self._edges)]

    @property
    def active(self) -> BoolArray:
        """Whether anything was done at a node: ``(n,)``."""
        return self._active[: self.nodes]

    @property
    def label_array(self) -> IntArray:
        """Labels of the nodes: ``(n,)``."""
        return self._labels[: self.nodes]

    def add(self, label: int) -> int:
        """Add a node; gives its number."""
        node = self.nodes
        self.labels.append(label)
        self.out.append({})
        self.into.append([])
        self.idle[node] = None
        if node == len(self._active):
            self._active = np.append(self._active, np.zeros(node, dtype=bool))
            self._labels = np.append(self._labels, np.zeros(node, dtype=np.int64))
        self._labels[node] = label
        return node

    def begin(self, node: int, times: int = 1) -> None:
        """Note that episodes began at a node."""
        self.first[node] = self.first.get(node, 0) + times
        self.begun += times

    def record(self, source: int, action: int, target: int, times: int = 1) -> None:
        """Count a transition."""
        key = source, action, target
        if key not in self._edges:
            self._add_edge(key)
        edge = self._edges[key]
        self.records += 1
        self._table[COUNT, edge] += times
        self._table[LAST, edge] = self.records
        self._touched[source] = None

    def restore(self, last: list[int]) -> None:
        """Say when each edge was recorded last, after a file was read."""
        self.edges[LAST] = last
        self.records = max(last, default=0)

    def refresh(self) -> list[int]:
        """Grade the edges; gives the nodes whose predictions changed since the last call."""
        if self._may_close:
            self._may_close = False
            source, target = self.edges[SOURCE], self.edges[TARGET]
            parts = components(source, target, self.nodes)
            grades = np.where(source == target, -1, (parts[source] != parts[target]).astype(int))
            self._touched |= dict.fromkeys(source[grades != self.grades].tolist())
            self.grades[:] = grades
        touched, self._touched = self._touched, {}
        return list(touched)

    def _add_edge(self, key: tuple[int, int, int]) -> None:
        source, action, target = key
        edge = len(self._edges)
        if edge == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.zeros_like(self._table)], axis=1)
            self._grades = np.concatenate([self._grades, np.zeros_like(self._grades)])
        self._edges[key] = edge
        self._table[[SOURCE, ACTION, TARGET], edge] = key
        self._grades[edge] = -1 if source == target else 1
        # An edge into a node from which nothing leads on closes no cycle.
        self._may_close |= source != target and bool(self.out[target])
        self.out[source].setdefault(action, []).append(edge)
        self.into[target].append(edge)
        self.idle.pop(source, None)
        self._active[source] = True


def components(source: IntArray, target: IntArray, nodes: int) -> IntArray:
    """Number the strongly connected components of a graph: ``(nodes,)``."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(source), dtype=np.int8)
    matrix = csr_array((ones, (source, target)), shape=(nodes, nodes))
    found: IntArray = connected_components(matrix, connection="strong")[1]
    return found


def values(graph: Graph, discount: float, known: FloatArray) -> FloatArray:
    """V = (1 - γ)(I - γP)⁻¹ r: ``(n,)``; terminals absorb with r = ±1, so that V is ±1 there.

    Swept to a fixed point from the values ``known`` before, ``(at most n,)``; a state at which
    nothing was done is worth 0.
    """
    source, target, count = graph.edges[[SOURCE, TARGET, COUNT]]
    value: FloatArray = np.zeros(graph.nodes)
    value[: len(known)] = known
    share = discount * count / np.bincount(source, weights=count, minlength=graph.nodes)[source]
    while True:  # a contraction by γ
        weights = share * value[target]
        following = np.bincount(source, weights=weights, minlength=graph.nodes).astype(float)
        following[SUCCESS], following[FAILURE] = 1.0, -1.0
        change = np.abs(following - value).max()
        value = following
        if change < PRECISION:
            return value
