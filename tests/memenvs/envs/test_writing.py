"""What may be written where: masks, budgets, priorities, pools, against plain models."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from four import column, material, play
from memenvs import Claim, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv


def test_a_write_replaces_what_stood_there():
    env = MemorizationEnv("odyssey", capacity=1, settlement="expected", closing=1)
    outcomes = play(env, [1, 1, 1, 0, 0, 0])  # e1, then e2, then e3 in the only slot
    assert outcomes[-1][1] == pytest.approx(0.35)
    assert [int(column(env, o[0], "memory", "valid").sum()) for o in outcomes] == [0] + [1] * 6


def test_the_first_free_slot_alone_is_offered():
    env = MemorizationEnv("odyssey", capacity=3, clearing=True)
    env.reset(seed=0)
    assert env.action_masks().tolist() == [True, True, False, False, False, False, False]
    env.step(1)
    assert env.action_masks().tolist() == [True, False, True, False, True, False, False]
    env.step(2)
    env.step(3)
    assert env.action_masks().tolist() == [True] * 7
    env.step(5)  # clear slot 1: the only one offered now
    assert env.action_masks().tolist() == [True, False, True, False, True, False, True]


def test_a_budget_bounds_the_summed_cost():
    env = MemorizationEnv(material(), capacity=3, budget=5.0)  # costs 1, 2, 3, 4
    env.reset(seed=0)
    env.step(1)
    env.step(2)
    # c2 costs 3 and 2 are left: it fits only in the place of c0 (5 - 1 + ... = 5) or c1 (4).
    assert env.action_masks()[:4].tolist() == [True, True, True, False]
    observation, *_ = env.step(1)
    assert column(env, observation, "context", "free_budget") == pytest.approx(0.0)
    # c3 costs 4: only in the place of c2 would 6 remain, so nowhere; clearing is offered.
    assert env.action_masks().tolist() == [True] + [False] * 3 + [True, True, False]


def test_priorities_keep_the_highest():
    env = MemorizationEnv(material(), capacity=2, action="priority")
    play(env, [[0.1], [-0.5], [0.3], [-0.5]])
    assert env.memory.tolist() == [True, False, True, False]  # a tie goes to what was there
    env = MemorizationEnv(material(), capacity=3, action="priority", budget=4.0)
    play(env, [[0.1], [0.2], [0.15], [0.9]])
    # 1 + 2 fit; 3 more would need both to go and c1 is worth more; 4 at .9 drives all out.
    assert env.memory.tolist() == [False, False, False, True]
    outcomes = play(env, [[float("nan")], [7.0], [-9.0], [0.0]])
    assert outcomes[1][2]["illegal_action"] == 1
    assert env.memory.tolist() == [False, True, False, False]


def test_of_equal_priorities_the_one_written_first_makes_way():
    env = MemorizationEnv(material(), capacity=2, action="priority")
    play(env, [[0.1], [0.1], [0.3], [-1.0]])
    assert env.memory.tolist() == [False, True, True, False]


def test_pool_access_considers_then_decides():
    env = MemorizationEnv(material(), access="pool", capacity=2, decisions=6, settlement="expected")
    observation, _ = env.reset(seed=0)
    first = env.actions.first_consider
    assert env.action_masks().tolist() == [True, False, False, True, True, True, True]
    assert not observation["claim"].any()
    observation, *_ = env.step(first + 3)
    assert env.action_masks().tolist() == [True, True, False] + [False] * 4
    np.testing.assert_array_equal(observation["claim"], observation["claims"][3])
    observation, *_ = env.step(1)
    assert env.action_masks().tolist() == [True, False, False, True, True, True, False]
    np.testing.assert_array_equal(column(env, observation, "claims", "stored"), [0, 0, 0, 1])
    np.testing.assert_array_equal(column(env, observation, "claims", "considered"), [0, 0, 0, 1])
    env.step(first + 1)
    *_, over, _, info = env.step(0)  # pass c1
    assert not over
    *_, reward, over, _, info = env.step(0)  # stop
    assert over
    assert reward == pytest.approx(15 * 0.7)
    assert info["size"] == 1


def test_in_a_pool_slots_are_cleared_between_claims_alone():
    env = MemorizationEnv(material(), access="pool", capacity=2, clearing=True)
    env.reset(seed=0)
    env.step(env.actions.first_consider)
    assert env.action_masks().tolist() == [True, True, False] + [False] * 2 + [False] * 4
    env.step(1)
    assert env.action_masks().tolist() == [True, False, False, True, False] + [False] + [True] * 3
    env.step(env.actions.first_consider + 1)
    assert env.action_masks().tolist() == [True, False, True] + [False] * 2 + [False] * 4


def test_a_pool_ends_after_its_decisions():
    env = MemorizationEnv(material(), access="pool", capacity=2, decisions=3)
    env.reset(seed=0)
    first = env.actions.first_consider
    overs = [env.step(action)[2] for action in (first, 1, first + 1)]
    assert overs == [False, False, True]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_memory_and_masks_follow_a_plain_model(seed):
    """Random legal and illegal actions against a dictionary of slots."""
    rng = np.random.default_rng(seed)
    size, capacity = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    budget = None if rng.random() < 0.5 else float(rng.integers(2, 8))
    clearing = bool(rng.random() < 0.5)
    cost = rng.integers(1, 5, size)
    claims = tuple(Claim(id=f"c{i}", cost=float(cost[i]), text=f"w{i}") for i in range(size))
    env = MemorizationEnv(
        Material("m", claims, (), (Query(id="q"),)),
        capacity=capacity,
        budget=budget,
        clearing=clearing,
    )
    env.reset(seed=0)
    slots = {}
    clears = clearing or budget is not None
    for claim in range(size):
        legal = {0}
        total = sum(cost[c] for c in slots.values())
        free = [s for s in range(capacity) if s not in slots]
        limit = np.inf if budget is None else budget
        if free and total + cost[claim] <= limit:
            legal.add(1 + free[0])
        else:
            legal |= {1 + s for s in slots if total - cost[slots[s]] + cost[claim] <= limit}
        if clears:
            legal |= {1 + capacity + s for s in slots}
        assert set(np.flatnonzero(env.action_masks()).tolist()) == legal
        action = int(rng.integers(0, env.action_space.n))
        env.step(action)
        if action in legal and 1 <= action <= capacity:
            slots[action - 1] = claim
        elif action in legal and action > capacity:
            del slots[action - 1 - capacity]
        assert set(np.flatnonzero(env.memory)) == set(slots.values())
        assert [s for s in range(capacity) if env.episode.slots.occupied[s]] == sorted(slots)
