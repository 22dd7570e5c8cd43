"""The process by hand: what is written, what is settled, what it pays and what it discloses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memenvs
from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.env import MemorizationEnv

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.8, 0.0))


def material(truth=(True, False, True, True), cost=(1, 2, 3, 4), conflicts=()):
    """Four claims of two sources; a composite item; each query points along an axis."""
    claims = tuple(
        Claim(
            id=f"c{i}",
            truth=truth[i],
            cost=cost[i],
            source="ann" if i % 2 == 0 else "bob",
            group="g" if i < 3 else "h",
            time=10.0 + i,
            embedding=UNIT[i],
        )
        for i in range(4)
    )
    items = (
        Item(id="n0", supports=(("c0",), ("c1",)), answers=("q0",)),
        Item(id="n1", supports=(("c0", "c2"),), answers=("q1",), conflicts=conflicts),
        Item(id="n2", supports=(("c3",),), answers=("q0", "q2")),
    )
    queries = tuple(
        Query(id=f"q{i}", weight=weight, embedding=UNIT[i])
        for i, weight in enumerate((0.5, 0.3, 0.2))
    )
    return Material("four", claims, items, queries)


def play(env, actions, **reset):
    """Take the actions; gives every outcome, the reset's first."""
    observation, info = env.reset(seed=0, **reset)
    outcomes = [(observation, 0.0, info)]
    for action in actions:
        observation, reward, over, _, info = env.step(action)
        outcomes.append((observation, reward, info))
    assert over == env.unwrapped.episode.is_over()
    return outcomes


def column(env, observation, array, name):
    of = {"claims": "claim"}.get(array, array)
    return observation[array][..., env.layout.index(name, of)]


def test_expected_settlement_pays_the_final_memory():
    odyssey = MemorizationEnv("odyssey", capacity=3, settlement="expected", closing=10)
    # e1 and e3 into slots 0 and 1, e4 into slot 2: .25 + .35 + .20 of the mass.
    *_, (_, reward, info) = play(odyssey, [1, 0, 2, 3, 0, 0])
    assert reward == pytest.approx(10 * 0.80)
    assert info["coverage"] == pytest.approx(0.80)
    assert info["precision"] == pytest.approx(0.80)
    assert info["size"] == 3
    assert info["settled"] == pytest.approx(8.0)


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


def settle(env, query):
    """Settle one query against the current memory and give what changes."""
    return env.episode.account.settle(query, env.episode.slots.stored)


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


def redraw(env, number):
    from memenvs.counter import QUERY, uniforms

    return float(uniforms(env.episode.account.key, QUERY, number))


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


def test_a_pool_ends_after_its_decisions():
    env = MemorizationEnv(material(), access="pool", capacity=2, decisions=3)
    env.reset(seed=0)
    first = env.actions.first_consider
    overs = [env.step(action)[2] for action in (first, 1, first + 1)]
    assert overs == [False, False, True]


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


def test_files_of_many_materials_are_drawn_from_and_chosen_from(tmp_path):
    other = material(truth=(True,) * 4)
    other = Material("other", other.claims[:3], other.items[:2], other.queries)
    path = tmp_path / "two.jsonl"
    memenvs.save_materials([material(), other], path)
    env = MemorizationEnv(str(path), capacity=2)
    names = {env.reset(seed=seed) and env.material.name for seed in range(20)}
    assert names == {"four", "other"}
    observation, _ = env.reset(options={"material": 1})
    assert env.material == other
    assert observation in env.observation_space
    env.reset(options={"material": material()})
    assert env.material.name == "four"


def test_a_material_beyond_the_maxima_is_refused_with_the_remedy():
    env = MemorizationEnv("odyssey")
    odd = Material(
        "big", tuple(Claim(id=f"c{i}", text="x") for i in range(9)), (), (Query(id="q"),)
    )
    with pytest.raises(memenvs.MaterialError, match=r"big: has 9 claims .* max_claims=9"):
        env.reset(options={"material": odd})
    env = MemorizationEnv("odyssey", max_claims=9)
    observation, _ = env.reset(options={"material": odd})
    assert observation in env.observation_space


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
