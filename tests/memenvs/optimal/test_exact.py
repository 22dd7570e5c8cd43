"""The exact frontier against brute force over sets of ids, on hundreds of small materials."""

import itertools
import time

import numpy as np
import pytest

from instances import random_material
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.materials.odyssey import odyssey, odyssey_composite, odyssey_noisy
from memenvs.optimal import exact, options
from memenvs.optimal.curve import frontier


def utility(material, memory, objective):
    """Utility from the records alone: expectation over every assignment of truth."""
    worlds = [(1.0, set(memory))]
    if objective == "precision":
        stored = [claim for claim in material.claims if claim.id in memory]
        worlds = []
        for outcome in itertools.product((True, False), repeat=len(stored)):
            odds = [c.truth if t else 1 - c.truth for c, t in zip(stored, outcome, strict=True)]
            if np.prod(odds) > 0:
                true = {c.id for c, t in zip(stored, outcome, strict=True) if t}
                worlds.append((float(np.prod(odds)), true))
    total = 0.0
    for odds, held in worlds:
        answered = set()
        for item in material.items:
            withdrawn = set(item.conflicts) & set(memory)
            if not withdrawn and any(set(support) <= held for support in item.supports):
                answered |= set(item.answers)
        total += odds * sum(q.weight for q in material.queries if q.id in answered)
    return total / sum(query.weight for query in material.queries)


def best_by_brute_force(material, objective, capacities, max_claims):
    rated = [
        (sum(claim.cost for claim in chosen), utility(material, {c.id for c in chosen}, objective))
        for size in range(max_claims + 1)
        for chosen in itertools.combinations(material.claims, size)
    ]
    return np.array([max(value for cost, value in rated if cost <= S) for S in capacities])


def draw(seed):
    rng = np.random.default_rng(seed)
    material = random_material(
        rng,
        n_claims=int(rng.integers(1, 8)),
        n_queries=int(rng.integers(1, 12)),
        composite=float(rng.choice([0.0, 0.5, 0.9])),
        false_share=float(rng.choice([0.0, 0.3])),
        conflicts=float(rng.choice([0.0, 0.0, 0.4])),
        costs=int(rng.choice([1, 4])),
        fractional_truth=bool(rng.random() < 0.3),
        equal_weights=bool(rng.random() < 0.4),
    )
    n_claims = len(material.claims)
    max_claims = int(rng.integers(n_claims + 1)) if rng.random() < 0.4 else n_claims
    capacities = range(int(sum(claim.cost for claim in material.claims)) + 2)
    return material, capacities, max_claims


@pytest.mark.parametrize("objective", ["coverage", "precision"])
@pytest.mark.parametrize("enumerated", [-1, exact.ENUMERATED], ids=["programmes", "enumeration"])
@pytest.mark.parametrize("block", range(6))
def test_the_curve_is_the_best_of_all_memories(monkeypatch, block, enumerated, objective):
    monkeypatch.setattr(exact, "ENUMERATED", enumerated)
    for seed in range(25 * block, 25 * (block + 1)):
        material, capacities, max_claims = draw(seed)
        best = best_by_brute_force(material, objective, capacities, max_claims)
        found = frontier(material, objective, capacities, max_claims=max_claims)
        np.testing.assert_allclose(found.values, best, rtol=0, atol=1e-12, err_msg=f"seed {seed}")
        assert found.optimal.all()
        np.testing.assert_array_equal(found.upper_bounds, found.values)
        for capacity, memory, value in zip(capacities, found.memories, found.values, strict=True):
            costs = [claim.cost for claim in material.claims if claim.id in memory]
            assert sum(costs) <= capacity
            assert len(costs) == len(memory) <= max_claims
            assert utility(material, memory, objective) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("method", ["greedy", "bound"])
def test_fast_intervals_hold_the_optimum(method):
    for seed in range(60):
        material, capacities, max_claims = draw(seed)
        for objective in ("coverage", "precision"):
            best = best_by_brute_force(material, objective, capacities, max_claims)
            found = frontier(material, objective, capacities, method, max_claims=max_claims)
            assert (found.values <= best + 1e-12).all()
            assert (found.upper_bounds >= best - 1e-12).all()
            assert found.values[found.optimal] == pytest.approx(best[found.optimal], abs=1e-12)


def test_odyssey():
    found = frontier(odyssey())
    np.testing.assert_allclose(found.values, [0, 0.35, 0.60, 0.80, 0.90, 0.95, 1.00], atol=1e-12)
    assert found.capacities == tuple(range(7))
    assert found.memories[1] == ("e3",)
    assert found.memories[4] == ("e1", "e2", "e3", "e4")  # in the material's order
    assert found.optimal.all()


def test_odyssey_under_noise():
    coverage = frontier(odyssey_noisy(), capacities=[1, 2])
    assert coverage.values == pytest.approx([0.45, 0.80])
    assert coverage.memories == (("f1",), ("e3", "f1"))
    precision = frontier(odyssey_noisy(), "precision", [2])
    assert precision.values == pytest.approx([0.60])
    assert "f1" not in precision.memories[0]


def test_odyssey_with_composites():
    found = frontier(odyssey_composite())
    np.testing.assert_allclose(found.values, [0, 0.35, 0.55, 0.75, 0.90, 0.95, 1.00], atol=1e-12)


