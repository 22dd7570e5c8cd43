"""What can be read of a tree without changing it."""

from __future__ import annotations

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.weighted_tree.configurations import Configuration
from memenvs.policies.weighted_tree.constants import Constants
from memenvs.policies.weighted_tree.folding import sources
from memenvs.policies.weighted_tree.nodes import NONE, Nodes
from memenvs.policies.weighted_tree.search import Filter, Found, found
from memenvs.policies.weighted_tree.state import State, Tokens
from memenvs.storage.handles import Guard, one_at_a_time


class Reader:
    """Reads a state; threads may share it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.guard = Guard()

    @property
    def done(self) -> bool:
        """Whether the root is complete and no task is active."""
        return self._state.root != NONE and self._state.active == NONE

    @property
    def active(self) -> int | None:
        """The active task."""
        return None if self._state.active == NONE else self._state.active

    @property
    def nodes(self) -> Nodes:
        """All nodes, to be read."""
        return self._state.nodes

    @property
    def tokens(self) -> Tokens:
        """Prompt tokens so far, of every call."""
        return self._state.tokens

    @property
    def configuration(self) -> Configuration:
        """The switches."""
        return self._state.configuration

    @property
    def constants(self) -> Constants:
        """The numbers."""
        return self._state.constants

    @one_at_a_time
    def candidates(self) -> IntArray:
        """Give what is open to ordinary selection now, beside the active path, ascending."""
        return self._state.pool().copy()

    @one_at_a_time
    def search(
        self,
        query: str,
        count: int = 5,
        *,
        root: int | None = None,
        source: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> list[Found]:
        """Give the memories of highest selection value for a query; changes nothing.

        Needs no active task. What is obsolete stays out. ``root`` limits it to one tree and to the
        global memories, ``source`` and the two ends of ``time`` to what was recorded with them.
        """
        return found(self._state, query, count, Filter(root, source, since, until))

    @one_at_a_time
    def priorities(self) -> FloatArray:
        """Give U_b of every task, 0 for other nodes: ``(n,)``."""
        return self._state.priorities(self.nodes.score)

    @one_at_a_time
    def sources(self, node: int, *, warnings: bool = False) -> frozenset[int]:
        """Give the actions whose content a node carries, through summaries of summaries.

        With ``warnings`` also the failed ones that a summary warns of.
        """
        self._check(node, "a node")
        return sources(self.nodes, node, warnings=warnings)

    def _check(self, node: int, what: str, *kinds: int) -> None:
        """Raise ``ValueError`` unless it is the number of a node of these kinds, of any if none."""
        nodes = self._state.nodes
        if not 0 <= node < len(nodes) or (kinds and nodes.kind[node] not in kinds):
            raise ValueError(f"node {node!r} is not {what} of this tree")

    def _active(self) -> int:
        if self._state.active == NONE:
            raise ValueError("no task is active; begin one, or return to one")
        return self._state.active
