"""One round of the refinement: states with equal profiles, grouped by their distances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

import numpy as np

from memenvs.material.incidence import IntArray
from memenvs.policies.bisimulation.constants import Constants
from memenvs.policies.bisimulation.distance import TOLERANCE, Prediction, Rows, distance, rows_of
from memenvs.policies.bisimulation.graph import TERMINALS, Graph
from memenvs.policies.bisimulation.placement import place
from memenvs.policies.bisimulation.rules import Rule

UNKNOWN = -1  # block or region of a profile that has none yet
Key = tuple[int, Rows]  # label, rows


@dataclass(eq=False)
class Profile:
    """States that no comparison can tell apart: one label, and one row for each action."""

    rows: Rows
    predictions: dict[int, Prediction]  # by action
    members: dict[int, None] = field(default_factory=dict)  # nodes
    near: dict[Profile, float] = field(default_factory=dict)  # distances within the threshold
    far: dict[Profile, None] = field(default_factory=dict)  # beyond it, with shared actions
    block: int = UNKNOWN
    region: int = UNKNOWN  # of profiles that are near each other, directly or by steps

    @property
    def oldest(self) -> int:
        """First of its states."""
        return min(self.members)


class Round:
    """The closure, from singletons, of pairs within the threshold under d on another partition.

    Only what may have changed is compared again: profiles are kept with their distances, and only
    the regions of profiles that came or went are closed again. The result depends on the graph and
    the other partition alone.
    """

    def __init__(self, rule: Rule, constants: Constants, before: Round | None) -> None:
        self._rule = rule
        self._constants = constants
        self._before = before
        self._blocks: IntArray = np.arange(TERMINALS)
        self._size = TERMINALS
        self._numbers = count(TERMINALS)  # names of blocks; that of an unplaced state is below 0
        self._profiles: dict[Key, Profile] = {}
        self._profile_of: dict[int, Profile] = {}
        self._tried: dict[tuple[int, int], dict[Profile, None]] = {}  # by label and action
        self._regions: dict[int, dict[Profile, None]] = {}

    @property
    def blocks(self) -> IntArray:
        """Block of each node ``(n,)``: equal numbers are one block."""
        return self._blocks[: self._size]

    def update(self, graph: Graph, touched: Iterable[int]) -> list[int]:
        """Compare the ``touched`` nodes again, place idle ones; gives those whose block changed."""
        self._grow(graph.nodes)
        came: dict[Profile, None] = {}
        stale: dict[int, None] = {}  # regions to be closed again
        moved = [node for node in touched if self._move(graph, node, came, stale)]
        changed = dict.fromkeys(self._regroup(came, stale) if came or stale else ())
        for node in moved:
            if self._set(node, self._profile_of[node].block):
                changed[node] = None
        for node in graph.idle:
            block = place(graph, node, self.blocks, self._rule)
            if self._set(node, -1 - node if block is None else block):
                changed[node] = None
        return list(changed)

    def _grow(self, nodes: int) -> None:
        if nodes > len(self._blocks):
            more = np.full(2 * nodes - len(self._blocks), UNKNOWN)
            self._blocks = np.append(self._blocks, more)
        self._size = nodes

    def _set(self, node: int, block: int) -> bool:
        differs = bool(self._blocks[node] != block)
        self._blocks[node] = block
        return differs

    def _move(
        self, graph: Graph, node: int, came: dict[Profile, None], stale: dict[int, None]
    ) -> bool:
        """Put a node into the profile that it has now; says whether that is another one."""
        landing = None if self._before is None else self._before.blocks
        label = graph.labels[node] if self._rule.labelled else 0
        rows = rows_of(graph, node, landing, by_action=self._rule.by_action)
        old, new = self._profile_of.get(node), self._profiles.get((label, rows))
        if new is None:
            new = self._profiles[label, rows] = _profile(rows)
            new.block = UNKNOWN if old is None else old.block
            self._compare(new, label)
            came[new] = None
        if new is old:
            return False
        new.members[node] = None
        self._profile_of[node] = new
        if old is not None:
            del old.members[node]
            if not old.members:
                self._remove(old, label)
                stale[old.region] = None
        return True

    def _compare(self, new: Profile, label: int) -> None:
        others: dict[Profile, None] = {}
        for row in new.rows:
            tried = self._tried.setdefault((label, row.action), {})
            others |= tried
            tried[new] = None
        discount = self._constants.discount
        limit = self._constants.threshold + TOLERANCE
        for other in others:
            apart = distance(new.predictions, other.predictions, discount, limit)
            if apart is not None:
                new.near[other] = other.near[new] = apart
            elif self._rule.closure == "guarded":
                new.far[other] = other.far[new] = None

    def _remove(self, old: Profile, label: int) -> None:
        del self._profiles[label, old.rows]
        for row in old.rows:
            del self._tried[label, row.action][old]
        for other in old.near:
            del other.near[old]
        for other in old.far:
            del other.far[old]

    def _regroup(self, came: dict[Profile, None], stale: dict[int, None]) -> Iterable[int]:
        """Close regions again; gives the nodes whose block changed, but for those that moved."""
        for profile in came:
            stale |= dict.fromkeys(other.region for other in profile.near)
        old: dict[Profile, None] = {}
        for number in stale:
            old |= self._regions.pop(number, {})
        names = {profile.block for profile in old}
        pool = {profile: None for profile in old | came if profile.members}
        while pool:
            region = _reach(next(iter(pool)))
            number = next(self._numbers)
            self._regions[number] = region
            for profile in region:
                del pool[profile]
                profile.region = number
            for cluster in closed(region, self._rule.closure):
                block = self._name(cluster, names)
                for profile in cluster:
                    if profile.block != block:
                        profile.block = block
                        for node in profile.members:
                            if self._set(node, block):
                                yield node

    def _name(self, cluster: list[Profile], names: set[int]) -> int:
        """Let a cluster keep the name that most of its states had: fewer rows change thereby."""
        votes: dict[int, int] = {}
        for profile in cluster:
            if profile.block in names:
                votes[profile.block] = votes.get(profile.block, 0) + len(profile.members)
        if not votes:
            return next(self._numbers)
        kept = max(votes, key=lambda name: votes[name])
        names.discard(kept)
        return kept


def _profile(rows: Rows) -> Profile:
    return Profile(rows, {row.action: Prediction.of(row) for row in rows})


def _reach(start: Profile) -> dict[Profile, None]:
    region, frontier = {start: None}, [start]
    while frontier:
        for other in frontier.pop().near:
            if other not in region:
                region[other] = None
                frontier.append(other)
    return region


def closed(region: Iterable[Profile], closure: Literal["plain", "guarded"]) -> list[list[Profile]]:
    """Split a region, whose profiles are connected, into the clusters of the closure.

    The plain closure makes it one. The guarded closure takes the pairs in increasing distance, ties
    by their oldest states, and unites two clusters only if no pair across them shares an action
    and is further apart than the threshold: a chain of near states must not join far ones.
    """
    profiles = sorted(region, key=lambda profile: profile.oldest)
    if closure == "plain":
        return [profiles]
    place = {profile: i for i, profile in enumerate(profiles)}
    pairs = sorted(
        (apart, i, place[other])
        for i, profile in enumerate(profiles)
        for other, apart in profile.near.items()
        if i < place[other]
    )
    cluster_of = list(range(len(profiles)))
    members = {i: [profile] for i, profile in enumerate(profiles)}
    far = {i: set(profile.far) for i, profile in enumerate(profiles)}  # from some member
    for _, i, j in pairs:
        first, second = cluster_of[i], cluster_of[j]
        if first == second:
            continue
        if len(members[first]) < len(members[second]):
            first, second = second, first
        if not far[first].isdisjoint(members[second]):
            continue
        for profile in members[second]:
            cluster_of[place[profile]] = first
        members[first] += members.pop(second)
        far[first] |= far.pop(second)
    return list(members.values())
