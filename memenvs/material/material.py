"""The material: what there is to remember, what it entails, and what will be asked."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.incidence import BoolArray, FloatArray, Incidence, Ragged, positions
from memenvs.material.records import Claim, Item, Query, Record
from memenvs.material.uncertain import answer_probability
from memenvs.short_repr import SHORT

if TYPE_CHECKING:
    from memenvs.reading.utility import Reader, Reasoner

Memory: TypeAlias = Iterable[str] | BoolArray


@dataclass(frozen=True)
class Evaluation:
    """Utilities of memories in expectation over p_D; floats for one memory, arrays for a batch."""

    coverage: FloatArray  # (...) mass answered by the span
    precision: FloatArray  # (...) mass answered by the good span
    water_inflation: FloatArray  # (...) coverage - precision (eq. 12)
    size: FloatArray  # (...) stored claims
    cost: FloatArray  # (...) their summed cost
    span: FloatArray  # (...) share of the items that can be true which true claims of it yield
    exact: BoolArray  # (...) False where precision was sampled


@dataclass(frozen=True)
class Material:
    """Claims, items and queries of one long source of information; immutable.

    A memory is an iterable of claim ids, or a boolean array ``(..., n_claims)`` for a batch.
    Raises ``MaterialError`` where the records do not fit together.
    """

    name: str
    claims: tuple[Claim, ...]
    items: tuple[Item, ...]
    queries: tuple[Query, ...]

    def __repr__(self) -> str:
        """Say what it is called and how much it holds."""
        sizes = ", ".join(f"{len(getattr(self, n))} {n}" for n in ("claims", "items", "queries"))
        return f"Material({SHORT.repr(self.name)}, {sizes})"

    def __post_init__(self) -> None:
        """Check that ids are unique and known, that there is mass, that embeddings agree."""
        _check_name(self.name)
        for kind in ("claims", "items", "queries"):
            object.__setattr__(self, kind, tuple(getattr(self, kind)))
            _check_distinct(kind, getattr(self, kind))
        for kind in ("claims", "queries"):
            if not getattr(self, kind):
                raise MaterialError("is empty; a material needs at least one", field=kind)
        if not sum(query.weight for query in self.queries) > 0:
            raise MaterialError(
                "are all zero; give some query a positive one", record="queries", field="weight"
            )
        _check_references(self)
        _check_embeddings(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave derived arrays out of pickles."""
        return {field: self.__dict__[field] for field in self.__dataclass_fields__}

    @cached_property
    def claim_ids(self) -> tuple[str, ...]:
        """Ids of the claims, in order: the columns of a memory array."""
        return tuple(claim.id for claim in self.claims)

    @cached_property
    def derived(self) -> dict[Hashable, Any]:
        """What other modules computed from this material, by keys of theirs; never pickled."""
        return {}

    @cached_property
    def incidence(self) -> Incidence:
        """The relations of claims, items and queries by index."""
        claim_at = positions(self.claim_ids)
        query_at = positions([query.id for query in self.queries])
        supports = [support for item in self.items for support in item.supports]
        counts = np.cumsum([0, *(len(item.supports) for item in self.items)])
        weight = np.array([query.weight for query in self.queries])
        return Incidence(
            truth=np.array([claim.truth for claim in self.claims], dtype=np.float64),
            cost=np.array([claim.cost for claim in self.claims]),
            probability=weight / weight.max() / (weight / weight.max()).sum(),
            supports=Ragged.from_rows([claim_at[c] for c in support] for support in supports),
            item_supports=Ragged(np.arange(len(supports)), counts),
            conflicts=Ragged.from_rows([claim_at[c] for c in i.conflicts] for i in self.items),
            answers=Ragged.from_rows([query_at[q] for q in i.answers] for i in self.items),
        )

    @property
    def is_decomposable(self) -> bool:
        """Whether every support is a single claim, so that coverage is a maximum-coverage sum."""
        return self.incidence.decomposable

    @property
    def is_monotone(self) -> bool:
        """Whether more memory is never worse: no item has conflicts."""
        return self.incidence.monotone

    @property
    def has_embeddings(self) -> bool:
        """Whether claims, items and queries carry vectors."""
        return self.claims[0].embedding is not None

    def mask(self, memory: Memory) -> BoolArray:
        """Turn a memory into a boolean array ``(..., n_claims)``.

        Raises ``MaterialError`` for an unknown id and for an array of another type or width.
        """
        if isinstance(memory, np.ndarray) and memory.dtype.kind not in "OUS":
            if memory.dtype != np.bool_ or memory.shape[-1:] != (len(self.claims),):
                raise MaterialError(
                    f"a memory array must be boolean with {len(self.claims)} claims in its last "
                    f"axis, not {memory.dtype} {memory.shape}",
                    file=self.name,
                )
            return memory
        mask = np.zeros(len(self.claims), dtype=bool)
        for identifier in [memory] if isinstance(memory, str) else memory:
            if identifier not in self._claim_at:
                raise MaterialError(f"has no claim '{identifier}'", file=self.name)
            mask[self._claim_at[identifier]] = True
        return mask

    @cached_property
    def _claim_at(self) -> dict[str, int]:
        return positions(self.claim_ids)

    def span(self, memory: Memory) -> BoolArray:
        """Items that the memory generates, R = Φ(M): ``(..., n_items)`` (eq. 1)."""
        return self.incidence.span(self.mask(memory))

    def good_span(self, memory: Memory) -> BoolArray:
        """Items that the true claims of the memory generate: ``(..., n_items)`` (eq. 10)."""
        return self.incidence.good_span(self.mask(memory))

    def coverage(self, memory: Memory) -> float | FloatArray:
        """Query mass that the span answers, in [0, 1]: float or ``(...)`` (eq. 5)."""
        return plain(self._coverage(self.mask(memory)))

    def precision(self, memory: Memory) -> float | FloatArray:
        """Query mass that the good span answers, in [0, 1]: float or ``(...)`` (eq. 11).

        Where truth is a confidence, the probability that some support is wholly true;
        ``evaluate`` says whether that was computed exactly.
        """
        return plain(self._precision(self.mask(memory))[0])

    def water_inflation(self, memory: Memory) -> float | FloatArray:
        """Coverage that false claims bought: coverage - precision, float or ``(...)`` (eq. 12)."""
        mask = self.mask(memory)
        return plain(self._coverage(mask) - self._precision(mask)[0])

    def read_limited_coverage(
        self, memory: Memory, reader: Reader | None = None
    ) -> float | FloatArray:
        """Query mass that what is read of the memory answers; see ``memenvs.reading.utility``."""
        from memenvs.reading import utility as reading

        return reading.read_limited_coverage(self, memory, reader or reading.READ_ALL)

    def end_to_end(
        self, memory: Memory, reader: Reader | None = None, reasoner: Reasoner | None = None
    ) -> float | FloatArray:
        """Query mass that a reasoner answers from what is read; see ``memenvs.reading.utility``."""
        from memenvs.reading import utility as reading

        return reading.end_to_end(
            self, memory, reader or reading.READ_ALL, reasoner or reading.BEST_MATCH
        )

    def evaluate(self, memory: Memory) -> Evaluation:
        """Every utility of a memory, or of each memory of a batch, at once."""
        mask, incidence = self.mask(memory), self.incidence
        span = incidence.span(mask)
        coverage = np.asarray(incidence.answered(span) @ incidence.probability)
        precision, exact = self._precision(mask)
        return Evaluation(
            coverage=coverage,
            precision=precision,
            water_inflation=coverage - precision,
            size=mask.sum(axis=-1).astype(np.float64),
            cost=mask @ incidence.cost,
            span=self._true_share(mask),
            exact=exact,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the material as JSON, or as one line of JSON Lines where the name ends so."""
        from memenvs.material.files import save_materials

        save_materials([self], path)

    def _true_share(self, mask: BoolArray) -> FloatArray:
        """Share of the items with a support of claims that may be true: 1 where there are none."""
        incidence = self.incidence
        possible = incidence.truth > 0.0
        every = incidence.item_supports.any(incidence.satisfied(possible))
        held = incidence.item_supports.any(incidence.satisfied(mask & possible))
        held &= ~incidence.conflicts.any(mask)
        if not every.any():
            return np.ones(mask.shape[:-1])
        return np.asarray(held.sum(axis=-1) / every.sum())

    def _coverage(self, mask: BoolArray) -> FloatArray:
        incidence = self.incidence
        return np.asarray(incidence.answered(incidence.span(mask)) @ incidence.probability)

    def _precision(self, mask: BoolArray) -> tuple[FloatArray, BoolArray]:
        incidence = self.incidence
        if incidence.certain:
            answered = incidence.answered(incidence.good_span(mask))
            return np.asarray(answered @ incidence.probability), np.ones(
                mask.shape[:-1], dtype=bool
            )
        rows = [incidence.query_items[q] for q in range(len(self.queries))]
        flat, exact = answer_probability(incidence, mask.reshape(-1, len(self.claims)), rows)
        shape: tuple[int, ...] = mask.shape[:-1]
        value = flat @ incidence.probability
        return value.reshape(shape), np.asarray(exact.all(axis=1)).reshape(shape)


def plain(values: FloatArray) -> float | FloatArray:
    """Give a float for one memory, the array for a batch."""
    return float(values) if values.ndim == 0 else values


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise MaterialError(f"{name!r:.40} is no name; give a non-empty string", field="name")


def _check_distinct(kind: str, records: Sequence[Record]) -> None:
    seen: set[str] = set()
    for record in records:
        if record.id in seen:
            raise MaterialError(f"'{record.id}' is used twice; rename one", record=kind, field="id")
        seen.add(record.id)


def _check_references(material: Material) -> None:
    claims = {claim.id for claim in material.claims}
    queries = {query.id for query in material.queries}
    for item in material.items:
        named = [(f"supports[{place}]", s, claims) for place, s in enumerate(item.supports)]
        named += [("answers", item.answers, queries), ("conflicts", item.conflicts, claims)]
        for field, ids, known in named:
            for identifier in ids:
                if identifier not in known:
                    kind = "query" if known is queries else "claim"
                    raise MaterialError(
                        f"names the unknown {kind} {identifier!r}; add it or correct the id",
                        record=f"item '{item.id}'",
                        field=field,
                    )


def _check_embeddings(material: Material) -> None:
    required: tuple[tuple[str, Sequence[Record]], ...] = (
        ("claim", material.claims),
        ("query", material.queries),
    )
    given = [(kind, r) for kind, records in required for r in records if r.embedding is not None]
    given += [("item", item) for item in material.items if item.embedding is not None]
    if not given:
        return
    length = len(given[0][1].embedding or ())
    for kind, record in given:
        if len(record.embedding or ()) != length:
            raise MaterialError(
                f"has {len(record.embedding or ())} numbers where others have {length}; "
                "use one encoder for all",
                record=f"{kind} '{record.id}'",
                field="embedding",
            )
    for kind, records in required:
        for record in records:
            if record.embedding is None:
                raise MaterialError(
                    "is missing where other records have one; give it to all claims and queries "
                    "or to none",
                    record=f"{kind} '{record.id}'",
                    field="embedding",
                )
