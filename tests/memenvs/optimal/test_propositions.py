"""The propositions of the theory on random materials, and what greedy promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import random_material
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.materials.greedy_trap import greedy_trap
from memenvs.materials.library import find_materials
from memenvs.materials.odyssey import odyssey_composite
from memenvs.optimal.bracket import Bracket
from memenvs.optimal.curve import frontier
from memenvs.optimal.greedy import offer_greedy, one_claim_greedy
from memenvs.optimal.model import reduce

SETTINGS = settings(max_examples=60, deadline=None)


@st.composite
def materials(draw, *, composite=(0.0, 0.5, 1.0), conflicts=(0.0,)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_material(
        rng,
        draw(st.integers(1, 20)),
        draw(st.integers(1, 30)),
        composite=draw(st.sampled_from(composite)),
        false_share=draw(st.sampled_from([0.0, 0.3])),
        conflicts=draw(st.sampled_from(conflicts)),
        equal_weights=draw(st.booleans()),
    )


@SETTINGS
@given(materials(), st.sampled_from(["coverage", "precision"]))
def test_the_frontier_rises_to_the_full_context_value(material, objective):
    found = frontier(material, objective)
    assert (np.diff(found.values) >= 0).all()
    everything = getattr(material, objective)(material.claim_ids)
    assert found.values[-1] == pytest.approx(everything, abs=1e-12)
    assert found.optimal.all()


@SETTINGS
@given(materials(conflicts=(0.4,)))
def test_with_conflicts_it_still_does_not_fall(material):
    found = frontier(material)
    assert (np.diff(found.values) >= 0).all()
    assert found.values[-1] >= material.coverage(material.claim_ids) - 1e-12


@SETTINGS
@given(materials(conflicts=(0.0, 0.4)))
def test_precision_never_exceeds_coverage(material):
    difference = frontier(material).values - frontier(material, "precision").values
    assert (difference >= -1e-12).all()


@SETTINGS
@given(materials(composite=(0.0,)))
def test_greedy_has_its_share_of_a_decomposable_optimum(material):
    best = frontier(material).values
    found = frontier(material, method="greedy")
    assert (found.values >= (1 - 1 / np.e) * best - 1e-12).all()
    assert (found.upper_bounds >= best - 1e-12).all()


@SETTINGS
@given(materials(conflicts=(0.0, 0.4)))
def test_greedy_stays_between_what_it_attains_and_its_bound(material):
    best = frontier(material).values
    found = frontier(material, method="greedy")
    assert found.values == pytest.approx([material.coverage(m) for m in found.memories])
    assert (found.values <= best + 1e-12).all()
    assert (found.upper_bounds >= best - 1e-12).all()
    assert all(len(m) <= S for S, m in zip(found.capacities, found.memories, strict=True))


def test_a_marginal_gain_grows_when_two_claims_only_answer_together():
    material = odyssey_composite()
    alone = material.coverage(["e3"]) - material.coverage([])
    given_e2 = material.coverage(["e2", "e3"]) - material.coverage(["e2"])
    shared = 0.20  # q8, which both detainers answer
    assert given_e2 == pytest.approx(alone - shared + 0.05)  # q9 needs both
    pair = composite_pairs(1)
    assert pair.coverage(["c1"]) - pair.coverage([]) == 0
    assert pair.coverage(["c0", "c1"]) - pair.coverage(["c0"]) == 1


def composite_pairs(count):
    """Queries that two claims each answer only together."""
    return Material(
        "pairs",
        tuple(Claim(id=f"c{e}") for e in range(2 * count)),
        tuple(
            Item(id=f"n{i}", supports=((f"c{2 * i}", f"c{2 * i + 1}"),), answers=(f"q{i}",))
            for i in range(count)
        ),
        tuple(Query(id=f"q{i}", weight=i + 1) for i in range(count)),
    )


def test_support_aware_greedy_completes_what_one_claim_greedy_cannot_see():
    material = composite_pairs(5)
    assert one_claim_greedy(material, 4) == ("c0", "c1", "c2", "c3")
    found = frontier(material, capacities=[4], method="greedy")
    assert found.memories == (("c6", "c7", "c8", "c9"),)
    assert found.optimal.all()


def test_one_claim_greedy_takes_the_largest_gain_first():
    assert one_claim_greedy(odyssey_composite(), 2)[0] == "e3"
    assert sorted(one_claim_greedy(odyssey_composite(), 6)) == ["e1", "e2", "e3", "e4", "e5", "e6"]


def test_greedy_with_costs_is_not_led_astray_by_a_cheap_claim():
    material = Material(
        "dear",
        (Claim(id="cheap"), Claim(id="dear", cost=10)),
        tuple(Item(id=c, supports=((c,),), answers=(c,)) for c in ("cheap", "dear")),
        (Query(id="cheap", weight=2), Query(id="dear", weight=10)),
    )
    found = frontier(material, capacities=[1, 10, 11], method="greedy")
    assert found.memories == (("cheap",), ("dear",), ("cheap", "dear"))


def test_one_claim_greedy_leaves_out_what_does_harm():
    """Of two true claims and one that withdraws both their items: never the third."""
    spoilt = Material(
        "spoilt",
        tuple(Claim(id=name) for name in ("a", "b", "spoils")),
        tuple(
            Item(id=f"n-{name}", supports=((name,),), answers=(name,), conflicts=("spoils",))
            for name in ("a", "b")
        ),
        (Query(id="a", weight=2.0), Query(id="b")),
    )
    assert one_claim_greedy(spoilt, 3) == ("a", "b")


@pytest.mark.parametrize("factor", [1.0, 3.0, 10.0])
def test_greedy_fails_by_the_factor_asked_for(factor):
    material = greedy_trap(factor)
    size = len(material.claims) // 2
    circle = [claim for claim in material.claim_ids if claim.startswith("circle")]
    best = material.coverage(circle)
    problem = reduce(material, "coverage", np.ones(2 * size), None)
    bracket = Bracket(problem, np.array([float(size)]))
    offer_greedy(bracket)  # by whole supports; below it one claim at a time
    assert best >= factor * bracket.values[0] / problem.total * (1 - 1e-9)
    assert best >= factor * material.coverage(one_claim_greedy(material, size)) * (1 - 1e-9)


def test_the_trap_is_a_registered_material():
    (material,) = find_materials("greedy-trap")
    assert material.name == "greedy-trap"
