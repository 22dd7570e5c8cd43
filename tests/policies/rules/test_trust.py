"""The strongest hand-written rule: a sequence worked out by hand, and what holds for any."""

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.rules.trust import Trust
from memenvs.policies.rules.trust_constants import DEFAULT, TABLE, TrustConstants
from memenvs.policies.training_materials import tier_of
from players import SETTINGS, material, run

PLAIN = TrustConstants(power=1, penalty=0, own=1, neighbours=0, apart=0.5, same=1.0)


def told(source, vector, *, truth=True, importance=0.5, style=0.0):
    return source, vector, truth, {"importance": importance, "style": style}


def one_query(told_claims, answering):
    """Material whose only query lies along the first axis."""
    claims = tuple(
        Claim(id=f"c{i}", source=s, embedding=tuple(v), truth=t, cues=tuple(cues.items()))
        for i, (s, v, t, cues) in enumerate(told_claims)
    )
    items = tuple(Item(id=f"n{i}", supports=((f"c{i}",),), answers=("q",)) for i in answering)
    return Material("told", claims, items, (Query(id="q", embedding=(1.0, 0.0, 0.0)),))


ASKED, OTHER, THIRD = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NEAR = (0.75, 0.0, 0.4375**0.5)  # similarity .75 to what is asked
NEARER = (0.9, 0.19**0.5, 0.0)  # .9


def test_a_sequence_by_hand():
    """One query is asked after every decision, so the topic's count is n · similarity + 1.

    Trust is (1 + successes) / (2 + all) of the source, corrected by the claim's own record.
    """
    claims = [
        told("liar", ASKED, truth=False),
        told("honest", OTHER),
        told("honest", ASKED),
        told("liar", ASKED),
        told("new", THIRD),
        told("honest", NEAR),
        told("new", OTHER),
        told("new", ASKED),
        told("honest", NEARER),
    ]
    env = MemorizationEnv(one_query(claims, answering=[0, 2]), capacity=2, every=1)
    assert run(Trust(env, constants=PLAIN), env) == [
        [0],  # debited at once
        [0, 1],
        [1, 2],  # 0: (1/4)/3 · 3 = .25 and repeated by a better one; 1: 1/2; 2: 1/2 · 3
        [1, 2],  # 3: 1/4 · 4 = 1, but it repeats 2, which is worth (1 + 2/3)/2 · 4
        [1, 2],  # 4: 1/2 · 1; 1: 3/4 · 1
        [2, 5],  # 5: 4/5 · 4.75 · (1 - .5) = 1.9 beside 2; 1: 4/5
        [2, 5],  # 6: 1/2; 5: 5/6 · 5.5 · .5
        [2, 5],  # 7: 1/2 · 8 = 4, but it repeats 2, worth (5 + 6/7)/6 · 8
        [2, 5],  # 8: 7/8 · 8.2 · .2 = 1.435; 5: 7/8 · 7 · .5 · .65 = 1.99
    ]


def test_sources_that_boast_are_doubted():
    claims = [
        told("boaster", OTHER, importance=0.9),
        told("boaster", THIRD, importance=0.9),
        told("modest", ASKED, importance=0.5),
    ]
    env = MemorizationEnv(one_query(claims, answering=[2]), capacity=2)
    assert run(Trust(env, constants=PLAIN), env)[-1] == [0, 1]  # .9 against .5
    # .9 · exp(-2 · .9) = .149 against .5 · exp(-2 · .5) = .184
    doubting = TrustConstants(power=1, penalty=2, own=1, neighbours=0, apart=0.5, same=1.0)
    assert run(Trust(env, constants=doubting), env)[-1] == [1, 2]


def test_sources_of_like_style_share_their_record():
    claims = [
        told("liar", ASKED, truth=False, style=4.0),  # debited twice
        told("honest", OTHER, style=-4.0),
        told("alike", THIRD, style=4.0),
    ]
    env = MemorizationEnv(one_query(claims, answering=[0]), capacity=2, every=1)

    def worths(neighbours):
        constants = TrustConstants(2, 0, 1, neighbours, apart=0.5, same=1.0)
        policy, state = Trust(env, constants=constants), None
        observation, _ = env.reset(seed=0)
        for action in (1, 2):
            _, state = policy.predict(observation, state)
            observation, *_ = env.step(action)
        batch = {name: array[None] for name, array in observation.items()}
        return policy.judge(batch, state).worth[0]

    assert worths(0)[2] == pytest.approx(0.25 * 0.5)  # nothing known of the third source
    assert worths(1)[2] == pytest.approx((1 / 4) ** 2 * 0.5)  # two failures of its like


@pytest.mark.parametrize("kind", SETTINGS)
def test_materials_without_cues_and_sources_are_played(kind):
    env = MemorizationEnv(material(), capacity=3, **SETTINGS[kind])
    assert tier_of(env) is None
    history = run(make("trust", env), env, episodes=2)
    assert len(history[-1]) >= 2


@pytest.mark.parametrize("number", range(3))
def test_batch_equals_single(number):
    kind = {0: {"every": 2}, 1: SETTINGS["pool"], 2: {"every": 3, "action": "priority"}}[number]
    single = MemorizationEnv("worlds", split="validation", capacity=4, **kind)
    batch = MemorizationVectorEnv(
        "worlds", split="validation", capacity=4, num_envs=3, **kind, autoreset_mode="Disabled"
    )
    alone = make("trust", single)
    together = make("trust", batch)
    observation, _ = batch.reset(seed=0)
    states, state = [None] * 3, None
    for _ in range(30):
        actions, state = together.predict(observation, state)
        for place in range(3):
            own = {name: array[place] for name, array in observation.items()}
            action, states[place] = alone.predict(own, states[place])
            assert np.allclose(action, actions[place])
        observation, *_ = batch.step(actions)


def test_the_table_is_of_tiers():
    env = MemorizationEnv("hidden-train-0", capacity=3)
    assert tier_of(env).name == "hidden"
    assert Trust(env).constants == TABLE.get("hidden", DEFAULT)
    env = MemorizationEnv("odyssey", capacity=3)
    assert Trust(env).constants == DEFAULT
