"""A material made ready for episodes: its features, and the ways to answer each query."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from memenvs.counter import MATERIAL, uniforms
from memenvs.encoders import embeddings
from memenvs.envs.memorization.features import Features
from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.errors import MaterialError
from memenvs.incidence import FloatArray
from memenvs.material import Material
from memenvs.materials.library import Source, draw, source_of, takes_generator

KEPT = 256  # materials that stay prepared


@dataclass(frozen=True)
class Route:
    """One way to answer a query: an item and one of its supports."""

    item: int
    support: frozenset[int]
    conflicts: frozenset[int]


@dataclass(frozen=True)
class Prepared:
    """One material with what its episodes share."""

    material: Material
    features: Features
    items: FloatArray  # (N, d) unit rows
    _routes: dict[int, list[Route]] = field(default_factory=dict)

    @cached_property
    def cumulative(self) -> FloatArray:
        """Cumulative p_D: ``(Q,)``."""
        probability = self.material.incidence.probability
        cumulative = np.cumsum(probability)
        cumulative[int(np.flatnonzero(probability)[-1]) :] = 1.0  # whatever the rounding
        return cumulative

    def routes(self, query: int) -> Sequence[Route]:
        """Ways to answer a query, the item most similar to it first (ties: in item order)."""
        if query not in self._routes:
            self._routes[query] = self._find_routes(query)
        return self._routes[query]

    def _find_routes(self, query: int) -> list[Route]:
        incidence = self.material.incidence
        items = incidence.query_items[query]
        similarity = self.items[items] @ self.features.queries[query].astype(np.float64)
        return [
            Route(
                item,
                frozenset(incidence.supports[support].tolist()),
                frozenset(incidence.conflicts[item].tolist()),
            )
            for item in items[np.argsort(-similarity, kind="stable")].tolist()
            for support in incidence.item_supports[item].tolist()
        ]


class Materials:
    """Where an environment's episodes get their material from.

    ``source`` is a material, several, a registered name, a file, or a callable; a callable that
    takes an argument is given a ``numpy.random.Generator`` and draws a fresh material each time.
    ``max_claims`` and ``max_queries`` raise the maxima beyond what is known beforehand: all of a
    file's materials, or one draw of a callable.
    """

    def __init__(
        self,
        source: Source | Sequence[Material],
        *,
        max_claims: int | None = None,
        max_queries: int | None = None,
    ) -> None:
        self._sampler: Callable[..., Material] | None = None
        if isinstance(source, Sequence) and not isinstance(source, str):
            known = list(source)
        else:
            found = source_of(source)
            if callable(found) and takes_generator(found):
                self._sampler = found
            known = draw(found, np.random.default_rng(0))
        self.fixed: tuple[Material, ...] = () if self._sampler else tuple(known)
        vectors = embeddings(known[0])[0]
        limits = Limits.of(known, embedding=vectors.shape[1])
        self.limits = Limits(
            claims=max(limits.claims, max_claims or 0),
            queries=max(limits.queries, max_queries or 0),
            embedding=limits.embedding,
            cues=limits.cues,
            texts=limits.texts,
        )
        self._prepared: OrderedDict[int, Prepared] = OrderedDict()

    def draw(self, key: np.uint64) -> Material:
        """Draw the material of an episode from its key alone."""
        if self._sampler is not None:
            generator = np.random.Generator(np.random.Philox(key=int(key)))
            return draw(self._sampler, generator)[0]
        place = int(uniforms(key, MATERIAL, 0) * len(self.fixed))
        return self.fixed[place]

    def prepare(self, material: Material, layout: Layout) -> Prepared:
        """Make a material ready, or find it ready; raises ``MaterialError`` where it is too big."""
        known = self._prepared.get(id(material))
        if known is not None:
            self._prepared.move_to_end(id(material))
            return known
        claims, items, queries = embeddings(material)
        self._check(material, claims.shape[1])
        features = Features.of(material, layout, claims, queries)
        prepared = Prepared(material, features, items)
        self._prepared[id(material)] = prepared  # holds the material, so the id stays its own
        if len(self._prepared) > KEPT:
            self._prepared.popitem(last=False)
        return prepared

    def _check(self, material: Material, width: int) -> None:
        limits = self.limits
        sizes: dict[str, tuple[Any, int]] = {
            "max_claims": (len(material.claims), limits.claims),
            "max_queries": (len(material.queries), limits.queries),
        }
        for name, (size, limit) in sizes.items():
            if size > limit:
                raise MaterialError(
                    f"has {size} {name[4:]} where the environment allows {limit}; "
                    f"make it with {name}={size} or more",
                    file=material.name,
                )
        if width != limits.embedding:
            raise MaterialError(
                f"has embeddings of {width} numbers where the environment has {limits.embedding}; "
                "use one encoder for all",
                file=material.name,
            )
        cues = {name for claim in material.claims for name in dict(claim.cues)}
        unknown = cues - set(limits.cues)
        if unknown:
            raise MaterialError(
                f"has the cue '{min(unknown)}', which the environment's first materials lack; "
                "give every material the same cues",
                file=material.name,
            )
