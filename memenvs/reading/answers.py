"""Which queries a memory answers through a reader, by the utility that is paid."""

from __future__ import annotations

from typing import Literal

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray, Ragged
from memenvs.material.material import Material
from memenvs.material.uncertain import answer_probability
from memenvs.reading.readers import named_reader
from memenvs.reading.utility import (
    BEST_MATCH,
    READ_ALL,
    Reader,
    SimilarityReader,
    answered_right,
    item_ranks,
)

Utility = Literal["coverage", "precision", "end-to-end"]

ALL = "all"  # the reader of everything


def reader_of(name: str) -> Reader:
    """Give the reader of "all", "similarity:K", "bm25:K" or "tokens:N"; raises ``ValueError``."""
    return READ_ALL if name == ALL else named_reader(name)


def answers(
    material: Material, memory: BoolArray, utility: Utility, reader: Reader = READ_ALL
) -> FloatArray:
    """Give each query's chance to be answered from memories ``(..., E)``: ``(..., Q)``.

    Of what is read some item has to answer (coverage), some item known in truth (precision), or the
    item that the best match names has to be known in truth (end-to-end).
    """
    incidence = material.incidence
    if utility == "end-to-end":
        return answered_right(material, memory, reader, BEST_MATCH)
    if utility == "precision" and not incidence.certain:
        return _likely(material, memory, reader)
    spanned = incidence.span(memory)
    known = spanned if utility == "coverage" else incidence.good_span(memory)
    if reader == READ_ALL:
        return incidence.answered(known).astype(np.float64)
    pairs = incidence.query_items
    asked = np.repeat(np.arange(len(pairs)), pairs.lengths)
    found = reader(material, spanned)[..., asked, pairs.values] & known[..., pairs.values]
    return Ragged(np.arange(len(asked)), pairs.offsets).any(found).astype(np.float64)


def read_items(
    material: Material, spanned: BoolArray, reader: Reader, queries: IntArray
) -> BoolArray:
    """Give what is read of spanned items ``(N,)`` for some queries: ``(len(queries), N)``."""
    if not isinstance(reader, SimilarityReader) or reader.encoder is not None:
        return reader(material, spanned)[queries]
    (items,) = np.nonzero(spanned)
    read = np.zeros((len(queries), len(spanned)), dtype=bool)
    among = item_ranks(material)[queries[:, None], items]
    if reader.k is not None and reader.k < len(items):
        last = np.partition(among, reader.k - 1, axis=1)[:, reader.k - 1 : reader.k]
        read[:, items] = among <= last
    else:
        read[:, items] = True
    return read


def read_claims(material: Material, memory: BoolArray, read: BoolArray) -> BoolArray:
    """Give the stored claims behind items ``(n, N)`` that were read: ``(n, E)``."""
    incidence = material.incidence
    owner = np.repeat(np.arange(len(material.items)), incidence.item_supports.lengths)
    used = incidence.satisfied(memory) & read[:, owner]  # (n, P)
    claim = np.zeros((len(read), len(memory)), dtype=bool)
    row, support = np.nonzero(used)
    for place, number in zip(row.tolist(), support.tolist(), strict=True):
        claim[place, incidence.supports[number]] = True
    return claim


def _likely(material: Material, memory: BoolArray, reader: Reader) -> FloatArray:
    """Give the chance that some support of an item that is read and answers is wholly true."""
    incidence = material.incidence
    flat = memory.reshape(-1, memory.shape[-1])
    listed = [incidence.query_items[q].tolist() for q in range(len(material.queries))]
    if reader == READ_ALL:
        found, _ = answer_probability(incidence, flat, listed)
        return found.reshape(*memory.shape[:-1], -1)
    rows = []
    for stored in flat:
        read = reader(material, incidence.span(stored))
        items = [[n for n in row if read[q, n]] for q, row in enumerate(listed)]
        rows.append(answer_probability(incidence, stored[None], items)[0][0])
    return np.array(rows).reshape(*memory.shape[:-1], len(listed))
