"""The memory: it records transitions, and reranks a shortlist by what equal states have shown."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

import numpy as np

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.bisimulation.constants import PAPER, Constants
from memenvs.policies.bisimulation.graph import FAILURE, NEITHER, SUCCESS, TERMINALS, Graph, values
from memenvs.policies.bisimulation.partitions import make_partition
from memenvs.policies.bisimulation.placement import place
from memenvs.policies.bisimulation.pooling import Evidence, pooled
from memenvs.policies.bisimulation.rules import find_rule
from memenvs.policies.bisimulation.storage import load_memory, save_memory
from memenvs.storage.handles import Guard, one_at_a_time

TIE = 1e-9  # scores that are closer are equal: values are swept to their fixed point
STUCK = -1.0  # worth of what leaves a page as it is: that of a failure
UNKNOWN = -1  # stands for a template that does not resolve: nothing is known of it
Elements = frozenset[int]


class TransitionMemory:
    """Record what was done where, and rank actions by the evidence of the state's block.

    Signatures, templates, labels and elements are integers that an adapter makes of observations:
    a signature tells pages apart, a template names an action across episodes, a label says what a
    page offers, elements are what the rule ``observation`` compares. ``rule`` is a name of
    ``RULES``. Episodes may be recorded side by side.

    ``lag`` (set it) is the share by which records may have grown before the partition is computed
    again; until then pages that are new are placed into the blocks there are. 0: at every decision.
    """

    lag = 0.0

    def __init__(self, rule: str = "guarded", constants: Constants = PAPER) -> None:
        self.guard = Guard()  # threads may share a memory
        self.rule = rule
        self.constants = constants
        self.graph = Graph()
        self.elements: list[Elements] = [frozenset()] * TERMINALS  # of each node
        self._partition = make_partition(find_rule(rule), constants, self.elements)
        self._nodes: dict[int, int] = {}  # by signature
        self._labels: dict[int, int] = {}  # numbers of labels
        self._templates: dict[int, int] = {}  # numbers of templates
        self._seen = -1, -1, -1  # nodes, episodes, records that blocks and values are of
        self._blocks: IntArray = np.zeros(0, dtype=np.int64)
        self._values: FloatArray = np.zeros(0)

    @one_at_a_time
    def begin(self, signature: int, label: int, elements: Elements = frozenset()) -> None:
        """Begin an episode at a page."""
        self.graph.begin(self.add_page(signature, label, elements))

    @one_at_a_time
    def record(
        self,
        signature: int,
        template: int,
        next_signature: int,
        next_label: int,
        reward: float,
        done: bool,
        role: int | None = None,
        next_elements: Elements = frozenset(),
    ) -> None:
        """Record that ``template`` was done at a known page, and what followed.

        The step that ends an episode (``done``) leads to the terminal of its ``role``: SUCCESS,
        FAILURE or NEITHER, as of an episode that was cut; by default the sign of ``reward`` says
        which. The next page then does not matter. Raises ``ValueError`` for an unknown page.
        """
        if template == UNKNOWN:
            raise ValueError(f"template {UNKNOWN} means an unknown action; it cannot be recorded")
        if role not in (None, SUCCESS, FAILURE, NEITHER):
            raise ValueError(f"role={role!r} is unknown; choose SUCCESS, FAILURE, NEITHER or None")
        source = self._known(signature)
        if not done:
            target = self.add_page(next_signature, next_label, next_elements)
        elif role is not None:
            target = role
        else:
            target = SUCCESS if reward > 0 else FAILURE if reward < 0 else NEITHER
        self.graph.record(source, self.template(template), target)

    @one_at_a_time
    def evidence(
        self, signature: int, templates: Sequence[int], stuck: Collection[int] = ()
    ) -> Evidence:
        """Give q_B of each template at a page, and how much the page's block recorded.

        Nothing is recorded of a page that never was met. ``stuck`` are templates that have left
        this very page as it was in the running episode: what is seen here outweighs the pool.
        """
        node = self._nodes.get(signature)
        if node is None:
            nothing = np.zeros(len(templates))
            return Evidence(nothing, 0, nothing.astype(np.int64))
        self._refresh()
        actions = [self._templates.get(template) for template in templates]
        found = pooled(self.graph, self._values, self._blocks, node, actions, self.constants)
        found.values[[template in stuck for template in templates]] = STUCK
        return found

    @one_at_a_time
    def rerank(self, signature: int, templates: Sequence[int], stuck: Collection[int] = ()) -> int:
        """Give the place in a policy's shortlist of the best action (equation 8).

        Each place down the shortlist costs λ, and the first of equals is taken.
        """
        scores = self.evidence(signature, templates, stuck).values
        scores = scores - self.constants.rank_penalty * np.arange(len(templates))
        return int((scores >= scores.max() - TIE).argmax())

    @one_at_a_time
    def partition(self) -> dict[int, int]:
        """Number the block of every page, by signature, in the order of their oldest pages."""
        self._refresh()
        numbers: dict[int, int] = {}
        blocks = self._blocks.tolist()
        return {
            signature: numbers.setdefault(blocks[node], len(numbers))
            for signature, node in self._nodes.items()
        }

    def collapse_ratio(self) -> float:
        """Pages for each block; 1 of an empty memory."""
        blocks = self.partition()
        return len(blocks) / len(set(blocks.values())) if blocks else 1.0

    @one_at_a_time
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was recorded to a file, and to the disk; an older one stays until then."""
        save_memory(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TransitionMemory:
        """Read a memory that was saved; raises ``ValueError`` where the file holds none."""
        return load_memory(path, cls)

    def add_page(self, signature: int, label: int, elements: Elements = frozenset()) -> int:
        """Give the node of a page, which is added where it is new; a page keeps its label."""
        number = self._labels.setdefault(label, len(self._labels))
        node = self._nodes.get(signature)
        if node is None:
            node = self._nodes[signature] = self.graph.add(number)
            self.elements.append(elements)
        elif self.graph.labels[node] != number:
            raise ValueError(f"the page of signature {signature} carried another label before")
        return node

    @property
    def signatures(self) -> Collection[int]:
        """Signatures of the pages that are known."""
        return self._nodes.keys()

    def node(self, signature: int) -> int:
        """Give the node of a known page; raises ``ValueError`` for another."""
        return self._known(signature)

    def template(self, template: int) -> int:
        """Give the number of a template, which is added where it is new."""
        return self._templates.setdefault(template, len(self._templates))

    def templates(self) -> list[int]:
        """List the templates in the order of their numbers."""
        return list(self._templates)

    def pages(self) -> list[tuple[int, int, Elements]]:
        """List signature, label and elements of every page, in the order of the nodes."""
        labels = list(self._labels)
        return [
            (signature, labels[self.graph.labels[node]], self.elements[node])
            for signature, node in self._nodes.items()
        ]

    def _refresh(self) -> None:
        """Bring blocks and values up to what is recorded."""
        now = self.graph.nodes, self.graph.begun, self.graph.records
        if now == self._seen:
            return
        if self.lag and now[2] - self._seen[2] <= self.lag * now[2]:
            self._place(now[0])
            return
        touched = self.graph.refresh()
        self._blocks = self._partition.update(self.graph, touched)
        if now[2] != self._seen[2]:
            self._values = values(self.graph, self.constants.discount, self._values)
        else:
            more = np.zeros(now[0] - len(self._values))
            self._values = np.append(self._values, more)
        self._seen = now

    def _place(self, nodes: int) -> None:
        """Place new pages into the blocks that there are."""
        known = len(self._blocks)
        self._blocks = np.append(self._blocks, -1 - np.arange(known, nodes))
        self._values = np.append(self._values, np.zeros(nodes - known))
        for node in range(known, nodes):
            block = place(self.graph, node, self._blocks, find_rule(self.rule))
            self._blocks[node] = -1 - node if block is None else block

    def _known(self, signature: int) -> int:
        if signature not in self._nodes:
            raise ValueError(f"the page of signature {signature} is unknown; begin() with it")
        return self._nodes[signature]
