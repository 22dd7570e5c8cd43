"""A material made ready for episodes: its features, and the ways to answer each query."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from memenvs.counter import MATERIAL, uniforms
from memenvs.envs.memorization.features import Features
from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.errors import MaterialError
from memenvs.material.incidence import FloatArray, IntArray, Ragged
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import Split, Tier
from memenvs.materials.library import Source, draw, refuse_split, source_of, takes_generator
from memenvs.reading.utility import ranked_answers
from memenvs.text.encoders import embeddings

BYTES = 1 << 26  # of what all environments of a process keep of materials made and prepared
CLAIM, NUMBER = 1_000, 32  # bytes of a claim or an item, and of a number of its embedding


Kept = TypeVar("Kept")


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
    # Tells apart what is prepared in this process.
    number: int = field(default_factory=itertools.count().__next__)
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
        ranked, routes = self._of_items
        return [route for item in ranked[query].tolist() for route in routes[item]]

    @cached_property
    def _of_items(self) -> tuple[Ragged, list[list[Route]]]:
        """The items of each query in order, and the routes of each item."""
        incidence = self.material.incidence
        routes = [
            [
                Route(item, frozenset(incidence.supports[support].tolist()), withdrawn)
                for support in incidence.item_supports[item].tolist()
            ]
            for item in range(len(incidence.answers))
            for withdrawn in (frozenset(incidence.conflicts[item].tolist()),)
        ]
        return ranked_answers(self.material), routes


class Materials:
    """Where an environment's episodes get their material from.

    ``source`` is a material, several, a registered name, a file, or a callable; a callable that
    takes an argument is given a ``numpy.random.Generator`` and draws a fresh material each time.
    ``split`` is one of a tier's, by default ``"train"``; other sources have none. A generated claim
    costs 1, or its ``tokens``.
    ``max_claims`` and ``max_queries`` raise the maxima beyond what is known beforehand: all of a
    file's materials, the first of a tier's (they are of one size), or one draw of a callable.
    """

    def __init__(
        self,
        source: Source | Sequence[Material],
        *,
        split: str | None = None,
        tokens: bool = False,
        max_claims: int | None = None,
        max_queries: int | None = None,
    ) -> None:
        self._sampler: Callable[..., Material] | None = None
        self.fixed: Sequence[Material] = ()  # empty where a callable draws
        if isinstance(source, Sequence) and not isinstance(source, str):
            refuse_split("a list of materials", split)
            # A split makes its materials when asked for, all of one size.
            self.fixed = source if isinstance(source, Split) else tuple(source)
            known = (source[0],) if isinstance(source, Split) else tuple(source)
        elif isinstance(found := source_of(source, tokens=tokens), Tier):
            self.fixed = found.split(split or "train", tokens=tokens)
            known = (self.fixed[0],)
        else:
            refuse_split(source if isinstance(source, str) else "the material", split)
            known = tuple(draw(found, np.random.default_rng(0)))
            if callable(found) and takes_generator(found):
                self._sampler = found
            else:
                self.fixed = known
        vectors = embeddings(known[0])[0]
        limits = Limits.of(known, embedding=vectors.shape[1])
        self.limits = Limits(
            claims=max(limits.claims, max_claims or 0),
            queries=max(limits.queries, max_queries or 0),
            embedding=limits.embedding,
            cues=limits.cues,
            texts=limits.texts,
        )
        self._arrange: Callable[[Material], Material] = _as_it_is
        self._forget()

    def arranged(self, arrange: Callable[[Material], Material]) -> Materials:
        """Give the same materials, each after ``arrange`` put its claims into another order."""
        other = copy(self)
        other._arrange = arrange
        other._forget()
        return other

    def arrange(self, material: Material) -> Material:
        """Put the claims of a given material into the order of these."""
        return self._arrange(material)

    def _forget(self) -> None:
        self._made = _Recent[Material](_bytes_of)  # by number
        self._prepared = _Recent[Prepared](_bytes_prepared)

    def __getitem__(self, number: object) -> Material:
        """Give material ``number`` of those that are fixed beforehand."""
        place = self.place(number)
        return self._made.get(place, lambda: self._arrange(self.fixed[place]))

    def place(self, number: object) -> int:
        """Check a material's number; raises ``ValueError`` where none is fixed by it."""
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self.fixed):
            raise ValueError(
                f"material {number!r:.40} is none of the {len(self.fixed)} that are fixed "
                "beforehand: give a number from 0, or a Material"
            )
        return int(number)

    def draw(self, key: np.uint64) -> Material:
        """Draw the material of an episode from its key alone."""
        numbers = self.numbers(key)
        if numbers is not None:
            return self[int(numbers)]
        assert self._sampler is not None
        generator = np.random.Generator(np.random.Philox(key=int(key)))
        return self._arrange(draw(self._sampler, generator)[0])

    def numbers(self, keys: ArrayLike) -> IntArray | None:
        """Draw by keys ``(...)`` of episodes among what is fixed; None where a callable draws."""
        if not self.fixed:
            return None
        return (uniforms(keys, MATERIAL, 0) * len(self.fixed)).astype(np.int64)

    def prepare(self, material: Material, layout: Layout) -> Prepared:
        """Make a material ready, or find it ready; raises ``MaterialError`` where it is too big."""
        # What is kept holds its material, so that the id stays its own.
        return self._prepared.get(id(material), lambda: self._prepare(material, layout))

    def _prepare(self, material: Material, layout: Layout) -> Prepared:
        claims, _, queries = embeddings(material)
        self._check(material, claims.shape[1])
        return Prepared(material, Features.of(material, layout, claims, queries))

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


class _Recent(Generic[Kept]):
    """What was used last, by a number; never pickled.

    All of them in a process share ``BYTES``: of more, the oldest of what was not used for longest
    goes. What an environment kept goes with it.
    """

    _live: ClassVar[WeakSet[_Recent[Any]]] = WeakSet()
    _uses: ClassVar[itertools.count[int]] = itertools.count()

    def __init__(self, size: Callable[[Kept], int]) -> None:
        self._size = size
        self._kept: OrderedDict[int, tuple[Kept, int]] = OrderedDict()
        self._total, self._used = 0, 0
        self._live.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave what is kept behind: it can be made again, and ids mean nothing elsewhere."""
        return _Recent, (self._size,)

    def get(self, number: int, make: Callable[[], Kept]) -> Kept:
        """Find what is kept by that number, or make it and let the oldest go."""
        self._used = next(self._uses)
        if number in self._kept:
            self._kept.move_to_end(number)
            return self._kept[number][0]
        made = make()
        self._kept[number] = made, self._size(made)
        self._total += self._kept[number][1]
        while sum(each._total for each in self._live) > BYTES:
            full = [each for each in self._live if len(each._kept) > (each is self)]
            if not full:
                break
            oldest = min(full, key=lambda each: each._used)
            oldest._total -= oldest._kept.popitem(last=False)[1][1]
        return made


def _as_it_is(material: Material) -> Material:
    return material


def _bytes_of(material: Material) -> int:
    """Give about how many bytes a material takes."""
    numbers = sum(len(claim.embedding or ()) for claim in material.claims)
    letters = sum(len(claim.text) for claim in material.claims)
    return CLAIM * (len(material.claims) + len(material.items)) + NUMBER * numbers + letters


def _bytes_prepared(prepared: Prepared) -> int:
    features = prepared.features
    arrays = (features.claims, features.embedding, features.queries)
    return _bytes_of(prepared.material) + sum(array.nbytes for array in arrays)
