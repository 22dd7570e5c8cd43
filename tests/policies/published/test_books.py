"""What a memory knows of its slots, against what the environment did."""

import numpy as np
import pytest

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.materials.library import find_materials
from memenvs.policies import make
from memenvs.policies.published.books import Books
from memenvs.policies.published.store import KEPT
from memories import told


def books_of(state):
    return Books(*state[:KEPT])


def test_a_settlement_after_the_write_is_a_recall():
    # Claims 0 and 2 answer the query, which is settled after every decision.
    env = MemorizationEnv(told("abcd", times=[0, 1, 2, 3], answering=[0, 2]), capacity=2, every=1)
    policy = make("memorybank", env)
    observation, _ = env.reset(seed=0)
    action, state = policy.predict(observation)
    expected = [
        # recalls, and decision and time of the last use
        ([1, 0], [[0, 0], [0, 0]]),
        ([2, 0], [[1, 1], [1, 1]]),
        ([3, 1], [[2, 2], [2, 2]]),  # 2 is in the place of 1
    ]
    for recalls, used in expected:
        observation, *_ = env.step(action)
        action, state = policy.predict(observation, state)
        books = books_of(state)
        assert books.recalls[0].tolist() == recalls
        occupied = books.written[0] >= 0
        assert books.used[0, occupied].tolist() == np.array(used)[occupied].tolist()


@pytest.mark.parametrize("access", ["stream", "pool"])
def test_writes_are_told_by_their_age(access):
    (material,) = find_materials("hidden", "train", 1)
    env = MemorizationEnv(material, capacity=4, **{**LEVELS["1b"], "access": access})
    policy = make("generative-agents", env)
    observation, _ = env.reset(seed=3)
    state, over, written = None, False, np.full(4, -1)
    while not over:
        action, state = policy.predict(observation, state)
        books = books_of(state)
        assert books.written[0].tolist() == written.tolist()
        decision = env.episode.decision
        observation, _, over, _, _ = env.step(action)
        if env.actions.first_write <= action < env.actions.first_consider:
            written[action - env.actions.first_write] = decision
    policy.held({k: v[None] for k, v in observation.items()}, state)


def test_a_long_stream_is_not_confused_by_rounding():
    env = MemorizationEnv(told([f"a{i / 100}" for i in range(4000)]), capacity=3)
    policy = make("letta", env)
    observation, _ = env.reset(seed=0)
    state = None
    for decision in range(600):
        action, state = policy.predict(observation, state)
        assert sorted(books_of(state).written[0]) == sorted(
            [-1] * (3 - min(decision, 3)) + list(range(max(0, decision - 3), decision))
        )
        observation, *_ = env.step(action)
