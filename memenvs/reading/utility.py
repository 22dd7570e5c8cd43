"""Settlement through a reader and a reasoner: read-limited coverage and end-to-end utility."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import BoolArray, FloatArray, IntArray, Ragged
from memenvs.material.material import Material, Memory, plain
from memenvs.material.uncertain import answer_probability
from memenvs.text.encoders import Encoder, HashingEncoder, embeddings

DECIMALS = 9  # similarities that differ by less are ties: matrix products round differently
CHUNK = 1 << 26  # flags of (memory, query, item) held at once


class Reader(Protocol):
    """Picks the items that are read for each query: K_q = π_read(q, M)."""

    def __call__(self, material: Material, spanned: BoolArray) -> BoolArray:
        """Turn spanned items ``(..., N)`` into retrieved items ``(..., Q, N)``, a part of them."""
        ...


class Reasoner(Protocol):
    """Names the item from which each query is answered."""

    def __call__(self, material: Material, retrieved: BoolArray) -> IntArray:
        """Turn retrieved items ``(..., Q, N)`` into an item's index ``(..., Q)``, -1 for none."""
        ...


@dataclass(frozen=True)
class SimilarityReader:
    """Reads the ``k`` spanned items most similar to the query; ties go by item order.

    ``k=None`` reads everything, which makes read-limited coverage equal coverage. The vectors are
    those of ``memenvs.text.encoders.embeddings(material, encoder)``.
    """

    k: int | None = None
    encoder: Encoder | None = None

    def __post_init__(self) -> None:
        """Refuse a reader that reads nothing by mistake."""
        if self.k is not None and self.k < 0:
            raise ValueError(f"k is {self.k}; give 0 or more, or None for everything")

    def __call__(self, material: Material, spanned: BoolArray) -> BoolArray:
        """Turn spanned items ``(..., N)`` into retrieved items ``(..., Q, N)``."""
        shape = (*spanned.shape[:-1], len(material.queries), spanned.shape[-1])
        if self.k is None or self.k >= spanned.shape[-1]:
            return np.broadcast_to(spanned[..., None, :], shape)
        retrieved = np.zeros(shape, dtype=bool)
        if self.k == 0:
            return retrieved
        ranks = item_ranks(material, self.encoder)
        for place in np.ndindex(spanned.shape[:-1]):
            (items,) = np.nonzero(spanned[place])  # few, where a memory is small
            if len(items) <= self.k:
                retrieved[place][:, items] = True
            else:
                among = ranks[:, items]
                last = np.partition(among, self.k - 1, axis=1)[:, self.k - 1 : self.k]
                retrieved[place][:, items] = among <= last
        return retrieved


@dataclass(frozen=True)
class BestMatch:
    """Names the retrieved item most similar to the query among those that answer it.

    Ties go by item order. The vectors are those of ``memenvs.text.encoders.embeddings``.
    """

    encoder: Encoder | None = None

    def __call__(self, material: Material, retrieved: BoolArray) -> IntArray:
        """Turn retrieved items ``(..., Q, N)`` into the named ones ``(..., Q)``, -1 for none."""
        ranked = ranked_answers(material, self.encoder)
        named = np.full(retrieved.shape[:-1], -1, dtype=np.int64)
        filled = ranked.lengths > 0  # reduceat misreads an empty segment
        if filled.any():
            none = len(ranked.values)
            found = retrieved[..., _asked(ranked), ranked.values]
            place = np.where(found, np.arange(none), none)
            first = np.minimum.reduceat(place, ranked.offsets[:-1][filled], axis=-1)
            named[..., filled] = np.append(ranked.values, -1)[first]
        return named


READ_ALL = SimilarityReader()
BEST_MATCH = BestMatch()


def read_limited_coverage(
    material: Material, memory: Memory, reader: Reader = READ_ALL
) -> float | FloatArray:
    """Query mass that the retrieved items answer, in [0, 1]: float or ``(...)``.

    E_q 1[q ∈ ∪ Q(n), n ∈ K_q]; never above coverage, and equal to it where all is read.
    """
    incidence = material.incidence
    pairs = incidence.query_items
    asked = _asked(pairs)
    query_pairs = Ragged(np.arange(len(asked)), pairs.offsets)

    def values(mask: BoolArray) -> FloatArray:
        spanned = incidence.span(mask)
        found = reader(material, spanned)[..., asked, pairs.values] & spanned[..., pairs.values]
        return np.asarray(query_pairs.any(found) @ incidence.probability)

    return plain(_in_chunks(material, material.mask(memory), values))


def end_to_end(
    material: Material, memory: Memory, reader: Reader = READ_ALL, reasoner: Reasoner = BEST_MATCH
) -> float | FloatArray:
    """Query mass whose named item lies in the good span, in [0, 1]: float or ``(...)``.

    Where truth is a confidence, a query counts with the probability that some satisfied support of
    the named item is wholly true. u^e2e ≤ u^prec: a false item that outranks a true one costs a
    query that precision would have granted.
    """

    def values(mask: BoolArray) -> FloatArray:
        right = answered_right(material, mask, reader, reasoner)
        return np.asarray(right @ material.incidence.probability)

    return plain(_in_chunks(material, material.mask(memory), values))


