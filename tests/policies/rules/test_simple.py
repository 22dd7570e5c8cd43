"""The simplest memories, against sequences worked out by hand and against plain simulations."""

import numpy as np
import pytest

import memenvs.policies
from memenvs import Claim, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies import POLICIES, make
from players import SETTINGS, material, run

# Need materials to train on; have their own tests.
LEARNED = {"supervised", "bisimulation", "estimator", "estimator-ranker", "reader-estimator"}
# Each looks into the environment it is built for.
ORACLES = {"clairvoyant", "greedy", "optimal", "optimal-course"}


@pytest.mark.parametrize("kind", ["slots", "priority"])
def test_longest_keeps_the_longest(kind):
    env = MemorizationEnv(material(), capacity=3, action=kind)
    assert run(make("longest", env), env) == [
        [0],
        [0, 1],
        [0, 1, 2],
        [1, 2, 3],  # 7 replaces 3
        [1, 2, 3],
        [1, 3, 5],  # 8 replaces 5
        [1, 3, 5],
        [1, 3, 5],  # 6 does not replace 7
    ]


@pytest.mark.parametrize("kind", ["slots", "priority"])
def test_fifo_keeps_the_newest(kind):
    env = MemorizationEnv(material(), capacity=3, action=kind)
    assert run(make("fifo", env), env) == [
        [0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6, 7]
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["slots", "priority"])
def test_confidence_keeps_the_most_confident(kind):
    confidences = (0.5, 0.2, 0.9, 0.2, 0.6, 0.6, 0.1, 0.95)
    env = MemorizationEnv(material(confidences=confidences), capacity=2, action=kind)
    assert run(make("confidence", env), env) == [
        [0], [0, 1], [0, 2], [0, 2], [2, 4], [2, 4], [2, 4], [2, 7]
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["fifo", "longest", "confidence", "reservoir"])
def test_in_a_pool_every_claim_is_considered_once(name):
    confidences = (0.5, 0.2, 0.9, 0.2, 0.6, 0.6, 0.1, 0.95)
    env = MemorizationEnv(material(confidences=confidences), access="pool", capacity=2)
    history = run(make(name, env), env)
    assert env.episode.seen.all()
    best = {"fifo": [6, 7], "longest": [1, 5], "confidence": [2, 7]}
    if name in best:
        assert history[-1] == best[name]
    assert len(history[-1]) == 2


@pytest.mark.parametrize("kind", ["slots", "priority"])
def test_reservoir_keeps_every_claim_equally_often(kind):
    env = MemorizationEnv(material(), capacity=3, action=kind)
    policy = make("reservoir", env, seed=1)
    kept = np.zeros(8)
    for seed in range(1500):
        kept[run(policy, env, seed)[-1]] += 1
    # Expectation 562.5 of 1500 with a standard deviation of 18.7.
    assert np.abs(kept - 1500 * 3 / 8).max() < 4.5 * 18.7


@pytest.mark.parametrize("access", ["stream", "pool"])
def test_random_takes_every_legal_action_equally_often(access):
    env = MemorizationEnv(material(), capacity=3, access=access)
    policy = make("random", env, seed=2)
    observation, _ = env.reset(seed=0)
    legal = np.flatnonzero(env.action_masks())
    actions = [int(policy.predict(observation)[0]) for _ in range(4000)]
    counts = np.bincount(actions, minlength=env.actions.n)
    assert set(np.flatnonzero(counts)) == set(legal)
    expected = 4000 / len(legal)
    assert np.abs(counts[legal] - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("name", [n for n in POLICIES if n not in ORACLES | LEARNED])
def test_equal_seeds_give_equal_runs_and_a_batch_equals_singles(name, kind):
    def environment():
        return MemorizationEnv(material(), capacity=3, **SETTINGS[kind])

    env = environment()
    policy = make(name, env, seed=5)
    singles = [run(policy, env, seed)[-1] for seed in range(6)]
    again = make(name, env, seed=5)
    assert [run(again, env, seed)[-1] for seed in range(6)] == singles

    envs = [environment() for _ in range(6)]
    batch = make(name, env, seed=5)
    observations = [e.reset(seed=seed)[0] for seed, e in enumerate(envs)]
    state, start, finished = None, np.ones(6, dtype=bool), {}
    while len(finished) < 6:
        stacked = {key: np.stack([o[key] for o in observations]) for key in observations[0]}
        actions, state = batch.predict(stacked, state, start)
        start = np.zeros(6, dtype=bool)
        for i, e in enumerate(envs):
            if i not in finished:
                observations[i], _, over, _, _ = e.step(actions[i])
                if over:
                    finished[i] = np.flatnonzero(e.memory).tolist()
    assert [finished[i] for i in range(6)] == singles


@pytest.mark.parametrize("name", [n for n in POLICIES if n not in LEARNED])
@pytest.mark.parametrize("kind", SETTINGS)
def test_no_policy_takes_an_illegal_action(name, kind):
    env = MemorizationEnv(material(), capacity=3, strict=True, **SETTINGS[kind])
    run(make(name, env), env, episodes=5)


def test_names_are_checked():
    env = MemorizationEnv("odyssey")
    with pytest.raises(ValueError, match="no policy is named 'lifo'; choose from random, fifo"):
        make("lifo", env)
    claims = (Claim(id="c"),)
    silent = MemorizationEnv(Material("m", claims, (), (Query(id="q"),)))
    with pytest.raises(ValueError, match="'longest' needs claims with a text"):
        make("longest", silent)
    with pytest.raises(ValueError, match="no memorization environment"):
        make("fifo", object())


def test_only_oracles_are_privileged():
    privileged = {n for n in POLICIES if memenvs.policies.policy_class(n).privileged}
    assert privileged == ORACLES
