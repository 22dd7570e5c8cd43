"""What a memory is worth in one setting: one object, from which every measure is computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material, Memory, plain
from memenvs.reading.answers import ALL, Utility, answers, reader_of

if TYPE_CHECKING:
    from memenvs.envs.memorization.rules import Rules
    from memenvs.optimal.curve import Frontier

CELLS = 1 << 24  # flags of (memory, query, item) that a reader holds at once


@dataclass(frozen=True)
class Objective:
    """How an answer is found in a memory, what counts as one, and what is asked.

    ``utility``: ``"coverage"``, ``"precision"`` or ``"end-to-end"``. ``reader``: ``"all"``, or the
    best spanned items by a ranking for the query: the K best of ``"similarity:K"`` or
    ``"bm25:K"``, or the most similar that fit into N tokens, ``"tokens:N"``; then more memory can
    hurt. ``query``: number of the only query that is asked, as at level 0; None: queries
    are drawn from p_D. Raises ``ValueError`` for an unknown name.
    """

    utility: Utility = "precision"
    reader: str = ALL
    query: int | None = None

    def __post_init__(self) -> None:
        """Check the names."""
        known = ("coverage", "precision", "end-to-end")
        if self.utility not in known:
            raise ValueError(f"{self.utility!r} is no objective; choose from {', '.join(known)}")
        reader_of(self.reader)

    @classmethod
    def of(cls, rules: Rules) -> Objective:
        """Give the objective of an environment; at level 0 it still asks any query."""
        return cls(rules.utility, rules.reader)

    @property
    def limited(self) -> bool:
        """Whether a reader leaves items unread, so that more memory can hurt."""
        return self.reader != ALL

    def saturates(self, material: Material) -> bool:
        """Whether a memory of everything is worth as much as any: nothing stored hurts."""
        return not self.limited and self.utility != "end-to-end" and material.is_monotone

    @property
    def name(self) -> str:
        """What it is, in a word or two, for tables."""
        parts = [self.utility, self.reader if self.limited else ""]
        return " ".join(filter(None, [*parts, "" if self.query is None else "of one query"]))

    def asking(self, query: int | None) -> Objective:
        """Give the same objective where only that query is asked."""
        return replace(self, query=query)

    def weights(self, material: Material) -> FloatArray:
        """Give the chance of each query to be asked: ``(Q,)``."""
        if self.query is None:
            return material.incidence.probability
        weights = np.zeros(len(material.queries))
        weights[self.query] = 1.0
        return weights

    def answered(self, material: Material, memory: Memory) -> FloatArray:
        """Give the chance that each query is answered from memories: ``(..., Q)``."""
        mask = material.mask(memory)
        flat = mask.reshape(-1, mask.shape[-1])
        size = max(1, CELLS // max(1, len(material.queries) * len(material.items)))
        reader = reader_of(self.reader)
        parts = [
            answers(material, flat[start : start + size], self.utility, reader)
            for start in range(0, max(len(flat), 1), size)
        ]
        return np.concatenate(parts).reshape(*mask.shape[:-1], len(material.queries))

    def expected(self, material: Material, memory: Memory) -> float | FloatArray:
        """Give the exact expected utility of a memory, or of each ``(...)`` of a batch."""
        return plain(np.asarray(self.answered(material, memory) @ self.weights(material)))

    def full_context(self, material: Material) -> float:
        """Give the utility of a memory of everything; a limited reader may make it a poor one."""
        return float(self.expected(material, np.ones(len(material.claims), dtype=bool)))

    def frontier(
        self,
        material: Material,
        capacities: Iterable[float] | None = None,
        method: Literal["exact", "greedy", "bound"] = "exact",
        **limits: Any,
    ) -> Frontier:
        """Best value at each capacity; ``limits`` are those of ``memenvs.frontier``."""
        from memenvs.optimal.curve import frontier

        return frontier(material, self, capacities, method, **limits)


def asked(material: Material, query: int) -> Material:
    """Give the same material where only one query has a mass."""
    key = ("asked", query)
    if key not in material.derived:
        weighed = [replace(q, weight=float(n == query)) for n, q in enumerate(material.queries)]
        material.derived[key] = replace(material, queries=tuple(weighed))
    found: Material = material.derived[key]
    return found
