"""The tree over observations: claims are actions, settlements their outcomes; in batches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.base import Observation, State
from memenvs.policies.published.books import Books
from memenvs.policies.rules.joint import scheduled
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.nodes import FAILURE, NONE, SUCCESS, UNKNOWN
from memenvs.policies.weighted_tree.scores import after_selection, combined, selection_value

BOOKS = len(Books._fields)


class Tree(NamedTuple):
    """Nodes of B episodes; a node is numbered by the decision that its claim came with."""

    score: FloatArray  # (B, N) u
    missed: IntArray  # (B, N) m
    outcome: IntArray  # (B, N)
    source: IntArray  # (B, N) of the claim; NONE where it names none
    group: IntArray  # (B, N) first node that is known to be of its group
    branch: IntArray  # (B, N) first node of its task; NONE: no claim came with this decision
    obsolete: BoolArray  # (B, N) of a task, at its first node
    record: FloatArray  # (B, N, 2) settled successes and failures of the claim
    settled: FloatArray  # (B,) settled share of the scheduled queries


class Advice(NamedTuple):
    """What the tree says of the S slots and then of the considered claim: ``(B, S + 1)``."""

    retention: FloatArray  # u; 0 where there is no claim
    missed: IntArray  # m
    priority: FloatArray  # U of the branch
    obsolete: BoolArray  # whether the branch is
    value: FloatArray  # relevance × retention × priority; -1 where obsolete or no claim


class Spots(NamedTuple):
    """Where the claims in view stand in the tree: the S slots and then the considered one."""

    node: IntArray  # (B, S + 1)
    there: BoolArray  # (B, S + 1) whether there is a claim

    @property
    def stored(self) -> tuple[IntArray, IntArray]:
        """Episodes and slots that hold a claim."""
        episode, slot = np.nonzero(self.there[:, :-1])
        return episode, slot


class TreeCore:
    """Follow episodes by their observations.

    A claim is an action memory under its source's task, or under its group's where it names none
    (a group is known again while one of its claims is stored). A settlement is one selection: the
    stored claims that it credits or debits were selected and succeeded or failed, the other stored
    ones were passed over, and claims that are not stored are outside the candidate pool. Without
    feedback on claims no selection is known, and nothing decays. A branch below the threshold is
    obsolete, unless the considered claim is of it, until a stored claim of it succeeds. There is
    nothing to fold: observations tell of no completion.
    """

    def __init__(self, layout: Layout, rules: Rules, constants: Constants | None = None) -> None:
        self.layout, self.rules = layout, rules
        self.constants = constants or Constants()
        self._decisions = rules.length(layout.limits.claims)

    def start(self, size: int) -> State:
        """Give the state of ``size`` new episodes."""
        shape = size, self._decisions
        tree = Tree(
            score=np.zeros(shape),
            missed=np.zeros(shape, dtype=np.int64),
            outcome=np.full(shape, UNKNOWN),
            source=np.full(shape, NONE),
            group=np.full(shape, NONE),
            branch=np.full(shape, NONE),
            obsolete=np.zeros(shape, dtype=bool),
            record=np.zeros((*shape, 2)),
            settled=np.zeros(size),
        )
        return (*Books.start(size, self.rules.capacity, self._decisions), *tree)

    def observe(self, observation: Observation, state: State) -> tuple[Advice, State]:
        """Enter an observation; gives the advice on it and the next state."""
        state = self._restarted(observation, state)
        books, _ = Books(*state[:BOOKS]).update(observation, self.layout)
        tree = Tree(*(array.copy() for array in state[BOOKS:]))
        reading = observation["claim"][:, self.layout.index("valid")] == 1
        node = np.concatenate([books.written, books.step[:, None] - 1], axis=1)
        there = np.concatenate([books.written >= 0, reading[:, None]], axis=1)
        spots = Spots(np.clip(node, 0, self._decisions - 1), there)
        self._settle(observation, tree, spots)
        self._add(observation, tree, spots, np.flatnonzero(reading))
        priority = self._priorities(tree)
        self._suppress(tree, priority, spots)
        tree = tree._replace(settled=self._context(observation, "settled"))
        return self._advice(observation, tree, priority, spots), (*books, *tree)

    def relevance(self, rows: NDArray[np.floating], observation: Observation) -> FloatArray:
        """Mean similarity of claims ``(B, n, width)`` to the disclosed queries: ``(B, n)``.

        Where queries are disclosed by settlement one more is counted that is like every claim.
        """
        frequency = rows[..., self.layout.index("frequency")].astype(np.float64)
        if self.rules.disclosure != "settled":
            return frequency
        count = self._context(observation, "settled") * scheduled(self.rules, self.layout)
        return np.asarray((frequency * count[:, None] + 1.0) / (count[:, None] + 1.0))

    def _restarted(self, observation: Observation, state: State) -> State:
        """Restart episodes at their first decision, whatever a loop tells of beginnings."""
        begins = self._context(observation, "decisions_left") == 1
        if not begins.any():
            return state
        return tuple(
            np.where(begins.reshape(-1, *[1] * (old.ndim - 1)), new, old)
            for old, new in zip(state, self.start(len(begins)), strict=True)
        )

    def _settle(self, observation: Observation, tree: Tree, spots: Spots) -> None:
        """Enter what settlements say of the stored claims, and let the unused ones decay."""
        episode, slot = spots.stored
        at = episode, spots.node[episode, slot]
        records = self._records(observation["memory"][episode, slot])
        won, lost = (records - tree.record[at]).T
        tree.record[at] = records
        used = won + lost > 0
        outcome = np.where(won > lost, SUCCESS, FAILURE)
        score = np.where(won > lost, self.constants.success, self.constants.failure)
        tree.outcome[at] = np.where(used, outcome, tree.outcome[at])
        score = np.where(used, score, tree.score[at])
        returned = used & (won > lost)
        tree.obsolete[episode[returned], tree.branch[at][returned]] = False
        settled = self._context(observation, "settled") > tree.settled
        if self.rules.feedback == "claims":
            never = np.zeros(len(episode), dtype=bool)
            score, tree.missed[at] = after_selection(
                score, tree.missed[at], settled[episode], used, never, self.constants
            )
        tree.score[at] = score

    def _add(self, observation: Observation, tree: Tree, spots: Spots, reading: IntArray) -> None:
        """Enter the considered claims of the episodes ``reading`` ``(n,)`` under their tasks."""
        claim, memory = observation["claim"][reading], observation["memory"][reading]
        now = spots.node[reading, -1]
        source = claim[:, self.layout.index("source")].astype(np.int64)
        same = (tree.source[reading] == source[:, None]) & (source >= 0)[:, None]
        kin = (memory[..., self.layout.index("same_group")] == 1) & spots.there[reading, :-1]
        relative = tree.group[reading, spots.node[reading, kin.argmax(axis=1)]]
        group = np.where(kin.any(axis=1), relative, now)
        named = np.where(same.any(axis=1), same.argmax(axis=1), now)
        at = reading, now
        tree.source[at], tree.group[at] = source, group
        tree.branch[at] = np.where(source >= 0, named, group)
        tree.score[at], tree.record[at] = self.constants.action, self._records(claim)

    def _priorities(self, tree: Tree) -> FloatArray:
        """Give U_b of every task at its first node: ``(B, N)``."""
        size, width = tree.branch.shape
        nodes = np.nonzero(tree.branch != NONE)
        branch = nodes[0] * width + tree.branch[nodes]

        def total(weights: NDArray[np.generic]) -> FloatArray:
            return np.bincount(branch, weights, minlength=size * width).astype(np.float64)

        highest = np.full(size * width, self.constants.task)
        np.maximum.at(highest, branch, tree.score[nodes])
        actions = total(np.ones(len(branch)))
        mean = (self.constants.task + total(tree.score[nodes])) / (actions + 1.0)
        failed = total(tree.outcome[nodes] == FAILURE) / np.maximum(actions, 1.0)
        obsolete = tree.obsolete.reshape(-1) / (actions + 1.0)
        priority = combined(highest, mean, failed, obsolete, self.constants)
        return np.asarray(priority.reshape(size, width))

    def _suppress(self, tree: Tree, priority: FloatArray, spots: Spots) -> None:
        """Mark tasks below the threshold obsolete, but for that of the considered claim (eq. 7)."""
        low = tree.branch == np.arange(tree.branch.shape[1])
        low &= priority < self.constants.threshold
        reading = np.flatnonzero(spots.there[:, -1])
        low[reading, tree.branch[reading, spots.node[reading, -1]]] = False
        tree.obsolete[low] = True

    def _advice(
        self, observation: Observation, tree: Tree, priority: FloatArray, spots: Spots
    ) -> Advice:
        there, rows = spots.there, np.arange(len(spots.node))[:, None]
        branch = np.where(there, tree.branch[rows, spots.node], 0)
        retention = np.where(there, tree.score[rows, spots.node], 0.0)
        importance = np.where(there, priority[rows, branch], 0.0)
        obsolete = there & tree.obsolete[rows, branch]
        memory, claim = observation["memory"], observation["claim"][:, None]
        seen = np.concatenate([memory[..., : claim.shape[2]], claim], axis=1)
        weight = np.maximum(importance, 0.0) ** self.constants.priority
        value = selection_value(
            self.relevance(seen, observation), retention, weight, self.constants
        )
        return Advice(
            retention,
            np.where(there, tree.missed[rows, spots.node], 0),
            importance,
            obsolete,
            np.where(there & ~obsolete, value, -1.0),
        )

    def _records(self, rows: NDArray[np.floating]) -> FloatArray:
        places = [self.layout.index("credits"), self.layout.index("debits")]
        return np.asarray(rows[..., places], dtype=np.float64)

    def _context(self, observation: Observation, name: str) -> FloatArray:
        column = observation["context"][:, self.layout.index(name, "context")]
        return np.asarray(column, dtype=np.float64)
