"""Which memories a step needs: the interface of a selector, and the one that asks no model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.weighted_tree.nodes import KINDS, LIFECYCLES, Nodes
from memenvs.policies.weighted_tree.quoting import quoted
from memenvs.policies.weighted_tree.tokens import count_tokens

BLOCK = 64  # candidates that are put in order at once: a prompt seldom holds more

QUESTION = (
    "Choose the memories that the step needs, the most useful first. Each line holds a number, a "
    "type, a lifecycle, a retention score, the priority of its branch, and the memory. Reply with "
    'JSON alone: {{"selected": [3, 1]}}.\nStep: {}\n{}'
)


@dataclass(frozen=True)
class Pool:
    """The candidates of one context; arrays ``(k,)``."""

    query: str  # the active task's objective and what the step asks
    ids: IntArray  # node numbers, ascending
    relevance: FloatArray  # cosine to the query
    retention: FloatArray  # u, or the type's prior without scores
    priority: FloatArray  # of the containing branch to the constants' power; 1 without scores
    value: FloatArray  # for the step, of these three: the constants say how
    tokens: IntArray  # of each one's line in a prompt
    nodes: Nodes

    def question(self) -> str:
        """Give the prompt by which a language model is asked."""
        return QUESTION.format(quoted(self.query), "\n".join(self._lines()))

    def question_tokens(self) -> int:
        """Count the tokens of ``question()`` without writing it out."""
        fixed = count_tokens(QUESTION.format(quoted(self.query), ""))
        # A line's number, type, lifecycle, two scores of three tokens each, and its colon; the
        # label of a line in a prompt has two.
        return fixed + int((self.tokens + 8).sum())

    def _lines(self) -> Iterator[str]:
        nodes = self.nodes
        rows = zip(self.ids.tolist(), self.retention.tolist(), self.priority.tolist(), strict=True)
        for number, score, priority in rows:
            kind, state = KINDS[nodes.kind[number]], LIFECYCLES[nodes.lifecycle[number]]
            text = quoted(nodes.texts[number])
            yield f"{number} {kind} {state} {score:.2f} {priority:.2f}: {text}"


class Selector(Protocol):
    """Ranks candidates; as many as the budget holds are then taken."""

    def rank(self, pool: Pool) -> Iterable[int]:
        """Give node numbers of the pool, the best first, each once; the rest is not taken."""
        ...

    def tokens(self, pool: Pool) -> int:
        """Count the prompt tokens of the last ``rank(pool)``."""
        ...


class LexicalSelector:
    """Rank by the selection value, see ``scores.selection_value``; asks no model.

    Equal values stand in the order of their nodes; what has no value is left out. The tokens that
    it is charged with are those of the one question that would have been put to a model, so that
    configurations compare as the paper's do.
    """

    def rank(self, pool: Pool) -> Iterator[int]:
        """Give node numbers, the best first."""
        value = pool.value
        left = np.flatnonzero(value > 0)
        while len(left):
            best = left
            if len(left) > BLOCK:  # all that reach the value of the last of the block
                least = np.partition(value[left], len(left) - BLOCK)[len(left) - BLOCK]
                best = left[value[left] >= least]
            order = best[np.argsort(-value[best], kind="stable")]
            yield from pool.ids[order].tolist()
            left = np.setdiff1d(left, best, assume_unique=True)

    def tokens(self, pool: Pool) -> int:
        """Count the tokens of the question that a model would have been asked."""
        return pool.question_tokens()
