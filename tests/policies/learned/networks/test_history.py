"""What was read, from observations alone, against what the environment knows."""

import numpy as np
import pytest

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.base import privileged
from memenvs.policies.learned.networks.history import History
from memenvs.policies.learned.networks.settled import Listener
from memenvs.policies.learned.networks.tracker import Tracker

SETTINGS = {"material": "hidden", "split": "train", "capacity": 4, "every": 2, "closing": 15}


def batch(episodes=5, **changes):
    return MemorizationVectorEnv(
        **(SETTINGS | changes), num_envs=episodes, autoreset_mode="SameStep"
    )


@pytest.mark.parametrize("action", ["slots", "priority"])
def test_slots_name_the_claims_that_the_environment_stores(action):
    env = batch(action=action)
    policy, history = make("random", env), History(env.layout, 4)
    observation, _ = env.reset(seed=1)
    read, state = history.enter(history.start(5), observation), None
    record = [env.layout.index(name) for name in ("credits", "debits")]
    for decided in range(1, 32):
        actions, state = policy.predict(observation, state)
        observation, *_ = env.step(actions)
        read = history.enter(read, observation)
        assert (read.size == decided + 1).all()
        for i, view in enumerate(privileged(env)):
            assert read.slots[i].tolist() == view.slots.tolist()
            for slot, claim in enumerate(view.slots.tolist()):
                if claim >= 0:
                    stored = observation["memory"][i, slot]
                    vector = env.layout.slice("embedding")
                    assert (read.claims[i, claim, vector] == stored[vector]).all()
                    assert (read.claims[i, claim, record] == stored[record]).all()
        unread = read.claims[:, decided + 1 :]
        assert (unread == 0).all()


def test_a_claim_keeps_its_record_when_it_makes_way():
    env = batch(1, capacity=1)
    history = History(env.layout, 1)
    observation, _ = env.reset(seed=3)
    read, credited = history.enter(history.start(1), observation), {}
    record = [env.layout.index(name) for name in ("credits", "debits")]
    for _ in range(31):
        observation, *_ = env.step(np.array([1]))  # each claim takes the slot
        read = history.enter(read, observation)
        credited[int(read.slots[0, 0])] = observation["memory"][0, 0, record]
    assert any(numbers.any() for numbers in credited.values())
    for claim, numbers in credited.items():
        assert (read.claims[0, claim, record] == numbers).all()


def test_outcomes_are_what_the_settlements_were():
    """Against the accounts of scalar environments: queries, right answers, credited claims."""
    env = batch(4)
    heard = []
    tracker = Tracker(env.layout, env.rules, 4)
    tracker.tell(lambda observation, outcome: heard.append(outcome))
    policy, state = make("reservoir", env), None
    observation = tracker.begin(env.reset(seed=7)[0])
    counts = np.zeros((2, 4))
    for _ in range(32):
        actions, state = policy.predict(observation, state)
        observation, rewards, ended, _, infos = env.step(actions)
        finals = {i: infos["final_obs"][i] for i in ended.nonzero()[0].tolist()}
        observation = tracker.follow(observation, finals)
        np.testing.assert_array_equal(heard[-1].right, rewards)
        counts += heard[-1].settled, heard[-1].right
        assert (heard[-1].debits * (1 - heard[-1].stored) == 0).all()
    assert counts[0].tolist() == [env.rules.total(32)] * 4
    for i, final in finals.items():
        record = final["memory"][..., [env.layout.index(n) for n in ("credits", "debits")]]
        assert (final["history"][:, env.layout.index("valid")] == 1).all()
        closing = heard[-1].credits[i].sum() + heard[-1].debits[i].sum()
        assert 0 < closing <= record.sum()


def test_what_is_told_is_of_the_candidates_before_the_decision():
    env = batch(2, capacity=2, every=1)
    tracker, heard = Tracker(env.layout, env.rules, 2), []
    tracker.tell(lambda observation, outcome: heard.append((observation, outcome)))
    tracker.begin(env.reset(seed=0)[0])
    for action in (1, 2, 0, 1):  # fill two slots, pass, replace the first
        tracker.follow(env.step(np.full(2, action))[0], {})
    stored = [outcome.stored[0].tolist() for _, outcome in heard]
    assert stored == [[0, 0, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]]


def test_pools_and_silent_feedback_are_refused():
    pool = MemorizationEnv("odyssey", capacity=2, access="pool", disclosure="all")
    with pytest.raises(ValueError, match="streams"):
        History(pool.layout, 2)
    silent = MemorizationEnv("odyssey", capacity=2, feedback="outcome")
    with pytest.raises(ValueError, match="feedback='outcome'"):
        Listener(silent.layout, silent.rules)
