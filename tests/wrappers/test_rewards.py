"""Reward vectors, shaping and credit, by hand on the Odyssey."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.wrappers import (
    ExactDifferenceShaping,
    LeaveOneOutCredit,
    LinearReward,
    SampledDifferenceShaping,
    VectorReward,
)
from strategies import materials


def play(env, actions, seed=0):
    """Take the actions; gives every reward and info."""
    env.reset(seed=seed)
    outcomes = []
    for action in actions:
        _, reward, _, _, info = env.step(action)
        outcomes.append((reward, info))
    return outcomes


def expected_env(**settings):
    settings = {"capacity": 3, "settlement": "expected", "closing": 10, **settings}
    return MemorizationEnv("odyssey-noisy", **settings)


# e1 and the false f1: the span answers q1, q2 and q6 (.45), the good span q1 and q2 (.25).
TAKE_E1_AND_F1 = [1, 0, 0, 0, 0, 0, 2]


def test_a_vector_pays_coverage_and_precision():
    rewards = [reward for reward, _ in play(VectorReward(expected_env(every=4)), TAKE_E1_AND_F1)]
    assert all(reward.dtype == np.float32 and reward.shape == (2,) for reward in rewards)
    expected = np.zeros((7, 2))
    expected[3] = [0.25, 0.25]
    expected[6] = [4.5, 2.5]
    np.testing.assert_allclose(rewards, expected, rtol=1e-6)


@pytest.mark.parametrize("utility", ["coverage", "precision", "end-to-end"])
def test_sampled_vectors_hold_the_scalar_reward_of_both_utilities(utility):
    settings = {"capacity": 3, "every": 1, "closing": 40}
    vectors = play(
        VectorReward(MemorizationEnv("odyssey-noisy", utility=utility, **settings)), TAKE_E1_AND_F1
    )
    for place, name in enumerate(("coverage", "precision")):
        scalars = play(MemorizationEnv("odyssey-noisy", utility=name, **settings), TAKE_E1_AND_F1)
        assert [v[place] for v, _ in vectors] == [reward for reward, _ in scalars]
    assert vectors[-1][0][0] > vectors[-1][0][1] > 0


def test_a_linear_reward_weighs_the_vector():
    env = LinearReward(VectorReward(expected_env()), [2.0, -1.0])
    *_, (reward, info) = play(env, TAKE_E1_AND_F1)
    assert reward == pytest.approx(2 * 4.5 - 2.5, rel=1e-6)
    np.testing.assert_allclose(info["vector_reward"], [4.5, 2.5], rtol=1e-6)
    np.testing.assert_array_equal(info["reward_weights"], [2.0, -1.0])
    with pytest.raises(ValueError, match="does not hold 2 finite numbers"):
        LinearReward(VectorReward(expected_env()), [1.0])
    with pytest.raises(TypeError, match="put VectorReward around it first"):
        LinearReward(expected_env(), [1.0, 1.0]).reset()


def test_the_reward_space_is_where_mo_gymnasium_looks():
    env = VectorReward(expected_env(every=2, queries=12))
    assert env.unwrapped.reward_space is env.reward_space
    assert env.reward_space.shape == (env.reward_dim,) == (2,)
    assert env.reward_space.high.tolist() == [12.0, 12.0]


def test_exact_shaping_by_hand():
    env = ExactDifferenceShaping(expected_env(utility="coverage", capacity=2))
    outcomes = play(env, [1, 2, 0, 0, 0, 0, 1])  # e1, e2, then f1 in the place of e1
    shaping = [info["shaping"] for _, info in outcomes]
    assert shaping == pytest.approx([0.25, 0.30, 0, 0, 0, 0, 0.20])
    assert outcomes[0][0] == pytest.approx(0.25)
    assert outcomes[-1][0] == pytest.approx(7.5 + 0.20)
    weighted = play(ExactDifferenceShaping(expected_env(utility="coverage"), weight=4.0), [1])
    assert weighted[0][0] == pytest.approx(1.0)


@settings(max_examples=40)
@given(materials(), st.integers(0, 2**32 - 1))
def test_exact_shaping_sums_to_the_utility_of_the_final_memory(material, seed):
    rng = np.random.default_rng(seed)
    utility = ("coverage", "precision", "end-to-end")[seed % 3]
    env = ExactDifferenceShaping(
        MemorizationEnv(material, capacity=2, utility=utility, clearing=True), weight=3.0
    )
    _, info = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, over, _, info = env.step(action)
        total += info["shaping"]
    assert total == pytest.approx(3.0 * info["utility"], abs=1e-9)


def test_at_level_0_shaping_asks_the_known_query():
    for wrapper in (ExactDifferenceShaping, SampledDifferenceShaping):
        env = wrapper(MemorizationEnv("odyssey", **LEVELS["0"], capacity=1))
        for seed in range(10):
            env.reset(seed=seed)
            inner = env.unwrapped
            env.step(inner.actions.first_consider)
            *_, info = env.step(1)  # e1 answers q1 and q2
            assert info["shaping"] == float(inner.episode.known_query in (0, 1))


def test_sampled_shaping_is_the_exact_one_in_the_mean_and_leaves_the_episode_alone():
    plain = [reward for reward, _ in play(MemorizationEnv("odyssey", capacity=1, every=1), [1] * 6)]
    env = SampledDifferenceShaping(MemorizationEnv("odyssey", capacity=1, every=1), queries=20_000)
    outcomes = play(env, [1] * 6)
    # Each event takes the place of the one before it.
    masses = np.array([0.25, 0.30, 0.35, 0.20, 0.05, 0.05])
    shaping = [info["shaping"] for _, info in outcomes]
    np.testing.assert_allclose(shaping, np.diff(masses, prepend=0), atol=0.02)
    assert [reward - info["shaping"] for reward, info in outcomes] == pytest.approx(plain)
    few = [
        play(SampledDifferenceShaping(MemorizationEnv("odyssey", capacity=1), 4), [1], seed)[0][1]
        for seed in range(40)
    ]
    assert {info["shaping"] for info in few} <= {0, 0.25, 0.5, 0.75, 1}
    assert len({info["shaping"] for info in few}) > 1
    with pytest.raises(ValueError, match="queries=0 is not"):
        SampledDifferenceShaping(MemorizationEnv("odyssey"), 0)


def test_leave_one_out_by_hand():
    env = LeaveOneOutCredit(MemorizationEnv("odyssey", capacity=4, every=3))
    outcomes = play(env, [0, 1, 2, 3, 0, 0])  # e2, e3 and then e4
    assert ["leave_one_out" in info for _, info in outcomes] == [False, False, True] * 2
    # e2 and e3 both answer q8 (.20), so each alone would be missed by q3 (.10) and q4 (.15) only.
    np.testing.assert_allclose(outcomes[2][1]["leave_one_out"], [0.10, 0.15, 0, 0])
    np.testing.assert_allclose(outcomes[5][1]["leave_one_out"], [0.10, 0.15, 0.20, 0])


def test_a_harmful_claim_has_negative_credit():
    env = LeaveOneOutCredit(MemorizationEnv("odyssey-noisy", capacity=2, utility="end-to-end"))
    env.reset(seed=0)
    for action in (1, 0, 0, 0, 0, 0, 2):
        *_, info = env.step(action)
    inner = env.unwrapped
    alone = inner.episode.account.expected(np.arange(7) == 0)
    assert info["leave_one_out"][1] == pytest.approx(info["utility"] - alone)
    assert info["leave_one_out"][1] <= 0


def test_leave_one_out_goes_by_slots_also_after_a_clear():
    env = LeaveOneOutCredit(expected_env(capacity=3, clearing=True, every=4))
    env.reset(seed=0)
    for action in (1, 2, 4):  # e1 into slot 0, e2 into slot 1, slot 0 cleared
        env.step(action)
    *_, info = env.step(0)
    # e2 alone answers q3 (.10) and q8 (.20).
    np.testing.assert_allclose(info["leave_one_out"], [0, 0.30, 0])


def test_sampled_shaping_asks_other_queries_at_every_write():
    claims = tuple(Claim(id=f"c{i}", text="the same") for i in range(2))
    items = (Item(id="n", supports=(("c0",), ("c1",)), answers=("q0",)),)
    twins = Material("twins", claims, items, (Query(id="q0"), Query(id="q1")))
    env = SampledDifferenceShaping(MemorizationEnv(twins, capacity=2), queries=1)
    terms = []
    for seed in range(40):
        for passed in (0, 1):  # either claim is worth one of the two queries
            env.reset(seed=seed)
            for _ in range(passed):
                env.step(0)
            *_, info = env.step(1)
            terms.append(info["shaping"])
    first, second = np.array(terms).reshape(-1, 2).T
    assert set(first) == set(second) == {0.0, 1.0}
    assert not np.array_equal(first, second)


def test_a_decision_that_settles_nothing_pays_nothing():
    env = VectorReward(MemorizationEnv("odyssey", capacity=6, every=2, utility="coverage"))
    env.reset(seed=0)
    rewards = [env.step(action)[1] for action in (1, 2, 3)]
    assert (rewards[0] == 0).all()
    assert (rewards[2] == 0).all()
