"""The oracle that follows the best course is paid what every run of writes was searched for."""

import numpy as np
import pytest

from instances import random_material
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.materials.odyssey import odyssey
from memenvs.objective import Objective
from memenvs.optimal.arrival import arrival_bound
from memenvs.policies import make
from players import run


def paid(env):
    """Give what an episode of the oracle is paid in expectation."""
    policy = make("optimal-course", env)
    observation, _ = env.reset(seed=0)
    state, over, total = None, False, 0.0
    while not over:
        masks = env.action_masks()
        action, state = policy.predict(observation, state, action_masks=masks)
        observation, reward, terminated, truncated, _ = env.step(action)
        over, total = terminated or truncated, total + reward
    return total


@pytest.mark.parametrize("action", ["slots", "priority"])
def test_it_is_paid_what_nobody_exceeds(action):
    for seed in range(12):
        drawn = random_material(np.random.default_rng(seed), 9, 8, composite=0.3, false_share=0.3)
        env = MemorizationEnv(
            drawn, capacity=3, every=1, closing=2, settlement="expected", action=action
        )
        bound = arrival_bound(drawn, Objective("precision"), env.unwrapped.rules)
        assert bound.attained
        assert paid(env) == pytest.approx(bound.total)


def test_a_batch_does_the_same():
    env = MemorizationEnv(odyssey(), capacity=2, every=1)
    batch = MemorizationVectorEnv(odyssey(), num_envs=2, capacity=2, every=1)
    alone = run(make("optimal-course", env), env)[0]
    policy = make("optimal-course", batch)
    observation, _ = batch.reset(seed=0)
    actions, _ = policy.predict(observation, action_masks=batch.action_masks())
    assert actions.shape == (2,)
    assert (actions > 0).tolist() == [bool(alone)] * 2


def test_where_no_course_is_known_it_is_the_best_memory_at_the_end():
    for settings in ({"reader": "similarity:1"}, {"access": "pool"}):
        env = MemorizationEnv(odyssey(), capacity=2, utility="precision", **settings)
        assert run(make("optimal-course", env), env) == run(make("optimal", env), env)
