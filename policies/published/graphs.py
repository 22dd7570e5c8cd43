"""Memories that keep what is central in a graph: A-MEM (Xu et al., 2025), HippoRAG (2024)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.policies.base import State
from memenvs.policies.published.books import View
from memenvs.policies.published.parameters import constant
from memenvs.policies.published.store import Today, Verdict

ROUNDS = 40  # of a power iteration whose error halves in each


class AMem(Today):
    """Link each claim to the five nearest by cosine; the fewest links go.

    Faithful: the five nearest notes, and links that stay till one of the two goes. Stand-ins: all
    five are linked (the model chooses among them, and rewrites their context); the system never
    evicts, so that under a capacity the lowest degree goes, the new claim's included.
    """

    name: ClassVar[str] = "a-mem"

    def own(self, size: int) -> State:
        """Give no links ``(B, S, S)``, and none of a claim that is on its way ``(B, S)``."""
        slots = self.rules.capacity
        return np.zeros((size, slots, slots), dtype=bool), np.zeros((size, slots), dtype=bool)

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Count links, those of the considered claim among them."""
        links, arriving = own
        links = links & ~view.fresh[:, :, None] & ~view.fresh[:, None, :]
        new = view.fresh[:, :, None] & arriving[:, None, :] & ~view.fresh[:, None, :]
        links = links | new | new.swapaxes(1, 2)
        near = view.nearest(int(constant(self.name, "links")))
        degree = links.sum(axis=2) + near.astype(np.float64)
        verdict = Verdict(
            view.reading, np.zeros_like(view.stored), degree, near.sum(axis=1, dtype=np.float64)
        )
        return verdict, (links, near)


class HippoRAG(Today):
    """Keep what personalised PageRank finds most central in the graph of the claims.

    Faithful: damping .5, edges of synonymy at similarity .8 weighted by it, edges of weight 1 for a
    shared entity. Stand-ins: a claim is a node (the system's are entities, which a model extracts)
    and a similarity of .5 tells of a shared entity; the walk restarts at the topics of the
    disclosed queries, before any evenly; the system never evicts, so that the least central goes.
    """

    name: ClassVar[str] = "hipporag"

    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Rank the slots and the claim together."""
        there = np.concatenate([view.stored, view.reading[:, None]], axis=1)
        cosine = view.embeddings @ view.embeddings.swapaxes(1, 2)
        rank = pagerank(edges(cosine) * there[:, :, None] * there[:, None, :],
                        view.of_both("frequency") * there, there)  # fmt: skip
        none = np.zeros_like(view.stored)
        return Verdict(view.reading, none, rank[:, :-1], rank[:, -1]), own


def edges(cosine: FloatArray) -> FloatArray:
    """Weights of the edges between claims, or items, of these cosines: ``(..., n, n)``."""
    cosine = np.round(cosine, 6)
    entity = (cosine >= constant("hipporag", "entity")).astype(np.float64)
    weight = entity + np.where(cosine >= constant("hipporag", "synonymy"), cosine, 0.0)
    place = np.arange(cosine.shape[-1])
    weight[..., place, place] = 0.0
    return weight


def pagerank(weight: FloatArray, restart: FloatArray, there: BoolArray) -> FloatArray:
    """Personalised PageRank of the nodes that are there: ``(..., n)``, each row summing to 1.

    The walk restarts in proportion to ``restart``, evenly where that is zero throughout; from a
    node without edges it restarts in any case.
    """
    damping = constant("hipporag", "damping")
    total = restart.sum(axis=-1, keepdims=True)
    even = there / np.maximum(there.sum(axis=-1, keepdims=True), 1)
    start = np.where(total > 0, restart / np.where(total > 0, total, 1.0), even)
    strength = weight.sum(axis=-1, keepdims=True)
    step = weight / np.where(strength > 0, strength, 1.0)
    lonely = strength[..., 0] == 0
    rank = start
    for _ in range(ROUNDS):
        lost = (rank * lonely).sum(axis=-1, keepdims=True)
        walked = (rank[..., None, :] @ step)[..., 0, :]
        rank = (1 - damping) * start + damping * (walked + lost * start)
    return np.asarray(rank)
