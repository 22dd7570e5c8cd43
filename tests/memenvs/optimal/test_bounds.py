"""Upper bounds hold whatever the multipliers, and never fall back to everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import random_material
from memenvs import Claim, Item, Material, Query, frontier
from memenvs.optimal.bracket import Bracket
from memenvs.optimal.greedy import offer_greedy
from memenvs.optimal.lagrange import bound_prefixes
from memenvs.optimal.model import reduce
from memenvs.optimal.programme import Programme
from memenvs.optimal.swaps import offer_swaps


def dense_material(claims, queries, answered, seed=0):
    """Each claim answers as many queries, all of one mass."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(queries, answered, replace=False) for _ in range(claims)]
    return Material(
        "dense",
        tuple(Claim(id=f"c{e}") for e in range(claims)),
        tuple(
            Item(id=f"n{e}", supports=((f"c{e}",),), answers=tuple(f"q{q}" for q in asked))
            for e, asked in enumerate(drawn)
        ),
        tuple(Query(id=f"q{q}") for q in range(queries)),
    )


def best_values(problem, capacities):
    memories = all_memories_of(len(problem.costs))
    memories = memories[memories.sum(axis=1) <= problem.max_claims]
    values, costs = problem.value(memories), memories @ problem.costs
    return np.array([values[costs <= capacity].max() for capacity in capacities])


def all_memories_of(n):
    return (np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["coverage", "precision"]))
def test_bounds_without_a_programme_hold(seed, objective):
    problem, capacities = draw_problem(np.random.default_rng(seed), objective)
    best = best_values(problem, capacities)
    bracket = Bracket(problem, capacities)
    if not len(problem.candidates):
        return
    paths = offer_greedy(bracket)
    bound_prefixes(bracket, Programme(problem), paths, np.inf)
    offer_swaps(bracket, np.inf)
    assert (bracket.uppers >= best - 1e-9 * problem.total).all()
    assert (bracket.values <= best + 1e-9 * problem.total).all()
    for memory, capacity in zip(bracket.memories, capacities, strict=True):
        assert problem.costs[memory].sum() <= capacity
        assert memory.sum() <= problem.max_claims


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_multipliers_bound_the_curve(seed):
    rng = np.random.default_rng(seed)
    problem, capacities = draw_problem(rng, "coverage")
    if not len(problem.candidates):
        return
    programme = Programme(problem)
    links = rng.exponential(problem.masses.mean(), 2 + len(programme.limit))
    bounds = programme.dual_bounds(links, capacities)
    assert (bounds >= best_values(problem, capacities) - 1e-9 * problem.total).all()


def draw_problem(rng, objective):
    n = int(rng.integers(1, 10))
    material = random_material(
        rng,
        n,
        int(rng.integers(1, 20)),
        composite=float(rng.choice([0.0, 0.6])),
        false_share=float(rng.choice([0.0, 0.3])),
        conflicts=float(rng.choice([0.0, 0.4])),
        fractional_truth=bool(rng.random() < 0.3),
        costs=int(rng.choice([1, 3])),
    )
    most = int(rng.integers(1, n + 1))
    problem = reduce(material, objective, material.incidence.cost, most)
    return problem, np.arange(1, problem.costs.sum() + 1)


def test_the_prefix_bound_is_the_submodular_one():
    """min over prefixes A of u(A) + the S largest gains left, by its definition."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        material = random_material(rng, 12, 30)
        problem = reduce(material, "coverage", np.ones(12), None)
        bracket = Bracket(problem, np.array([4.0]))
        paths = offer_greedy(bracket)
        stored = np.zeros(12, dtype=bool)
        expected = []
        for bundle, _ in [((), 0.0), *paths[0][:8]]:  # up to twice the capacity
            stored[list(bundle)] = True
            base = problem.value(stored)
            gains = [problem.value(stored | (np.arange(12) == e)) - base for e in range(12)]
            expected.append(base + sum(sorted(gains)[-4:]))
        bound_prefixes(bracket, Programme(problem), paths, np.inf)
        assert bracket.uppers[0] <= min(expected) + 1e-9 * problem.total


@pytest.mark.parametrize(
    ("claims", "queries", "capacity", "bound"), [(1000, 4000, 50, 0.5), (5000, 20000, 100, 0.2)]
)
@pytest.mark.slow
def test_a_dense_material_is_bounded_by_what_its_claims_can_answer(
    claims, queries, capacity, bound
):
    material = dense_material(claims, queries, 40)
    found = frontier(material, capacities=[capacity], time_limit=4.0)
    assert found.upper_bounds[0] <= bound + 1e-12  # S claims answer 40 queries each
    assert found.values[0] > 0.85 * bound


def test_swaps_find_what_greedy_misses():
    """Greedy begins with the middle claim; the two others together answer everything."""
    answers = {"left": "abc", "right": "def", "middle": "bcde"}
    material = Material(
        "swap",
        tuple(Claim(id=name) for name in answers),
        tuple(
            Item(id=f"n-{name}", supports=((name,),), answers=tuple(letters))
            for name, letters in answers.items()
        ),
        tuple(Query(id=letter) for letter in "abcdef"),
    )
    problem = reduce(material, "coverage", np.ones(3), None)
    bracket = Bracket(problem, np.array([2.0]))
    paths = offer_greedy(bracket)
    assert bracket.values[0] / problem.total == pytest.approx(5 / 6)
    bound_prefixes(bracket, Programme(problem), paths, np.inf)
    offer_swaps(bracket, np.inf)
    assert bracket.values[0] / problem.total == pytest.approx(1.0)
    np.testing.assert_array_equal(bracket.memories[0], [True, True, False])