def answered_right(
    material: Material, mask: BoolArray, reader: Reader, reasoner: Reasoner
) -> FloatArray:
    """Give the chance of each query that its named item is known in truth: ``(..., Q)``."""
    return _right(material, mask, _named(material, mask, reader, reasoner))


def named_items(
    material: Material, memory: Memory, reader: Reader = READ_ALL, reasoner: Reasoner = BEST_MATCH
) -> IntArray:
    """Index of the item from which each query is answered, ``(..., Q)``, -1 for none.

    An item that was not retrieved, or that does not answer the query, counts as none.
    """
    mask = material.mask(memory)
    return _in_chunks(material, mask, lambda part: _named(material, part, reader, reasoner))


def _named(material: Material, mask: BoolArray, reader: Reader, reasoner: Reasoner) -> IntArray:
    spanned = material.incidence.span(mask)
    retrieved = reader(material, spanned)
    named = reasoner(material, retrieved)
    if named.shape != retrieved.shape[:-1]:
        raise ValueError(
            f"the reasoner named items in an array {named.shape}, not {retrieved.shape[:-1]}"
        )
    n_items = len(material.items)
    known = (named >= 0) & (named < n_items)
    if not known.any():
        return np.full(named.shape, -1, dtype=np.int64)
    item = np.where(known, named, 0)
    read = np.take_along_axis(retrieved, item[..., None], axis=-1)[..., 0]
    read &= np.take_along_axis(spanned, item, axis=-1)
    pairs = material.incidence.query_items
    keys = _asked(pairs) * n_items + pairs.values  # ascending
    answers = np.isin(np.arange(len(material.queries)) * n_items + item, keys)
    return np.where(known & read & answers, item, -1)


def _right(material: Material, mask: BoolArray, named: IntArray) -> FloatArray:
    """Probability that the named item is known in truth: ``(..., Q)``."""
    incidence = material.incidence
    if not (named >= 0).any():
        return np.zeros(named.shape)
    item = np.maximum(named, 0)
    if incidence.certain:
        good = np.take_along_axis(incidence.good_span(mask), item, axis=-1)
        return np.where(named >= 0, good, 0.0)
    flat = mask.reshape(-1, mask.shape[-1])
    items, column = np.unique(item.reshape(len(flat), -1), return_inverse=True)
    each, _ = answer_probability(incidence, flat, [[n] for n in items])
    right = np.take_along_axis(each, column.reshape(len(flat), -1), axis=1).reshape(named.shape)
    # Both are sampled where many supports share claims: keep the inequality there, too.
    rows = [incidence.query_items[q] for q in range(named.shape[-1])]
    any_item, _ = answer_probability(incidence, flat, rows)
    return np.where(named >= 0, np.minimum(right, any_item.reshape(named.shape)), 0.0)


def _in_chunks(
    material: Material, mask: BoolArray, compute: Callable[[BoolArray], NDArray[Any]]
) -> NDArray[Any]:
    """Apply ``compute`` to parts of a batch that fit into working memory."""
    flat = mask.reshape(-1, mask.shape[-1])
    size = max(1, CHUNK // max(1, len(material.queries) * len(material.items)))
    if len(flat) <= size:
        return compute(mask)
    parts = [compute(flat[start : start + size]) for start in range(0, len(flat), size)]
    joined = np.concatenate(parts)
    return joined.reshape(*mask.shape[:-1], *joined.shape[1:])


def _asked(rows: Ragged) -> IntArray:
    """Row of each value."""
    return np.repeat(np.arange(len(rows)), rows.lengths)


def item_ranks(material: Material, encoder: Encoder | None = None) -> IntArray:
    """Place of each item in a query's order of similarity, best first: ``(Q, N)``."""
    key = ("item ranks", encoder or HashingEncoder())
    if key not in material.derived:
        _, items, queries = embeddings(material, encoder)
        order = np.argsort(-np.round(queries @ items.T, DECIMALS), axis=1, kind="stable")
        ranks = np.empty(order.shape, dtype=np.int32)
        np.put_along_axis(ranks, order, np.arange(order.shape[1], dtype=np.int32)[None], axis=1)
        material.derived[key] = ranks
    found: IntArray = material.derived[key]
    return found


def ranked_answers(material: Material, encoder: Encoder | None = None) -> Ragged:
    """Give Q rows: the items that answer each query, most similar first (ties: in item order)."""
    key = ("ranked answers", encoder or HashingEncoder())
    if key not in material.derived:
        _, items, queries = embeddings(material, encoder)
        pairs = material.incidence.query_items
        asked = _asked(pairs)
        similarity = np.einsum("pd,pd->p", queries[asked], items[pairs.values])
        order = np.lexsort((pairs.values, -np.round(similarity, DECIMALS), asked))
        material.derived[key] = Ragged(pairs.values[order], pairs.offsets)
    found: Ragged = material.derived[key]
    return found
