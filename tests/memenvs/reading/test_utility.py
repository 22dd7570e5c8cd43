"""Readers and reasoners: read-limited coverage and end-to-end utility."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query
from memenvs.materials.odyssey import odyssey, odyssey_composite, odyssey_noisy
from memenvs.reading import utility as reading_module
from memenvs.reading.utility import (
    READ_ALL,
    BestMatch,
    SimilarityReader,
    end_to_end,
    named_items,
    read_limited_coverage,
)
from memenvs.text.encoders import HashingEncoder, embeddings
from strategies import SHARES, SURE, all_memories, materials


def line(*, truths=(True, True, True), angles=(10, 20, 30), answers=(("q",), ("q",), ("r",))):
    """Three claims of one item each, at angles to the query ``q`` at 0 degrees; ``r`` is at 90."""

    def at(degrees):
        return (float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees))))

    return Material(
        "line",
        tuple(
            Claim(id=f"c{n}", truth=t, embedding=at(a))
            for n, (t, a) in enumerate(zip(truths, angles, strict=True))
        ),
        tuple(Item(id=f"n{n}", supports=((f"c{n}",),), answers=a) for n, a in enumerate(answers)),
        (Query(id="q", weight=3, embedding=at(0)), Query(id="r", weight=1, embedding=at(90))),
    )


# --- by hand --------------------------------------------------------------------------------------


def test_the_reader_takes_the_most_similar_items():
    retrieved = SimilarityReader(1)(line(), np.array([True, True, True]))
    assert retrieved.tolist() == [[True, False, False], [False, False, True]]
    retrieved = SimilarityReader(1)(line(), np.array([False, True, True]))
    assert retrieved.tolist() == [[False, True, False], [False, False, True]]
    assert SimilarityReader(2)(line(), np.array([True, False, False])).sum() == 2


def test_read_limited_coverage_by_hand():
    material = line(answers=(("r",), ("q",), ("r",)))  # the closest item does not answer q
    everything = ["c0", "c1", "c2"]
    assert material.read_limited_coverage(everything, SimilarityReader(0)) == 0.0
    assert material.read_limited_coverage(everything, SimilarityReader(1)) == 0.25
    assert material.read_limited_coverage(everything, SimilarityReader(2)) == 1.0
    assert material.read_limited_coverage(everything) == 1.0


def test_ties_go_by_item_order():
    material = line(angles=(10, 10, 10), answers=(("q",), ("q",), ("q",)))
    spanned = np.ones(3, dtype=bool)
    assert SimilarityReader(2)(material, spanned).tolist() == [[True, True, False]] * 2
    assert named_items(material, material.claim_ids).tolist() == [0, -1]


def test_a_false_item_that_outranks_a_true_one_costs_the_query():
    material = line(truths=(False, True, True))
    assert material.precision(["c0", "c1", "c2"]) == 1.0
    assert material.end_to_end(["c0", "c1", "c2"]) == 0.25
    assert material.end_to_end(["c1", "c2"]) == 1.0
    assert named_items(material, ["c0", "c1"]).tolist() == [0, -1]


def test_uncertain_truth_counts_with_its_probability():
    material = line(truths=(0.3, 0.8, 1.0))
    assert material.end_to_end(["c0", "c1", "c2"]) == pytest.approx(0.75 * 0.3 + 0.25)
    expected = 0.75 * (1 - 0.7 * 0.2) + 0.25
    assert material.precision(["c0", "c1", "c2"]) == pytest.approx(expected)


def test_odyssey_end_to_end_under_noise():
    material = odyssey_noisy()
    everything = material.claim_ids
    assert odyssey().end_to_end(odyssey().claim_ids) == pytest.approx(1.0)
    named = named_items(material, everything)
    lost = [
        query.weight
        for query, n in zip(material.queries, named, strict=True)
        if material.items[n].supports == (("f1",),)
    ]
    assert material.end_to_end(everything) == pytest.approx(1.0 - sum(lost))


def test_another_reasoner_may_be_wrong_in_every_way():
    material = line()

    def naming(*items):
        return lambda _material, retrieved: np.broadcast_to(items, retrieved.shape[:-1])

    for wrong in (-1, -7, 3, 2):  # none, no index, no index, an item that does not answer q
        assert material.end_to_end(["c0", "c1", "c2"], reasoner=naming(wrong, 2)) == 0.25
    assert material.end_to_end(["c0"], reasoner=naming(1, 2)) == 0.0  # neither is retrieved
    assert material.end_to_end(["c0", "c1", "c2"], SimilarityReader(1), naming(1, 2)) == 0.25
    with pytest.raises(ValueError, match="named items in an array"):
        material.end_to_end(["c0"], reasoner=lambda _material, _retrieved: np.array(0))


def test_a_reader_cannot_retrieve_what_is_not_spanned():
    material = line()

    def everything(material, spanned):
        return np.ones((*spanned.shape[:-1], len(material.queries), spanned.shape[-1]), dtype=bool)

    assert material.read_limited_coverage(["c1"], everything) == 0.75
    assert material.end_to_end([], everything) == 0.0


def test_an_impossible_reader_is_refused():
    with pytest.raises(ValueError, match="k is -1"):
        SimilarityReader(-1)


def test_another_encoder_changes_what_is_read():
    class Constant:
        dimension = 2

        def encode(self, texts):
            return np.ones((len(texts), 2)) / 2**0.5

    material, spanned = odyssey(), np.ones(8, dtype=bool)
    constant = SimilarityReader(1, Constant())(material, spanned)
    assert constant[:, 0].all()
    assert not (SimilarityReader(1)(material, spanned) == constant).all()


# --- properties -----------------------------------------------------------------------------------


@given(materials(truth=SURE | SHARES, plain=True, max_claims=5), st.data())
def test_the_chain_of_inequalities(material, data):
    memories = all_memories(material)
    coverage, precision = material.coverage(memories), material.precision(memories)
    assert read_limited_coverage(material, memories) == pytest.approx(coverage, abs=1e-12)
    limited = [
        read_limited_coverage(material, memories, SimilarityReader(k))
        for k in range(len(material.items) + 2)
    ]
    for less, more in itertools.pairwise(limited):
        assert (less <= more + 1e-12).all()
    assert limited[-1] == pytest.approx(coverage, abs=1e-12)
    reader = SimilarityReader(data.draw(st.none() | st.integers(0, 4)))
    value = end_to_end(material, memories, reader)
    assert (value <= precision + 1e-9).all()
    assert (value <= read_limited_coverage(material, memories, reader) + 1e-12).all()
    assert (precision <= coverage + 1e-12).all()


@given(materials(), st.integers(0, 5), st.data())
def test_reading_equals_its_definition(material, k, data):
    kept = data.draw(st.sets(st.sampled_from(material.claim_ids)))
    spanned = material.span(kept)
    _, items, queries = embeddings(material)
    similarity = np.round(queries @ items.T, 9)
    retrieved = SimilarityReader(k)(material, spanned)
    named = named_items(material, kept, SimilarityReader(k))
    for q, query in enumerate(material.queries):
        order = sorted(np.flatnonzero(spanned), key=lambda n: (-similarity[q, n], n))
        assert set(np.flatnonzero(retrieved[q])) == set(order[:k])
        answering = [n for n in order[:k] if query.id in material.items[n].answers]
        assert named[q] == (answering[0] if answering else -1)


@given(materials(plain=True, max_claims=4))
def test_chunks_make_no_difference(material):
    memories = all_memories(material).reshape(2, -1, len(material.claims))
    chunk = reading_module.CHUNK
    whole = [end_to_end(material, memories, SimilarityReader(k)) for k in (None, 1)]
    named = named_items(material, memories)
    try:
        reading_module.CHUNK = 1
        parts = [end_to_end(material, memories, SimilarityReader(k)) for k in (None, 1)]
        assert (named_items(material, memories) == named).all()
    finally:
        reading_module.CHUNK = chunk
    assert np.allclose(whole, parts, rtol=0, atol=1e-12)


def test_what_is_computed_once_is_kept_with_the_material():
    material = odyssey_composite()
    material.end_to_end(["e1"], SimilarityReader(1))
    kept = dict(material.derived)
    material.end_to_end(["e2"], SimilarityReader(2, HashingEncoder()), BestMatch(HashingEncoder()))
    assert material.derived.keys() == kept.keys()
    assert SimilarityReader(None) == READ_ALL


def test_sampled_probabilities_keep_the_inequality():
    claims = tuple(Claim(id=f"c{n}", truth=0.5) for n in range(14))
    ring = tuple((f"c{n}", f"c{(n + 1) % 14}") for n in range(14))
    items = (
        Item(id="n", supports=ring, answers=("q",)),
        Item(id="m", supports=(("c0", "c7"),), answers=("q",)),
    )
    material = Material("ring", claims, items, (Query(id="q"),))
    assert material.end_to_end(material.claim_ids) <= material.precision(material.claim_ids)


@pytest.mark.parametrize(("apart", "named"), [(1e-4, 1), (1e-12, 0)])
def test_items_are_told_apart_by_all_but_rounding(apart, named):
    def at(x):
        return (x, float(np.sqrt(1 - x * x)))

    material = Material(
        "close",
        tuple(Claim(id=f"c{n}", embedding=at(x)) for n, x in enumerate((0.5, 0.5 + apart))),
        tuple(Item(id=f"n{n}", supports=((f"c{n}",),), answers=("q",)) for n in range(2)),
        (Query(id="q", embedding=at(1.0)),),
    )
    assert named_items(material, ["c0", "c1"]).tolist() == [named]
