"""A mixture of policies: which row is whose, and that states do not mix."""

import numpy as np
import pytest

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.base import Policy
from memenvs.policies.learned.mixture import Mixture


class Counting(Policy):
    """Acts by how many steps of an episode it saw, from a number of its own."""

    first = 0

    def start(self, episodes):
        return (np.full(len(episodes), self.first),)

    def act(self, observation, masks, state):
        return state[0], (state[0] + 1,)


@pytest.fixture(scope="module")
def env():
    return MemorizationVectorEnv("hidden", num_envs=5, capacity=6, every=2)


def counting(env, first):
    policy = Counting(env)
    policy.first = first
    return policy


def test_row_i_is_played_by_member_i_mod_k(env):
    observation, _ = env.reset(seed=0)
    mixture = Mixture([counting(env, 10), counting(env, 20)])
    actions, state = mixture.predict(observation)
    assert actions.tolist() == [10, 20, 10, 20, 10]
    begun = np.array([False, True, False, False, True])
    actions, state = mixture.predict(observation, state, begun)
    assert actions.tolist() == [11, 20, 11, 21, 10]
    actions, _ = mixture.predict(observation, state, np.zeros(5, dtype=bool))
    assert actions.tolist() == [12, 21, 12, 22, 11]


def test_members_beyond_the_rows_do_not_play(env):
    observation, _ = env.reset(seed=0)
    rows = {name: array[:2] for name, array in observation.items()}
    mixture = Mixture([counting(env, first) for first in (1, 2, 3)])
    actions, state = mixture.predict(rows)
    assert actions.tolist() == [1, 2]
    assert mixture.predict(rows, state)[0].tolist() == [2, 3]


def test_each_member_plays_as_it_would_alone(env):
    members = [make("trust", env), make("random", env, seed=3)]
    mixture = Mixture(members).anew(7)
    alone = [make("trust", env, seed=7), make("random", env, seed=7)]
    states, state, begun = [None, None], None, np.ones(5, dtype=bool)
    observation, _ = env.reset(seed=1)
    for _ in range(50):
        actions, state = mixture.predict(observation, state, begun)
        for k, policy in enumerate(alone):
            rows = {name: array[k::2] for name, array in observation.items()}
            wanted, states[k] = policy.predict(rows, states[k], begun[k::2])
            np.testing.assert_array_equal(actions[k::2], wanted)
        observation, _, terminated, truncated, _ = env.step(actions)
        begun = terminated | truncated
    assert begun.shape == (5,)


def test_anew_forgets_what_was_played(env):
    observation, _ = env.reset(seed=0)
    policy = make("random", env, seed=3)
    first, _ = policy.predict(observation)
    later, _ = policy.predict(observation)
    assert first.tolist() != later.tolist()  # other episodes of the same policy
    again, _ = policy.anew(3).predict(observation)
    assert again.tolist() == first.tolist()
