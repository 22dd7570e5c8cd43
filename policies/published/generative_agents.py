"""Generative Agents (Park et al., 2023): recency + importance + relevance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.policies.base import State
from memenvs.policies.published.books import View
from memenvs.policies.published.parameters import constant
from memenvs.policies.published.store import Today, Verdict


class GenerativeAgents(Today):
    """Score = recency + importance + relevance, each min–max normalised; the lowest goes.

    Faithful: the three terms, their normalisation and weights. ``paper``: recency .995 for each
    hour since the last access, equal weights. ``as-coded``: weights .5, 2, 3 and recency .99^rank,
    the ranks counted from the oldest access, so that the oldest is taken for the most recent.
    Stand-ins: importance is the judge's (the model rated it); relevance is to the disclosed queries
    (there is no query when a claim is written); the system appends and never evicts, so that under
    a capacity the lowest score goes, the new claim's included. Reflections are not written.
    """

    name: ClassVar[str] = "generative-agents"
    variants: ClassVar[tuple[str, ...]] = ("paper", "as-coded")

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Score the slots and the claim together."""
        there = np.concatenate([view.stored, view.reading[:, None]], axis=1)
        recency = self._by_rank(view, there) if self.variant == "as-coded" else self._by_hour(view)
        system = self.name if self.variant == "paper" else f"{self.name}:as-coded"
        terms = {
            "recency": recency,
            "importance": self.judge.importance(view),
            "relevance": view.of_both("frequency"),
        }
        score = sum(
            constant(system, term) * normalised(values, there) for term, values in terms.items()
        )
        assert isinstance(score, np.ndarray)
        none = np.zeros_like(view.stored)
        return Verdict(view.reading, none, score[:, :-1], score[:, -1]), own

    def _by_hour(self, view: View) -> FloatArray:
        now = np.zeros((len(view.hours), 1))
        hours = np.concatenate([view.hours, now], axis=1)
        return np.asarray(constant(self.name, "decay") ** hours)

    def _by_rank(self, view: View, there: BoolArray) -> FloatArray:
        """Rank accesses from the oldest, as the code does; of equal ones, the first written."""
        books = view.books
        used = np.where(view.stored, books.used[..., 0], np.inf)
        order = np.lexsort((books.written, used))  # the claim is the last, behind all slots
        rank = np.empty(there.shape)
        places = np.broadcast_to(np.arange(1.0, order.shape[1] + 1), order.shape)
        np.put_along_axis(rank, order, places, axis=1)
        rank[:, -1] = view.stored.sum(axis=1) + 1.0
        return np.asarray(constant("generative-agents:as-coded", "decay") ** rank)


def normalised(values: FloatArray, there: BoolArray) -> FloatArray:
    """Stretch each row to [0, 1] over what is there; one half where all are equal."""
    low = np.where(there, values, np.inf).min(axis=1, keepdims=True)
    width = np.where(there, values, -np.inf).max(axis=1, keepdims=True) - low
    known = np.isfinite(width) & (width > 0)
    stretched = np.divide(
        values - np.where(known, low, 0.0),
        np.where(known, width, 1.0),
        out=np.full(values.shape, 0.5),
        where=np.broadcast_to(known, values.shape),
    )
    return np.asarray(np.where(there, stretched, 0.0))
