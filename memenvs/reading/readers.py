"""Readers besides the K most similar: by tokens, BM25, and an oracle; by name for users."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.material.material import Material
from memenvs.reading.utility import DECIMALS, Reader, SimilarityReader, item_ranks
from memenvs.text.encoders import words

ROUNDING = 1e-9  # of summed costs
OWN = "own"  # the memory's own search, where it has one


@dataclass(frozen=True)
class BM25Reader:
    """Reads the ``k`` spanned items of highest BM25 score for the query's words, if above 0.

    Okapi BM25 with the inverse document frequency log(1 + (N - n + 0.5) / (n + 0.5)) of Lucene; N,
    n and the mean length are those of the spanned items, as in an index over the memory. Ties go by
    item order. An item without a text has that of its first support. ``k=None``: all above 0.
    """

    k: int | None = None
    saturation: float = 1.5  # k1
    length: float = 0.75  # b

    def __post_init__(self) -> None:
        """Refuse a reader that reads nothing by mistake."""
        if self.k is not None and self.k < 1:
            raise ValueError(f"k is {self.k}; give 1 or more, or None for everything")

    def __call__(self, material: Material, spanned: BoolArray) -> BoolArray:
        """Turn spanned items ``(..., N)`` into retrieved items ``(..., Q, N)``."""
        retrieved = np.zeros((*spanned.shape[:-1], len(material.queries), spanned.shape[-1]), bool)
        for place in np.ndindex(spanned.shape[:-1]):
            (items,) = np.nonzero(spanned[place])
            if not len(items):
                continue
            scores = np.round(self.scores(material, items), DECIMALS)
            found = scores > 0
            if self.k is not None:
                order = np.argsort(-scores, axis=1, kind="stable")[:, : self.k]
                best = np.zeros_like(found)
                np.put_along_axis(best, order, True, axis=1)
                found &= best
            retrieved[place][:, items] = found
        return retrieved

    def scores(self, material: Material, items: np.ndarray) -> FloatArray:
        """Score the given items, which are the whole index, for each query: ``(Q, len(items))``."""
        counts, lengths, asked = _words(material)
        return self.weighed(counts[items], lengths[items], asked)

    def weighed(self, counts: FloatArray, lengths: FloatArray, asked: FloatArray) -> FloatArray:
        """Score the n texts of an index from counts of W words: ``(Q, n)``.

        ``counts`` ``(n, W)`` are in the texts, ``asked`` ``(Q, W)`` in queries; ``lengths``
        ``(n,)`` are those of the texts, in words of any kind.
        """
        containing = (counts > 0).sum(axis=0)
        rarity = np.log1p((len(lengths) - containing + 0.5) / (containing + 0.5))
        mean = lengths.mean() or 1.0
        damped = self.saturation * (1 - self.length + self.length * lengths / mean)
        weight = rarity * counts * (self.saturation + 1) / (counts + damped[:, None])
        return np.asarray(asked @ weight.T)


@dataclass(frozen=True)
class TokenReader:
    """Reads the most similar spanned items, best first, as long as they fit into ``tokens``.

    It stops at the first that does not fit. An item takes the summed ``cost`` of the claims of its
    cheapest support: tokens, where claims cost theirs. Ties go by item order.
    """

    tokens: int

    def __call__(self, material: Material, spanned: BoolArray) -> BoolArray:
        """Turn spanned items ``(..., N)`` into retrieved items ``(..., Q, N)``."""
        order = np.argsort(item_ranks(material), axis=1)  # (Q, N)
        there = spanned[..., order]
        spent = np.cumsum(there * item_costs(material)[order], axis=-1)
        retrieved = np.zeros(there.shape, dtype=bool)
        order = np.broadcast_to(order, there.shape)
        np.put_along_axis(retrieved, order, there & (spent <= self.tokens + ROUNDING), axis=-1)
        return retrieved


@dataclass(frozen=True)
class OracleReader:
    """Reads the spanned items that answer the query, and no others."""

    def __call__(self, material: Material, spanned: BoolArray) -> BoolArray:
        """Turn spanned items ``(..., N)`` into retrieved items ``(..., Q, N)``."""
        pairs = material.incidence.query_items
        answering = np.zeros((len(material.queries), spanned.shape[-1]), dtype=bool)
        answering[np.repeat(np.arange(len(pairs)), pairs.lengths), pairs.values] = True
        return np.asarray(spanned[..., None, :] & answering)


def named_reader(name: str) -> Reader:
    """Give the reader of a name: "similarity", "bm25", each with ":K", "tokens:N" or "oracle".

    Raises ``ValueError`` for another one.
    """
    kind, k = split_name(name)
    if kind == "similarity":
        return SimilarityReader(k)
    if kind == "bm25":
        return BM25Reader(k)
    if kind == "tokens" and k is not None:
        return TokenReader(k)
    if name == "oracle":
        return OracleReader()
    raise ValueError(
        f"no reader is named '{name}'; choose similarity, bm25 or {OWN}, each with :K for the K "
        "best, tokens:N for what fits into N tokens, or oracle"
    )


def split_name(name: str) -> tuple[str, int | None]:
    """Split "bm25:5" into its name and number; raises ``ValueError`` for no positive number."""
    kind, colon, number = name.partition(":")
    if not colon:
        return kind, None
    if not (number.isascii() and number.isdigit() and int(number) > 0):
        raise ValueError(f"'{number}' is no number of texts to read in the reader '{name}'")
    return kind, int(number)


def limits(name: str) -> bool:
    """Say of a reader's name whether it sets how much is read of any memory: not "own", nor all."""
    kind, number = split_name(name)
    return number is not None and kind != OWN


def item_costs(material: Material) -> FloatArray:
    """Give what each item takes of a reader's tokens: ``(N,)``."""
    key = "item costs"
    if key not in material.derived:
        cost = {claim.id: claim.cost for claim in material.claims}
        material.derived[key] = np.array(
            [min(sum(cost[c] for c in s) for s in item.supports) for item in material.items]
        )
    found: FloatArray = material.derived[key]
    return found


def item_texts(material: Material) -> list[str]:
    """Give each item's text, or those of its first support."""
    texts = {claim.id: claim.text for claim in material.claims}
    return [item.text or " ".join(texts[c] for c in item.supports[0]) for item in material.items]


def _words(material: Material) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count: words asked for in items ``(N, W)``, all words ``(N,)``, those in queries ``(Q, W)``.

    Raises ``MaterialError`` where the queries have no words.
    """
    key = "bm25 words"
    if key not in material.derived:
        queries = [Counter(words(query.text)) for query in material.queries]
        column = {word: n for n, word in enumerate(sorted({w for query in queries for w in query}))}
        if not column:
            raise MaterialError("have no words for BM25 to look for", record="queries")
        split = [words(text) for text in item_texts(material)]
        tables = [np.zeros((len(rows), len(column))) for rows in (split, queries)]
        for table, rows in zip(tables, (map(Counter, split), queries), strict=True):
            for row, counted in zip(table, rows, strict=True):
                for word, count in counted.items():
                    if word in column:
                        row[column[word]] = count
        lengths = np.array([len(row) for row in split], dtype=np.float64)
        material.derived[key] = (tables[0], lengths, tables[1])
    found: tuple[FloatArray, FloatArray, FloatArray] = material.derived[key]
    return found
