"""The frontier and the environment agree on what a budget allows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query, frontier
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies import make
from players import run


def priced(costs, weights):
    claims = tuple(Claim(id=f"c{i}", cost=cost, text="x") for i, cost in enumerate(costs))
    items = tuple(
        Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(len(costs))
    )
    queries = tuple(Query(id=f"q{i}", weight=weight) for i, weight in enumerate(weights))
    return Material("priced", claims, items, queries)


def test_a_sum_of_tenths_keeps_within_three_tenths():
    material = priced((0.1, 0.2, 0.3), (2.0, 2.0, 3.0))
    env = MemorizationEnv(material, capacity=3, budget=0.3)
    run(make("optimal", env), env)
    assert material.precision(env.memory) == pytest.approx(4 / 7)
    assert frontier(material, "precision", [0.3]).values[0] == pytest.approx(4 / 7)


def test_tiny_costs_do_not_slip_through_the_slack():
    material = priced((1e-10,) * 8, (1.0,) * 8)
    found = frontier(material, capacities=[0, 1e-10, 2e-10])
    np.testing.assert_allclose(found.values, [0, 1 / 8, 2 / 8])
    assert [len(memory) for memory in found.memories] == [0, 1, 2]


@given(
    st.lists(st.floats(0.05, 1.0), min_size=1, max_size=6),
    st.floats(0.1, 2.0),
    st.integers(0, 1000),
)
def test_the_optimal_policy_reaches_the_frontier_under_any_budget(costs, budget, seed):
    material = priced(costs, np.random.default_rng(seed).random(len(costs)) + 0.1)
    env = MemorizationEnv(material, capacity=len(costs), budget=budget)
    run(make("optimal", env), env)
    best = frontier(material, "precision", [budget])
    assert material.precision(env.memory) == pytest.approx(best.values[0])


def test_a_budget_that_a_sum_rounds_past_shows_as_used_up():
    env = MemorizationEnv(priced((0.1, 0.2, 0.3), (1.0, 1.0, 1.0)), capacity=3, budget=0.3)
    env.reset(seed=0)
    env.step(1)
    observation, *_ = env.step(2)
    assert observation in env.observation_space
    assert observation["context"][env.layout.index("free_budget", "context")] == 0
