"""What is settled when, what it pays, and which claims it credits."""

import numpy as np
import pytest

from four import UNIT, column, material, play, settle
from memenvs import Claim, Item, Material, Query
from memenvs.counter import QUERY, TRUTH, uniforms
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv


def test_expected_settlement_pays_the_final_memory():
    odyssey = MemorizationEnv("odyssey", capacity=3, settlement="expected", closing=7)
    # e1 and e3 into slots 0 and 1, e4 into slot 2: .25 + .35 + .20 of the mass.
    *_, (_, reward, info) = play(odyssey, [1, 0, 2, 3, 0, 0])
    assert reward == pytest.approx(7 * 0.80)
    assert info["coverage"] == pytest.approx(0.80)
    assert info["precision"] == pytest.approx(0.80)
    assert info["size"] == 3
    assert info["settled"] == pytest.approx(5.6)


def test_settlements_come_when_the_schedule_says():
    env = MemorizationEnv(
        "odyssey", capacity=6, every=2, queries=3, closing=5, settlement="expected"
    )
    outcomes = play(env, [1, 2, 3, 4, 5, 6])
    # After two writes e1, e2: .55 for each of 3 queries; after four 0.90; at the end 1.00 for 5.
    assert [o[1] for o in outcomes[1:]] == pytest.approx([0, 1.65, 0, 2.7, 0, 5.0])
    left = [float(column(env, o[0], "context", "next_settlement")) for o in outcomes]
    assert left == pytest.approx([2 / 6, 1 / 6, 2 / 6, 1 / 6, 2 / 6, 1 / 6, 0])
    settled = [float(column(env, o[0], "context", "settled")) for o in outcomes]
    assert settled == pytest.approx([0, 0, 3 / 11, 3 / 11, 6 / 11, 6 / 11, 1])


def test_the_levels_settle_often_enough_to_learn_from():
    for level in ("1b", "2"):
        assert LEVELS[level]["every"] == 2
    for level in ("1a", "1b", "2", "static"):
        assert LEVELS[level]["closing"] == 15


def test_queries_are_drawn_from_their_distribution():
    env = MemorizationEnv(material(), capacity=4, closing=5000)
    env.reset(seed=3)
    drawn = np.bincount(env.episode.account.draw(20_000), minlength=3) / 20_000
    np.testing.assert_allclose(drawn, [0.5, 0.3, 0.2], atol=0.02)


def test_a_query_without_mass_is_never_drawn():
    weights = (0.0, 1.0, 0.0)
    queries = tuple(Query(id=f"q{i}", weight=w) for i, w in enumerate(weights))
    claims = (Claim(id="c", text="a"),)
    env = MemorizationEnv(Material("m", claims, (), queries), closing=1)
    env.reset(seed=0)
    assert set(env.episode.account.draw(5000)) == {1}


def test_credit_goes_to_every_satisfied_support():
    env = MemorizationEnv(material(), capacity=4)
    play(env, [1, 2, 3, 4])
    assert settle(env, 0).claims == {0, 1, 3}  # two supports of n0, one of n2
    assert settle(env, 0).answered
    assert settle(env, 1).claims == {0, 2}
    assert settle(env, 2).claims == {3}


def test_precision_is_settled_by_true_supports_and_coverage_by_any():
    for utility, answered in (("precision", False), ("coverage", True)):
        env = MemorizationEnv(material(), capacity=1, utility=utility)
        play(env, [0, 1, 0, 0])  # the false claim c1 alone
        settled = settle(env, 0)
        assert settled.answered is answered
        assert settled.claims == {1}
        assert settle(env, 2).claims == frozenset()


def test_end_to_end_names_the_best_match_and_a_false_one_costs_the_query():
    wrong = Item(id="n3", supports=(("c1",),), answers=("q0",), embedding=UNIT[0])
    m = material()
    m = Material("m", m.claims, (*m.items[2:], wrong), m.queries)
    env = MemorizationEnv(m, capacity=2, utility="end-to-end", settlement="expected", closing=1)
    *_, (_, reward, info) = play(env, [0, 1, 0, 2])
    # n3 (false) matches q0 exactly and outranks n2 (.6, .8); q2 is answered by n2.
    assert settle(env, 0).claims == {1}
    assert not settle(env, 0).answered
    assert reward == pytest.approx(0.2)
    assert info["precision"] == pytest.approx(0.7)
    assert info["utility"] == pytest.approx(0.2)


def test_a_conflict_withdraws_the_item_and_its_credit():
    env = MemorizationEnv(material(conflicts=("c1",)), capacity=4)
    play(env, [1, 0, 2, 0])
    assert settle(env, 1).claims == {0, 2}
    env = MemorizationEnv(material(conflicts=("c1",)), capacity=4)
    play(env, [1, 2, 3, 0])
    assert settle(env, 1).claims == frozenset()
    assert not settle(env, 1).answered


def test_truth_between_zero_and_one_is_drawn_once_an_episode():
    env = MemorizationEnv(material(truth=(0.3, 0.0, 1.0, 0.0)), capacity=4)
    outcomes = []
    env.reset(seed=0)
    for _ in range(2000):
        env.reset()
        for action in (1, 0, 2, 0):
            env.step(action)
        answered = {settle(env, 0).answered for _ in range(3)}
        assert len(answered) == 1
        outcomes.append(answered.pop())
    assert np.mean(outcomes) == pytest.approx(0.3, abs=0.04)


def test_truths_and_queries_are_drawn_independently():
    keys = np.arange(4000, dtype=np.uint64)
    truths, queries = (uniforms(keys, stream, 0) < 0.5 for stream in (TRUTH, QUERY))
    assert abs(np.corrcoef(truths, queries)[0, 1]) < 0.06
