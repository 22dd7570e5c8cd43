"""Utilities of a material: by hand on the Odyssey, and against sets of Python on random ones."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, MaterialError, Query
from memenvs.materials.odyssey import odyssey, odyssey_composite, odyssey_noisy
from strategies import SHARES, SURE, all_memories, materials

# --- the same definitions, over sets --------------------------------------------------------------


def span(material, memory):
    return {
        item.id
        for item in material.items
        if any(set(support) <= memory for support in item.supports)
        and not set(item.conflicts) & memory
    }


def good_span(material, memory, true):
    withdrawn = {item.id for item in material.items if set(item.conflicts) & memory}
    return {
        item.id
        for item in material.items
        if any(set(support) <= memory & true for support in item.supports)
    } - withdrawn


def mass(material, item_ids):
    answered = {q for item in material.items if item.id in item_ids for q in item.answers}
    total = sum(query.weight for query in material.queries)
    return sum(query.weight for query in material.queries if query.id in answered) / total


def expected_precision(material, memory):
    """Enumerate which claims are true, each independently with its probability."""
    claims = material.claims
    value = 0.0
    for world in itertools.product([False, True], repeat=len(claims)):
        chance = np.prod(
            [c.truth if t else 1 - c.truth for c, t in zip(claims, world, strict=True)]
        )
        true = {claim.id for claim, t in zip(claims, world, strict=True) if t}
        value += chance * mass(material, good_span(material, memory, true))
    return value


def as_sets(material, memories):
    ids = np.array(material.claim_ids, dtype=object)
    return [set(ids[row]) for row in memories]


# --- the Odyssey, by hand -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "value"),
    [
        ([], 0.0),
        (["e3"], 0.35),
        (["e1", "e3"], 0.60),
        (["e1", "e3", "e4"], 0.80),
        (["e1", "e2", "e3", "e4"], 0.90),
        (["e1", "e2", "e3", "e6"], 0.75),  # the policy that neglects the homecoming
        (["e2", "e3"], 0.45),  # q8 counts once
        (["e1", "e2", "e3", "e4", "e5"], 0.95),
        (["e1", "e2", "e3", "e4", "e5", "e6"], 1.0),
    ],
)
def test_odyssey_coverage(memory, value):
    assert odyssey().coverage(memory) == pytest.approx(value, abs=1e-12)
    assert odyssey().precision(memory) == pytest.approx(value, abs=1e-12)
    assert odyssey().water_inflation(memory) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("memory", "apparent", "true"),
    [(["f1"], 0.45, 0.0), (["f1", "e3"], 0.80, 0.35), (["e1", "e3"], 0.60, 0.60)],
)
def test_odyssey_with_noise(memory, apparent, true):
    material = odyssey_noisy()
    assert material.coverage(memory) == pytest.approx(apparent, abs=1e-12)
    assert material.precision(memory) == pytest.approx(true, abs=1e-12)
    assert material.water_inflation(memory) == pytest.approx(apparent - true, abs=1e-12)
    evaluation = material.evaluate(memory)
    assert evaluation.size == len(memory)
    assert evaluation.exact


def test_odyssey_marginal_gain_grows_with_composites():
    material = odyssey_composite()
    gain = material.coverage(["e2", "e3"]) - material.coverage(["e2"])
    assert gain == pytest.approx(0.20, abs=1e-12)
    assert sum(query.weight for query in material.queries) == pytest.approx(1.0, abs=1e-12)
    assert not material.is_decomposable
    assert odyssey().is_decomposable
    alone = material.coverage(["e3", "e4"]) - material.coverage(["e4"])
    assert alone == pytest.approx(0.35, abs=1e-12)


# --- random materials -----------------------------------------------------------------------------


@given(materials(truth=SURE, plain=True))
def test_span_coverage_and_precision_are_those_of_the_definitions(material):
    memories = all_memories(material)
    item_ids = [item.id for item in material.items]
    true = {claim.id for claim in material.claims if claim.truth}
    spans, good = material.span(memories), material.good_span(memories)
    coverage, precision = material.coverage(memories), material.precision(memories)
    for row, memory in enumerate(as_sets(material, memories)):
        believed, known = span(material, memory), good_span(material, memory, true)
        assert [n in believed for n in item_ids] == spans[row].tolist()
        assert [n in known for n in item_ids] == good[row].tolist()
        assert coverage[row] == pytest.approx(mass(material, believed), abs=1e-12)
        assert precision[row] == pytest.approx(mass(material, known), abs=1e-12)


@given(materials(truth=SURE | SHARES, plain=True, max_claims=4))
def test_precision_with_uncertain_truth_is_an_expectation_over_worlds(material):
    memories = all_memories(material)
    evaluation = material.evaluate(memories)
    assert evaluation.exact.all()
    for row, memory in enumerate(as_sets(material, memories)):
        expected = expected_precision(material, memory)
        assert evaluation.precision[row] == pytest.approx(expected, abs=1e-9)
    assert (evaluation.water_inflation >= -1e-12).all()


@given(materials(plain=True, conflicts=False))
def test_more_memory_is_never_worse_without_conflicts(material):
    memories = all_memories(material)
    coverage, precision = material.coverage(memories), material.precision(memories)
    for claim in range(len(material.claims)):
        bit = 1 << claim
        more = np.arange(len(memories)) | bit
        assert (coverage[more] >= coverage - 1e-12).all()
        assert (precision[more] >= precision - 1e-12).all()


@given(materials(plain=True), st.data())
def test_a_batch_equals_its_members(material, data):
    n = len(material.claims)
    shape = data.draw(st.sampled_from([(0,), (1,), (3,), (2, 2)]))
    bits = data.draw(
        st.lists(st.booleans(), min_size=n * int(np.prod(shape)), max_size=n * int(np.prod(shape)))
    )
    memories = np.array(bits, dtype=bool).reshape(*shape, n)
    for name in ("coverage", "precision", "water_inflation", "end_to_end"):
        together = getattr(material, name)(memories)
        assert together.shape == shape
        for place in np.ndindex(shape):
            alone = getattr(material, name)(memories[place])
            assert isinstance(alone, float)
            assert together[place] == pytest.approx(alone, abs=1e-12)
            assert getattr(material, name)(
                [c for c, kept in zip(material.claim_ids, memories[place], strict=True) if kept]
            ) == pytest.approx(alone, abs=1e-12)


def test_many_shared_supports_are_sampled_and_said_to_be():
    claims = tuple(Claim(id=f"c{n}", truth=0.5) for n in range(14))
    ring = tuple((f"c{n}", f"c{(n + 1) % 14}") for n in range(14))
    item = Item(id="n", supports=ring, answers=("q",))
    material = Material("ring", claims, (item,), (Query(id="q"),))
    evaluation = material.evaluate(material.claim_ids)
    assert not evaluation.exact
    # No two neighbours on a ring of 14 are both true: Lucas number L(14) = 843 of 2^14 worlds.
    assert evaluation.precision == pytest.approx(1 - 843 / 2**14, abs=0.005)
    assert material.precision(material.claim_ids) == evaluation.precision


# --- a memory that is none, and what cannot be changed --------------------------------------------


def test_a_memory_must_fit():
    material = odyssey()
    with pytest.raises(MaterialError, match="no claim 'e9'"):
        material.coverage(["e9"])
    with pytest.raises(MaterialError, match="boolean"):
        material.coverage(np.ones(6))
    with pytest.raises(MaterialError, match="6 claims"):
        material.coverage(np.ones(5, dtype=bool))
    assert material.coverage("e3") == material.coverage(np.array(["e3"]))
    assert material.coverage(iter(["e3", "e3"])) == pytest.approx(0.35)


def test_records_and_materials_are_immutable():
    material = odyssey()
    with pytest.raises(FrozenInstanceError):
        material.name = "other"
    with pytest.raises(FrozenInstanceError):
        material.claims[0].text = "other"
    with pytest.raises(TypeError):
        material.claims[0] = material.claims[1]


@given(materials())
def test_pickles_are_equal_and_hold_no_derived_arrays(material):
    material.end_to_end(material.claim_ids)
    copied = pickle.loads(pickle.dumps(material))
    assert copied == material
    assert set(vars(copied)) == {"name", "claims", "items", "queries"}
    assert copied.coverage(copied.claim_ids) == material.coverage(material.claim_ids)


def test_errors_survive_pickling():
    error = MaterialError("is bad", record="claim 'c'", field="text", file="m.json")
    copied = pickle.loads(pickle.dumps(error))
    assert str(copied) == str(error) == "m.json: claim 'c', field 'text': is bad"


def test_tiny_and_huge_weights_keep_their_share():
    queries = (Query(id="a", weight=1e-38), Query(id="b", weight=3e-38))
    item = Item(id="n", supports=(("c",),), answers=("b",))
    material = Material("m", (Claim(id="c"),), (item,), queries)
    assert material.coverage(["c"]) == pytest.approx(0.75, abs=1e-12)


def test_a_claim_that_is_only_likely_true_is_in_no_good_span():
    material = Material(
        "likely",
        (Claim(id="c", truth=0.5), Claim(id="d")),
        (Item(id="n", supports=(("c",), ("c", "d")), answers=("q",)),),
        (Query(id="q"),),
    )
    assert material.span(["c", "d"]).tolist() == [True]
    assert material.good_span(["c", "d"]).tolist() == [False]
    assert material.precision(["c", "d"]) == pytest.approx(0.5)


def test_the_span_counts_what_true_claims_yield():
    """odyssey-noisy: eight facts by six true claims; the lie's three items count for nothing."""
    noisy = odyssey_noisy()
    events = [claim.id for claim in noisy.claims if claim.truth == 1.0]
    assert noisy.evaluate(noisy.mask(events)).span == 1.0
    assert noisy.evaluate(noisy.mask(noisy.claim_ids)).span == 1.0
    assert noisy.evaluate(noisy.mask(["f1"])).span == 0.0


def test_a_material_without_items_lacks_nothing():
    bare = Material("bare", (Claim(id="a"),), (), (Query(id="q"),))
    assert bare.evaluate(bare.mask([])).span == 1.0
