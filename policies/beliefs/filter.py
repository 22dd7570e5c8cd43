"""A Bayes filter over worlds, kinds of sources and truths of claims, for a batch of episodes.

Given the world, sources are independent; given its kind, so are a source's claims. What a claim
shows and how its settlements went is evidence on its truth, which its source's kind makes likely.
A failed query says that every debited claim is false; a right answer that some credited claim is
true, which is shared out by the beliefs of the moment (noisy-or).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.beliefs.rates import Rates

IMPOSSIBLE = np.log(1e-6)  # what a settlement rules out; parts of composites are debited unjustly


@dataclass(frozen=True, eq=False)
class Evidence:
    """What n claims show of themselves."""

    source: IntArray  # (B, n) -1 where none is named
    style: FloatArray  # (B, n, W, K) log density
    importance: FloatArray  # (B, n, W, 2) density, false first

    def last(self) -> Evidence:
        """Give that of the last claim alone."""
        return Evidence(self.source[:, -1:], self.style[:, -1:], self.importance[:, -1:])


class Beliefs:
    """Log evidence of every source by world and kind: ``(B, W, sources, K)`` arrays, updated."""

    def __init__(self, rates: Rates, cues: tuple[str, ...], sources: int) -> None:
        self.rates = rates
        self._cues = cues
        self._sources = sources

    def start(self, size: int) -> FloatArray:
        """Give what sources have shown before anything was read."""
        return np.zeros((size, len(self.rates.overclaims), self._sources, len(self.rates.prior)))

    def of(self, rows: NDArray[Any], source: IntArray, layout: Layout) -> Evidence:
        """Read the cues of claims ``(B, n, width)``; cues that are absent say nothing."""
        worlds, kinds = self.rates.style.shape
        style = np.zeros((*source.shape, worlds, kinds))
        importance = np.ones((*source.shape, worlds, 2))
        if "style" in self._cues:
            style = self.rates.style_evidence(_column(rows, layout, "cues.style"))
        if "importance" in self._cues:
            importance = self.rates.importance_densities(_column(rows, layout, "cues.importance"))
        return Evidence(source, style, importance)

    def hear(self, sources: FloatArray, shown: Evidence, fresh: BoolArray) -> None:
        """Enter claims that are new ``(B, n)``."""
        likelihood = self._likelihood(shown, np.zeros((*shown.source.shape, 2)))
        self._add(sources, shown.source, likelihood, fresh)

    def settle(
        self,
        sources: FloatArray,
        shown: Evidence,
        evidence: FloatArray,
        debited: BoolArray,
        credited: BoolArray,
    ) -> None:
        """Enter a settlement of stored claims ``(B, S)`` in ``sources`` and their ``evidence``.

        ``shown`` also holds the considered claim, the last, which is not stored.
        """
        changed = debited | credited
        if not changed.any():
            return
        before = self._likelihood(shown, _extended(evidence))
        doubt = np.where(credited, 1.0 - self.true(sources, shown, evidence)[:, :-1], 1.0)
        others = doubt.prod(axis=1, keepdims=True) / np.maximum(doubt, 1e-12)
        alone = credited.sum(axis=1, keepdims=True) == 1
        chance = np.where(alone, 0.0, 1.0 - others)  # that another one earned the answer
        chance = np.log(np.maximum(chance, np.exp(IMPOSSIBLE)))
        evidence[..., 0] += np.where(credited, chance, 0.0)
        evidence[..., 1] += np.where(debited, IMPOSSIBLE, 0.0)
        evidence -= evidence.max(axis=-1, keepdims=True)
        after = self._likelihood(shown, _extended(evidence))
        self._add(sources, shown.source[:, :-1], (after - before)[:, :-1], changed)

    def true(self, sources: FloatArray, shown: Evidence, evidence: FloatArray) -> FloatArray:
        """P(true) of claims, the stored ones with their evidence ``(B, m, 2)``: ``(B, n)``."""
        true, either = self._joint(shown, _padded(evidence, shown.source.shape[1]))
        of_source = self.rates.prior + sources
        total = _total(of_source)  # (B, W, s)
        world = np.exp(_normalised(total.sum(axis=-1)))  # (B, W)
        kind = np.exp(of_source - total[..., None])
        episode = np.arange(len(sources))[:, None]
        kinds = kind[episode, :, np.maximum(shown.source, 0)]  # (B, n, W, K)
        unnamed = shown.source < 0
        if unnamed.any():  # each is a source by itself
            own = self.rates.prior + shown.style[unnamed] + np.log(either[unnamed])
            kinds[unnamed] = np.exp(_normalised(own))
        return np.asarray(((kinds * true / either).sum(axis=-1) * world[:, None]).sum(axis=-1))

    def _likelihood(self, shown: Evidence, evidence: FloatArray) -> FloatArray:
        """Log likelihood of what claims show, by world and kind: ``(B, n, W, K)``."""
        return np.asarray(shown.style + np.log(self._joint(shown, evidence)[1]))

    def _joint(self, shown: Evidence, evidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Likelihood of truth and importance, and of importance alone: ``(B, n, W, K)`` each."""
        joint = shown.importance * np.exp(evidence)[:, :, None, :]
        true = joint[..., 1:] * self.rates.honesty
        return true, true + joint[..., :1] * (1.0 - self.rates.honesty)

    @staticmethod
    def _add(sources: FloatArray, source: IntArray, gain: FloatArray, where: BoolArray) -> None:
        episode, claim = np.nonzero(where & (source >= 0))
        by_source = sources.swapaxes(1, 2)  # a view
        np.add.at(by_source, (episode, source[episode, claim]), gain[episode, claim])


def _column(rows: NDArray[Any], layout: Layout, name: str) -> FloatArray:
    return np.asarray(rows[..., layout.index(name)], dtype=np.float64)


def _padded(evidence: FloatArray, claims: int) -> FloatArray:
    return np.pad(evidence, ((0, 0), (0, claims - evidence.shape[1]), (0, 0)))


def _extended(evidence: FloatArray) -> FloatArray:
    return _padded(evidence, evidence.shape[1] + 1)


def _total(logs: FloatArray) -> FloatArray:
    """Add up the last axis of logarithms."""
    largest = logs.max(axis=-1, keepdims=True)
    return np.asarray(largest[..., 0] + np.log(np.exp(logs - largest).sum(axis=-1)))


def _normalised(logs: FloatArray) -> FloatArray:
    return np.asarray(logs - _total(logs)[..., None])
