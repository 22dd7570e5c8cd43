"""How the memories in use read: the part of what a memory spans that each finds for a query.

A reader turns spanned items into at most ``k`` retrieved ones for each query, as
``memenvs.reading.utility.Reader`` asks. It sees the items' vectors, and of their claims what an
agent sees: time and importance. An item's claims are those of its first support.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.policies.published.generative_agents import normalised
from memenvs.policies.published.graphs import edges, pagerank
from memenvs.policies.published.parameters import constant
from memenvs.reading.utility import DECIMALS, Reader, SimilarityReader
from memenvs.text.encoders import embeddings

K = 10  # items read, unless said otherwise


@dataclass(frozen=True)
class RankedReader(ABC):
    """Reads the ``k`` spanned items that score highest for the query; ties go by item order."""

    k: int = K

    @abstractmethod
    def score(self, material: Material, items: IntArray) -> FloatArray:
        """Score ``n`` spanned items for each query: ``(Q, n)``."""

    def __call__(self, material: Material, spanned: BoolArray) -> BoolArray:
        """Turn spanned items ``(..., N)`` into retrieved items ``(..., Q, N)``."""
        shape = (*spanned.shape[:-1], len(material.queries), spanned.shape[-1])
        retrieved = np.zeros(shape, dtype=bool)
        for place in np.ndindex(spanned.shape[:-1]):
            (items,) = np.nonzero(spanned[place])
            if len(items) <= self.k:
                retrieved[place][:, items] = True
                continue
            score = np.round(self.score(material, items), DECIMALS)
            best = np.argsort(-score, axis=1, kind="stable")[:, : self.k]
            np.put_along_axis(retrieved[place], items[best], True, axis=1)
        return retrieved


@dataclass(frozen=True)
class RecencyImportanceRelevance(RankedReader):
    """Generative Agents: the sum of the three, each min–max normalised over what is spanned.

    Recency is .995 for each hour since the item's latest claim, counted from the latest spanned; as
    coded, with the weights .5, 2, 3 and .99 to the rank from the oldest.
    """

    as_coded: bool = False

    def score(self, material: Material, items: IntArray) -> FloatArray:
        """Score ``n`` spanned items for each query: ``(Q, n)``."""
        system = "generative-agents:as-coded" if self.as_coded else "generative-agents"
        time = _times(material)[items]
        if self.as_coded:
            age = np.argsort(np.argsort(time, kind="stable"), kind="stable") + 1.0
        else:
            age = time.max() - time
        relevance = _similarity(material, items)
        terms: dict[str, FloatArray] = {
            "recency": np.asarray(constant(system, "decay") ** age[None], dtype=np.float64),
            "importance": _importance(material)[items][None],
            "relevance": relevance,
        }
        parts = [
            constant(system, term) * normalised(values, np.ones(values.shape, dtype=bool))
            for term, values in terms.items()
        ]
        return np.asarray(parts[0] + parts[1] + parts[2])


@dataclass(frozen=True)
class Paging(RankedReader):
    """MemGPT, Letta, MemOS: pages of ``k`` items in the order of their claims, one page a query.

    The page that holds the item most similar to the query is read.
    """

    def score(self, material: Material, items: IntArray) -> FloatArray:
        """Score ``n`` spanned items for each query: ``(Q, n)``."""
        order = np.argsort(_places(material)[items], kind="stable")
        page = np.empty(len(items), dtype=np.int64)
        page[order] = np.arange(len(items)) // self.k
        best = np.round(_similarity(material, items), DECIMALS).argmax(axis=1)
        return np.asarray(page[None] == page[best][:, None], dtype=np.float64)

    def __call__(self, material: Material, spanned: BoolArray) -> BoolArray:
        """Turn spanned items ``(..., N)`` into retrieved items ``(..., Q, N)``."""
        retrieved = super().__call__(material, spanned)
        for place in np.ndindex(spanned.shape[:-1]):  # the last page may hold fewer than k
            (items,) = np.nonzero(spanned[place])
            if len(items) > self.k:
                retrieved[place][:, items] &= self.score(material, items) > 0
        return retrieved


@dataclass(frozen=True)
class PersonalisedPageRank(RankedReader):
    """HippoRAG: PageRank (damping .5) over the items, restarting at those similar to the query."""

    def score(self, material: Material, items: IntArray) -> FloatArray:
        """Score ``n`` spanned items for each query: ``(Q, n)``."""
        vectors = embeddings(material)[1][items]
        restart = np.maximum(_similarity(material, items), 0.0)
        weight = edges(vectors @ vectors.T)
        return pagerank(weight, restart, np.ones(restart.shape, dtype=bool))


@dataclass(frozen=True)
class Links(RankedReader):
    """A-MEM: the most similar half of ``k``, and then the items linked to them.

    An item is linked to its five nearest by cosine; the links of a more similar item come first.
    """

    def score(self, material: Material, items: IntArray) -> FloatArray:
        """Score ``n`` spanned items for each query: ``(Q, n)``."""
        vectors = embeddings(material)[1][items]
        cosine = np.round(vectors @ vectors.T, DECIMALS)
        np.fill_diagonal(cosine, -np.inf)
        count = int(constant("a-mem", "links"))
        near = np.argsort(-cosine, axis=1, kind="stable")[:, :count]  # (n, 5)
        linked = np.zeros(cosine.shape, dtype=bool)
        np.put_along_axis(linked, near, True, axis=1)
        similarity = np.round(_similarity(material, items), DECIMALS)
        first = np.argsort(-similarity, axis=1, kind="stable")[:, : -(-self.k // 2)]
        score = similarity.copy()  # in [-1, 1]: for what is neither found nor linked
        for q, found in enumerate(first):
            for place, item in enumerate(found[::-1].tolist()):
                score[q, linked[item]] = 3.0 + place
            score[q, found] = 4.0 + len(found) + similarity[q, found]
        return score


READERS: Mapping[str, Callable[[int], Reader]] = MappingProxyType(
    {
        "generative-agents": RecencyImportanceRelevance,
        "generative-agents:as-coded": lambda k: RecencyImportanceRelevance(k, as_coded=True),
        "memgpt": Paging,
        "letta": Paging,
        "memos": Paging,
        "hipporag": PersonalisedPageRank,
        "a-mem": Links,
    }
)


def reader_for(name: str, k: int = K) -> Reader:
    """Give the reader of the memory NAME or NAME:VARIANT; by similarity, where it has no other.

    Raises ``ValueError`` where ``k`` is not positive.
    """
    if k < 1:
        raise ValueError(f"k is {k}; give 1 or more")
    made = READERS.get(name) or READERS.get(name.partition(":")[0], SimilarityReader)
    return made(k)


def _similarity(material: Material, items: IntArray) -> FloatArray:
    _, vectors, queries = embeddings(material)
    return np.asarray(queries @ vectors[items].T)


def _claims_of(material: Material) -> list[IntArray]:
    incidence = material.incidence
    return [incidence.supports[incidence.item_supports[n][0]] for n in range(len(material.items))]


def _places(material: Material) -> FloatArray:
    """Place of each item's last claim in the material: ``(N,)``."""
    return np.array([claims.max() for claims in _claims_of(material)], dtype=np.float64)


def _times(material: Material) -> FloatArray:
    """Hours of each item's latest claim: ``(N,)``; of its place, where no claim has a time."""
    times = [claim.time for claim in material.claims]
    if all(time is None for time in times):
        return _places(material) * constant("clock", "hours_per_decision")
    known = np.array([0.0 if time is None else time for time in times])
    latest = [known[claims].max() for claims in _claims_of(material)]
    return np.array(latest) * constant("clock", "hours_per_unit")


def _importance(material: Material) -> FloatArray:
    """Mean importance of each item's claims: ``(N,)``; their confidence, without such a cue."""
    cues = [dict(claim.cues).get("importance") for claim in material.claims]
    if all(cue is None for cue in cues):
        cues = [claim.confidence for claim in material.claims]
    known = np.array([0.5 if cue is None else cue for cue in cues])
    return np.array([known[claims].mean() for claims in _claims_of(material)])
