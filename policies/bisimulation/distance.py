"""Outcome profiles and the action-conditioned distance between them (equations 2 to 4)."""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from memenvs.material.incidence import IntArray
from memenvs.policies.bisimulation.graph import COUNT, FAILURE, SUCCESS, TARGET, Graph

TOLERANCE = 1e-9  # of a comparison with the threshold: distances are sums of quotients


class Row(NamedTuple):
    """What followed one action at one state, in whole numbers without a common divisor."""

    action: int
    total: int
    outcomes: tuple[int, int, int]  # successes, failures, progress: ρ times total
    landing: tuple[tuple[int, int], ...]  # (block, count) in order of the blocks


Rows = tuple[Row, ...]


def rows_of(graph: Graph, node: int, blocks: IntArray | None, *, by_action: bool) -> Rows:
    """Profile of a state: a row for each action tried there, in order.

    ``blocks`` ``(n,)`` are where successors land; None compares immediate outcomes alone (γ = 0).
    Without ``by_action`` all actions count as one.
    """
    out = graph.out[node]
    if not by_action:
        return (_row(graph, 0, [edge for edges in out.values() for edge in edges], blocks),)
    return tuple(_row(graph, action, out[action], blocks) for action in sorted(out))


def _row(graph: Graph, action: int, edges: list[int], blocks: IntArray | None) -> Row:
    table, grades = graph.edges, graph.grades
    total = success = failure = progress = 0
    landing: dict[int, int] = {}
    for edge in edges:
        target, count = int(table[TARGET, edge]), int(table[COUNT, edge])
        total += count
        success += count * (target == SUCCESS)
        failure += count * (target == FAILURE)
        progress += count * int(grades[edge] == 1)
        if blocks is not None:
            block = int(blocks[target])
            landing[block] = landing.get(block, 0) + count
    divisor = gcd(total, success, failure, progress, *landing.values())
    return Row(
        action,
        total // divisor,
        (success // divisor, failure // divisor, progress // divisor),
        tuple(sorted((block, count // divisor) for block, count in landing.items())),
    )


class Prediction(NamedTuple):
    """A row as shares."""

    success: float
    failure: float
    progress: float
    landing: dict[int, float]  # by block

    @classmethod
    def of(cls, row: Row) -> Prediction:
        """Divide the counts of a row."""
        success, failure, progress = (count / row.total for count in row.outcomes)
        landing = {block: count / row.total for block, count in row.landing}
        return cls(success, failure, progress, landing)


Predictions = dict[int, Prediction]  # by action


def distance(
    first: Predictions, second: Predictions, discount: float, limit: float
) -> float | None:
    """Worst distance over the actions tried at both (equations 3 and 4); None beyond ``limit``.

    Two states that share no action are infinitely far apart: ask about those that do.
    """
    worst = 0.0
    for action, (success, failure, progress, landing) in first.items():
        if action not in second:
            continue
        other = second[action]
        apart = abs(success - other.success) + abs(failure - other.failure)
        apart = (apart + abs(progress - other.progress)) / 3
        if apart <= limit and landing != other.landing:
            there = other.landing
            variation = sum([abs(p - there.get(block, 0.0)) for block, p in landing.items()])
            variation += sum([p for block, p in there.items() if block not in landing])
            apart += discount * 0.5 * variation
        if apart > limit:
            return None
        worst = max(worst, apart)
    return worst