@pytest.mark.parametrize("enumerated", [-1, exact.ENUMERATED])
@pytest.mark.parametrize("difference", [1e-7, 1e-9, 1e-11])
def test_near_ties_are_settled(monkeypatch, enumerated, difference):
    monkeypatch.setattr(exact, "ENUMERATED", enumerated)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        drawn = random_material(rng, 9, 16, composite=float(rng.choice([0.0, 0.6, 1.0])))
        queries = tuple(
            Query(id=query.id, weight=1 + difference * int(rng.integers(-50, 51)))
            for query in drawn.queries
        )
        material = Material("near", drawn.claims, drawn.items, queries)
        found = frontier(material)
        best = best_by_brute_force(material, "coverage", range(10), 9)
        np.testing.assert_allclose(found.values, best, rtol=0, atol=1e-14)
        assert found.optimal.all()


def test_a_near_tie_between_many_claims():
    claims = tuple(Claim(id=f"c{e}") for e in range(40))
    items = tuple(Item(id=f"n{e}", supports=((f"c{e}",),), answers=(f"q{e}",)) for e in range(40))
    queries = tuple(Query(id=f"q{e}", weight=1 + e * 1e-9) for e in range(40))
    found = frontier(Material("ladder", claims, items, queries), capacities=[10])
    assert found.memories[0] == tuple(f"c{e}" for e in range(30, 40))
    assert found.optimal.all()


def test_an_order_of_capacities_and_repeats_are_kept():
    found = frontier(odyssey(), capacities=[4, 1, 4, 99, 0.5])
    assert found.capacities == (4, 1, 4, 99, 0.5)
    assert found.values == pytest.approx([0.90, 0.35, 0.90, 1.0, 0.0])


def test_costs_may_be_replaced():
    # e1 to e6 hold .25, .30, .35, .20, .05, .05, and q8 (.20) is shared by e2 and e3.
    found = frontier(odyssey(), capacities=[3], costs=[1, 1, 3, 1, 1, 1])
    assert found.memories == (("e1", "e2", "e4"),)
    assert frontier(odyssey(), capacities=[0.3], costs=[0.1, 0.2, 1, 1, 1, 1]).memories == (
        ("e1", "e2"),  # .1 + .2 fits .3, whatever floats say
    )


def test_no_support_that_can_be_true():
    false = Material(
        "false",
        (Claim(id="c", truth=False),),
        (Item(id="n", supports=(("c",),), answers=("q",)),),
        (Query(id="q"),),
    )
    for method in ("exact", "greedy", "bound"):
        found = frontier(false, "precision", method=method)
        assert found.values.tolist() == [0, 0]
        assert found.memories == ((), ())
        assert found.optimal.all()


def test_beyond_the_scenario_limit_the_interval_still_holds(monkeypatch):
    monkeypatch.setattr(options, "MAX_UNCERTAIN", 1)
    loose = 0
    for seed in range(30):
        material = random_material(
            np.random.default_rng(seed), 6, 6, composite=0.5, fractional_truth=True
        )
        best = best_by_brute_force(material, "precision", range(7), 6)
        found = frontier(material, "precision")
        assert (found.values <= best + 1e-12).all()
        assert (found.upper_bounds >= best - 1e-12).all()
        assert found.values[found.optimal] == pytest.approx(best[found.optimal], abs=1e-12)
        loose += int((~found.optimal).sum())
    assert loose > 0


def test_a_time_limit_leaves_an_interval_that_holds():
    material = random_material(np.random.default_rng(1), 60, 130, composite=0.8)
    capacities = range(5, 40, 5)
    proved = frontier(material, capacities=capacities)
    for limit in (0, 0.02):
        found = frontier(material, capacities=capacities, time_limit=limit)
        assert (found.values <= proved.values + 1e-12).all()
        assert (found.upper_bounds >= proved.values - 1e-12).all()
        assert found.values == pytest.approx([material.coverage(m) for m in found.memories])
        assert found.values[found.optimal] == pytest.approx(proved.values[found.optimal])


def test_a_time_limit_is_heeded_in_the_hard_zone():
    material = random_material(np.random.default_rng(5), 200, 900, composite=1.0)
    began = time.monotonic()
    found = frontier(material, capacities=[60, 80], time_limit=1.0)
    assert time.monotonic() - began < 20
    assert (found.upper_bounds >= found.values).all()


@pytest.mark.parametrize(
    "arguments",
    [
        {"objective": "recall"},
        {"method": "magic"},
        {"capacities": [-1]},
        {"capacities": [float("nan")]},
        {"capacities": [float("inf")]},
        {"capacities": 3},
        {"capacities": ["many"]},
        {"capacities": [[1, 2]]},
        {"costs": [1, 2]},
        {"costs": [0, 1, 1, 1, 1, 1]},
        {"costs": ["dear"] * 6},
        {"max_claims": -1},
        {"max_claims": 1.5},
        {"max_claims": float("nan")},
        {"time_limit": -1},
        {"time_limit": float("nan")},
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message differs by case
        frontier(odyssey(), **arguments)
    assert "\n" not in str(caught.value)
    assert next(iter(arguments)).rstrip("s")[:6] in str(caught.value)


def test_nothing_is_written_to_standard_output(capfd):
    frontier(odyssey(), method="bound")
    assert capfd.readouterr() == ("", "")
