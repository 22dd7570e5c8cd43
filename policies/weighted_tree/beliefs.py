"""What is believed: which memories fell, what they had superseded, and what was built on them.

Obsolescence is derived from what was told, in three layers, so that it can be undone:

1. A node holds unless it, a task above it, or what it was built from was withdrawn or failed.
2. A memory is superseded while a node that it was told to give way to holds, or while the official
   successes about its slot that hold agree on another value, and are enough.
3. A summary or a global memory is obsolete while an action that it was built from does not hold or
   is superseded; what it stood for then stands open again.

Each layer asks only the ones before it: two memories never hold each other down.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.folding import sources
from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    FAILURE,
    GLOBAL,
    NONE,
    OBSOLETE,
    SUCCESS,
    SUMMARY,
    Nodes,
)

STANDS, WITHDRAWN, SUPPRESSED, REINSTATED = range(4)  # what is suppressed holds, out of sight
LEADING = re.compile(r"^(?:(?:in|on|at|by|from|about|the|a|an)\s+)+")
GROUPED = re.compile(r"(?<=\d)[,'\u2019](?=\d{3}\b)")  # a mark between thousands
MARKS = re.compile(r"[^\w.]+|\.(?!\d)")


def normal(value: str) -> str:
    """Give a value's normal form, in which 'in 1890.' is '1890' and '1,200' is '1200'."""
    text = GROUPED.sub("", unicodedata.normalize("NFKC", value).casefold())
    text = " ".join(MARKS.sub(" ", text).split())
    return LEADING.sub("", text) or text


class Beliefs:
    """Keeps lifecycles in step with what was told; without supersession nothing is superseded."""

    def __init__(self, nodes: Nodes, constants: Constants, *, supersession: bool) -> None:
        self._nodes, self._constants = nodes, constants
        self._supersession = supersession
        self._slots: dict[tuple[int, str], list[int]] = defaultdict(list)  # claims by root and slot
        self._officials: dict[tuple[int, str], list[int]] = defaultdict(list)
        self._given_way: dict[int, list[int]] = defaultdict(list)  # told, by what stands behind it
        self._built: dict[int, list[int]] = defaultdict(list)  # summaries and globals by action

    def add(self, number: int) -> None:
        """Enter a node."""
        nodes = self._nodes
        if nodes.kind[number] in (SUMMARY, GLOBAL):
            for action in sources(nodes, number):
                self._built[action].append(number)
        slot = self._slot(number)
        if slot is not None:
            self._slots[slot].append(number)
            if nodes.metadata[number].get("official"):
                self._officials[slot].append(number)

    def supersede(self, old: int, new: int) -> None:
        """Note that a node gives way to another while that one holds."""
        self._nodes.told[old] = new
        for behind in (new, *sources(self._nodes, new)):
            self._given_way[behind].append(old)

    def built(self, action: int) -> list[int]:
        """Give the summaries and global memories that were built from an action."""
        return list(self._built[action])

    def forget(self, action: int) -> list[int]:
        """Leave an action out of what is claimed about its slot; gives the claims that are left."""
        slot = self._slot(action)
        if slot is None:
            return []
        for claims in (self._slots[slot], self._officials[slot]):
            if action in claims:
                claims.remove(action)
        self._nodes.by[action] = NONE
        return self._rule(slot)

    def revise(self, changed: Iterable[int]) -> None:
        """Bring lifecycles into step after something was told of these nodes."""
        touched = set(changed)
        for number in tuple(touched):
            touched.update(self._given_way[number])
        for slot in {self._slot(number) for number in touched} - {None}:
            if self._officials[slot]:  # type: ignore[index]
                touched.update(self._rule(slot))  # type: ignore[arg-type]
        touched.update([built for number in tuple(touched) for built in self._built[number]])
        for number in touched:
            self.show(number)

    def show(self, number: int) -> None:
        """Write a node's lifecycle from its own stage and from what is believed."""
        nodes = self._nodes
        fallen = nodes.withdrawn[number] in (WITHDRAWN, SUPPRESSED)
        fallen |= self._superseder(number) != NONE
        if self._supersession and nodes.kind[number] in (SUMMARY, GLOBAL):
            fallen |= not all(self._sound(action) for action in sources(nodes, number))
        nodes.lifecycle[number] = OBSOLETE if fallen else nodes.stage[number]

    def _slot(self, number: int) -> tuple[int, str] | None:
        """Give the root and the slot of a claim; None for what claims nothing."""
        nodes, told = self._nodes, self._nodes.metadata[number]
        if nodes.kind[number] != ACTION or not self._supersession or "value" not in told:
            return None
        return int(nodes.root[number]), str(told.get("slot"))

    def _holds(self, number: int) -> bool:
        """Tell whether a node was neither withdrawn nor failed, nor what it was built from."""
        nodes = self._nodes
        above = number
        while above != NONE:
            if nodes.withdrawn[above] == WITHDRAWN:
                return False
            above = int(nodes.parent[above])
        if nodes.kind[number] in (SUMMARY, GLOBAL):
            return all(self._holds(action) for action in sources(nodes, number))
        return bool(nodes.outcome[number] != FAILURE)

    def _told(self, number: int) -> int:
        """Give what a node was told to give way to, if that holds; else NONE."""
        new = int(self._nodes.told[number])
        return NONE if new == NONE or not self._holds(new) else new

    def _superseder(self, number: int) -> int:
        told = self._told(number)
        return told if told != NONE else int(self._nodes.by[number])

    def _sound(self, action: int) -> bool:
        return self._holds(action) and self._superseder(action) == NONE

    def _rule(self, slot: tuple[int, str]) -> list[int]:
        """Let the officials of a slot supersede, where they agree; gives its claims.

        As many independent sources as the constants ask for must agree. Officials that contradict
        each other supersede nothing.
        """
        nodes, claims = self._nodes, self._slots[slot]
        ruling = [
            number
            for number in self._officials[slot]
            if nodes.outcome[number] == SUCCESS
            and self._holds(number)
            and self._told(number) == NONE
        ]
        values = {normal(str(nodes.metadata[number]["value"])) for number in ruling}
        agreed = len({str(nodes.metadata[number].get("source")) for number in ruling})
        for claim in claims:
            nodes.by[claim] = NONE
            agrees = normal(str(nodes.metadata[claim]["value"])) in values
            stands = agrees or nodes.withdrawn[claim] == REINSTATED
            if len(values) == 1 and agreed >= self._constants.corroboration and not stands:
                nodes.by[claim] = ruling[0]
        return claims


def below(nodes: Nodes, task: int) -> list[int]:
    """Give a node and all that stands below it, ascending."""
    flags = np.zeros(len(nodes), dtype=bool)
    flags[task] = True
    return np.flatnonzero(nodes.inherited(flags)).tolist()
