"""What the agent is shown: records, queries, relations, features."""

import numpy as np
import pytest

from four import UNIT, column, material, play, redraw
from memenvs import Claim, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv


def test_records_count_credits_and_debits_of_claims_and_sources():
    env = MemorizationEnv(material(), capacity=2, utility="precision", every=1, closing=1)
    observation, _ = env.reset(seed=0)
    credits, debits = np.zeros(4), np.zeros(4)
    stored = []
    for step, action in enumerate([1, 2, 0]):
        stored += [step] if action else []
        before = env.episode.account.drawn
        observation, *_ = env.step(action)
        at = np.searchsorted([0.5, 0.8, 1.0], redraw(env, before), side="right")
        answering = {0: [0, 1], 1: [], 2: []}[int(at)]  # c0 and c1 are stored at most
        for claim in set(answering) & set(stored):
            (credits if 0 in stored else debits)[claim] += 1
        slots = observation["memory"]
        for slot, claim in enumerate(stored):
            assert slots[slot, env.layout.index("credits")] == credits[claim]
            assert slots[slot, env.layout.index("debits")] == debits[claim]
            mine = [c for c in range(4) if c % 2 == claim % 2]
            assert slots[slot, env.layout.index("source_credits")] == credits[mine].sum()
    assert credits.sum() > 0  # the seed settles something, or this would show nothing


@pytest.mark.parametrize(
    ("feedback", "queries", "credits"), [("claims", 1, 1), ("outcome", 1, 0), ("none", 0, 0)]
)
def test_feedback_discloses_what_it_says(feedback, queries, credits):
    env = MemorizationEnv("odyssey", capacity=6, every=5, feedback=feedback, utility="coverage")
    observation, *_ = play(env, [1, 2, 3, 4, 5])[-1]
    assert bool(observation["queries"].any()) == bool(queries)
    assert bool(column(env, observation, "memory", "credits").any()) == bool(credits)
    assert bool(column(env, observation, "memory", "frequency").any()) == bool(queries)
    assert bool(column(env, observation, "context", "answered")) == bool(queries)


def test_known_queries_show_with_their_mass_and_a_single_one_is_what_is_settled():
    env = MemorizationEnv(material(), access="pool", disclosure="all", capacity=2)
    observation, _ = env.reset(seed=0)
    np.testing.assert_allclose(column(env, observation, "queries", "weight"), [0.5, 0.3, 0.2])
    np.testing.assert_array_equal(
        observation["queries"][:, env.layout.slice("embedding", "queries")], np.array(UNIT[:3])
    )
    # Frequency of a topic: the mean similarity to the queries under p_D.
    np.testing.assert_allclose(
        column(env, observation, "claims", "frequency"), [0.5, 0.3, 0.2, 0.54], rtol=1e-6
    )
    env = MemorizationEnv(material(), access="pool", disclosure="one", capacity=2, closing=3)
    for seed in range(8):
        observation, _ = env.reset(seed=seed)
        known = env.episode.known_query
        np.testing.assert_allclose(
            observation["queries"][0, env.layout.slice("embedding", "queries")], UNIT[known]
        )
        env.step(env.actions.first_consider + 3)
        env.step(1)
        *_, reward, over, _, _ = env.step(0)
        assert over
        assert reward == (3.0 if known in (0, 2) else 0.0)


def test_settled_queries_are_shown_newest_first():
    env = MemorizationEnv(material(), capacity=4, every=1, queries=2, closing=1)
    env.reset(seed=1)
    shown = []
    for _ in range(3):
        before = env.episode.account.drawn
        observation, *_ = env.step(0)
        for number in range(before, before + 2):
            drawn = np.searchsorted([0.5, 0.8, 1.0], redraw(env, number), side="right")
            shown.insert(0, UNIT[int(drawn)])
        rows = observation["queries"][: len(shown), env.layout.slice("embedding", "queries")]
        np.testing.assert_allclose(rows, shown)
        assert column(env, observation, "queries", "valid").sum() == len(shown)
        assert (column(env, observation, "queries", "outcome")[: len(shown)] == -1).all()
        assert not column(env, observation, "queries", "weight").any()


def test_relations_of_slots_by_hand():
    env = MemorizationEnv(material(), capacity=3)
    observation = play(env, [1, 2, 0])[-1][0]  # c0 and c1 stored, c3 considered
    np.testing.assert_allclose(column(env, observation, "memory", "similarity"), [0.6, 0.8, 0])
    np.testing.assert_allclose(column(env, observation, "memory", "redundancy"), [0, 0, 0])
    np.testing.assert_allclose(column(env, observation, "memory", "same_source"), [0, 1, 0])
    np.testing.assert_allclose(column(env, observation, "memory", "same_group"), [0, 0, 0])
    np.testing.assert_allclose(column(env, observation, "memory", "age"), [3 / 4, 2 / 4, 0])
    assert column(env, observation, "claim", "redundancy") == pytest.approx(0.8)
    assert column(env, observation, "claim", "time") == pytest.approx(3.0)
    assert column(env, observation, "claim", "earlier_similarity") == pytest.approx(0.8)
    assert column(env, observation, "claim", "previous_similarity") == pytest.approx(0.0)
    assert column(env, observation, "claim", "place") == pytest.approx(0.0)
    assert column(env, observation, "context", "free_slots") == pytest.approx(1 / 3)
    observation, *_ = env.step(3)  # c3 beside c0 (.6) and c1 (.8)
    np.testing.assert_allclose(column(env, observation, "memory", "redundancy"), [0.6, 0.8, 0.8])


def test_claims_that_name_no_source_have_none_in_common():
    claims = tuple(Claim(id=f"c{i}", text=f"word{i}") for i in range(3))
    env = MemorizationEnv(Material("anonymous", claims, (), (Query(id="q"),)), capacity=2)
    observation = play(env, [1])[-1][0]
    assert column(env, observation, "memory", "same_source").tolist() == [0, 0]
    assert column(env, observation, "memory", "same_group").tolist() == [0, 0]
    assert column(env, observation, "claim", "confidence") == pytest.approx(0.5)  # unknown


def test_in_a_pool_a_stored_claim_repeats_the_others_and_not_itself():
    env = MemorizationEnv(material(), access="pool", capacity=2)
    env.reset(seed=0)
    for claim in (3, 0):
        env.step(env.actions.first_consider + claim)
        observation, *_ = env.step(int(np.flatnonzero(env.action_masks()[1:3])[0]) + 1)
    # c3 = (.6, .8, 0) and c0 = (1, 0, 0) are stored.
    np.testing.assert_allclose(
        column(env, observation, "claims", "redundancy"), [0.6, 0.8, 0.0, 0.6], atol=1e-6
    )
