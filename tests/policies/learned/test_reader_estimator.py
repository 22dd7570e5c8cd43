"""The policy on the reading estimator: fitted from settlements, saved, averaged, refused."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import load, make
from memenvs.policies.learned.networks.fitting import fit_estimator
from memenvs.policies.learned.networks.reading_fitting import fit_reader
from memenvs.policies.learned.reader_estimator import ReaderEstimator
from memenvs.train.learn.environments import materials_of, named
from memenvs.train.play import play
from memenvs.train.units import units_of
from saved_models import save_estimator

SETTINGS = dict(gym.spec("memenvs/ReadLimited-v0").kwargs)


def batch(split="train", **changes):
    settings = SETTINGS | {"split": split, "num_envs": 32, "autoreset_mode": "SameStep"}
    return MemorizationVectorEnv(**(settings | changes))


def fit(seed=0, steps=6144, **changes):
    torch.set_num_threads(1)
    return fit_reader(batch(**changes), steps=steps, rounds=2, passes=6.0, hidden=24, seed=seed)


@pytest.fixture(scope="module")
def estimator():
    return fit()


def played(build, count=96):
    env = MemorizationVectorEnv(**SETTINGS | {"split": "validation"}, num_envs=32)
    instances = named(materials_of(env.materials, count))
    found = [each.values for each in play(env, build(env), units_of(instances, count))]
    assert not any(values["illegal"] for values in found)
    return np.array([values["utility"] for values in found])


def test_it_learns_from_settlements_what_the_reader_will_find(estimator):
    learned = played(lambda env: ReaderEstimator(env, estimator=estimator))
    chance = played(lambda env: make("reservoir", env))
    difference = learned - chance
    assert difference.mean() > 4 * difference.std() / np.sqrt(len(difference))
    assert learned.mean() > 1.5 * chance.mean()


def test_equal_seeds_fit_equal_estimators(estimator):
    first, second = (fit(seed=3, steps=512).state_dict() for _ in range(2))
    for name, weights in first.items():
        assert torch.equal(weights, second[name])
    assert not torch.equal(first["true.0.weight"], estimator.state_dict()["true.0.weight"])


def test_a_saved_estimator_plays_the_same(estimator, tmp_path):
    path = save_estimator(tmp_path / "best_model.zip", estimator, batch(), kind="reader-estimator")
    expected = played(lambda env: ReaderEstimator(env, estimator=estimator), 32)
    for build in (lambda env: make(f"reader-estimator:{path}", env), lambda env: load(path, env)):
        assert played(build, 32).tolist() == expected.tolist()


def test_seeds_are_averaged(estimator, tmp_path):
    other = fit(seed=5, steps=512)
    for seed, each in enumerate((estimator, other)):
        folder = tmp_path / f"seed-{seed}" / "best_model.zip"
        save_estimator(folder, each, batch(), seed, kind="reader-estimator")
    env = batch("validation")
    together = make(f"reader-estimator:{tmp_path}", env)
    observation, _ = env.reset(seed=0)
    seen, _ = together.follow(observation, together.start(np.arange(32)))
    alone = [ReaderEstimator(env, estimator=each).losses(seen) for each in (estimator, other)]
    np.testing.assert_allclose(together.losses(seen), np.mean(alone, axis=0))


@pytest.mark.parametrize("changes", [{}, {"reader": "similarity:3"}, {"action": "priority"}])
def test_a_batch_equals_single_episodes(estimator, changes):
    settings = SETTINGS | {"split": "validation"} | changes
    single = MemorizationEnv(**settings)
    env = MemorizationVectorEnv(**settings, num_envs=3, autoreset_mode="Disabled")
    alone, together = (ReaderEstimator(each, estimator=estimator) for each in (single, env))
    observation, _ = env.reset(seed=0)
    states, state = [None] * 3, None
    for _ in range(32):
        actions, state = together.predict(observation, state)
        for place in range(3):
            own = {name: array[place] for name, array in observation.items()}
            action, states[place] = alone.predict(own, states[place])
            np.testing.assert_allclose(action, actions[place], rtol=1e-4)
        observation, *_ = env.step(actions)


def test_another_size_is_played_by_the_same_weights(estimator):
    env = gym.make("memenvs/ReadLimitedMedium-v0", split="validation")
    policy = ReaderEstimator(env, estimator=estimator)
    observation, _ = env.reset(seed=0)
    over, state = False, None
    while not over:
        action, state = policy.predict(observation, state)
        observation, _, over, _, info = env.step(action)
    assert info["illegal_action"] == 0
    assert info["size"] > 8


def test_what_it_cannot_learn_from_is_refused(estimator, tmp_path):
    with pytest.raises(ValueError, match="autoreset_mode='SameStep'"):
        fit(autoreset_mode="NextStep")
    with pytest.raises(ValueError, match="feedback='outcome'"):
        fit(feedback="outcome")
    with pytest.raises(ValueError, match=r"reader='bm25:1'"):
        make(
            "reader-estimator",
            gym.make("memenvs/OdysseyDisclosed-v0", reader="bm25:1", utility="end-to-end"),
        )
    with pytest.raises(ValueError, match=r"name a saved one: reader-estimator:PATH"):
        make(
            "reader-estimator",
            MemorizationEnv(
                "odyssey-noisy", capacity=3, every=1, utility="end-to-end", reader="similarity:1"
            ),
        )
    full = fit_estimator(batch(), steps=512, rounds=2, hidden=8)
    path = save_estimator(tmp_path / "best_model.zip", full, batch())
    with pytest.raises(ValueError, match="holds no reading estimator"):
        make(f"reader-estimator:{path}", batch("validation"))
