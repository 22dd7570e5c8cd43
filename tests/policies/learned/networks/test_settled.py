"""Kept settlements are given as they were heard, though what comes again is kept once."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.learned.networks.distinct import Distinct
from memenvs.policies.learned.networks.settled import Settlements
from memenvs.policies.learned.networks.tracker import Tracker

SETTINGS = {"material": "hidden", "split": "train", "capacity": 4, "every": 2, "closing": 15}


def batch(episodes):
    return MemorizationVectorEnv(**SETTINGS, num_envs=episodes, autoreset_mode="SameStep")


class Heard:
    """Settlements, and beside them a copy of every one that was ever added."""

    def __init__(self, kept):
        self.kept, self.rows = kept, []

    def __call__(self, observation, outcome):
        self.kept.add(observation, outcome)
        rows = observation | outcome._asdict()
        told = (outcome.settled > 0) & outcome.stored.any(axis=1)
        self.rows += [{n: a[i].copy() for n, a in rows.items()} for i in told.nonzero()[0].tolist()]

    def check(self, most):
        """The newest stand in a ring, as they were added."""
        ring = {number % most: row for number, row in enumerate(self.rows)}
        assert len(self.kept) == len(ring)
        found = self.kept.take(np.arange(len(ring)))
        assert found.keys() == self.rows[0].keys()
        for name, array in found.items():
            wanted = np.stack([ring[place][name] for place in range(len(ring))])
            assert array.dtype == wanted.dtype
            np.testing.assert_array_equal(array, wanted)


def play(env, told, steps):
    """Let ``told`` hear of what a policy plays."""
    tracker = Tracker(env.layout, env.rules, env.num_envs)
    tracker.tell(told)
    policy, state = make("reservoir", env), None
    observation, begun = tracker.begin(env.reset(seed=0)[0]), np.ones(env.num_envs, dtype=bool)
    for _ in range(steps):
        actions, state = policy.predict(observation, state, begun)
        observation, _, begun, _, infos = env.step(actions)
        finals = {i: infos["final_obs"][i] for i in begun.nonzero()[0].tolist()}
        observation = tracker.follow(observation, finals)


def test_settlements_are_given_as_they_were_added_and_old_ones_make_way():
    env, most = batch(16), 100
    heard = Heard(Settlements(most, env.layout))
    play(env, heard, 10)
    heard.check(most)
    play(env, heard, 170)  # 85 episodes more
    assert len(heard.rows) > 10 * most
    heard.check(most)
    assert len(heard.kept._distinct["history"]) < 16 * 180 / 2  # not all that was ever read


def test_a_pickle_gives_the_same_and_goes_on():
    env, most = batch(4), 100
    heard = Heard(Settlements(most, env.layout))
    play(env, heard, 40)
    heard.check(most)
    copy = pickle.loads(pickle.dumps(heard.kept))
    first, second = (kept.draw(50, np.random.default_rng(3)) for kept in (heard.kept, copy))
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array)
    heard.kept = copy
    heard.check(most)
    play(env, heard, 90)
    heard.check(most)


def test_what_comes_again_is_kept_once():
    env = batch(1)
    heard = Heard(Settlements(64, env.layout))
    play(env, heard, 32)
    assert len(heard.rows) == 16
    # The claims of an episode, and the row of what is not yet read.
    assert len(heard.kept._distinct["history"]) == 32 + 1
    assert len(heard.kept._distinct["queries"]) <= 15 + 1  # one a settlement, before the last


ROWS = arrays(
    np.float32, st.tuples(st.integers(1, 5), st.just(2)), elements=st.sampled_from([0, 1, 2])
)


@given(st.lists(ROWS, min_size=1), st.data())
def test_rows_have_numbers_of_their_own(batches, data):
    distinct, entered = Distinct(), []
    for rows in batches:
        entered.append((distinct.enter(rows), rows))
        if data.draw(st.booleans()):
            entered = [(distinct.keep(entered[-1][0]), rows)]  # only these stay
            assert len(distinct) == len(np.unique(rows, axis=0))
        if data.draw(st.booleans()):
            distinct = pickle.loads(pickle.dumps(distinct))
        for numbers, own in entered:
            np.testing.assert_array_equal(distinct.rows(numbers), own)
    every, rows = (np.concatenate(parts) for parts in zip(*entered, strict=True))
    assert len(set(every.tolist())) == len(set(map(tuple, rows.tolist())))
