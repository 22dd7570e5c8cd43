"""MaskablePPO with the estimator as an auxiliary loss: what trains what, and what is kept."""

import io

import numpy as np
import pytest
import torch

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies.base import attribute
from memenvs.policies.learned.networks.estimator_pointer import EstimatorPointerPolicy
from memenvs.train.learn.auxiliary import AuxiliaryMaskablePPO
from memenvs.train.learn.estimators import fit
from memenvs.train.learn.history_env import HistoryVecEnv
from memenvs.train.vec_env import SB3VecEnv
from trainings import small

SIZES = {"n_steps": 32, "batch_size": 64, "n_epochs": 2}


def inner(episodes=8):
    batch = MemorizationVectorEnv(
        "hidden", split="train", capacity=4, every=2, num_envs=episodes, autoreset_mode="SameStep"
    )
    return SB3VecEnv(batch)


def model(steps=3):
    env = HistoryVecEnv(inner())
    env.seed(0)
    options = {name: attribute(env, name) for name in ("layout", "actions")} | {"hidden": 16}
    return AuxiliaryMaskablePPO(
        EstimatorPointerPolicy,
        env,
        estimator_steps=steps,
        estimator_batch=32,
        policy_kwargs=options,
        seed=0,
        device="cpu",
        **SIZES,
    )


def weights(module):
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}


def same(one, other):
    return all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_rewards_train_the_pointer_and_settlements_the_estimator():
    without = model(steps=0)
    pointer, estimator = (
        weights(without.policy.mlp_extractor),
        weights(without.policy.estimator),
    )
    without.learn(256)
    assert same(estimator, weights(without.policy.estimator))
    assert not same(pointer, weights(without.policy.mlp_extractor))
    with_steps = model(steps=3).learn(256)
    assert not same(estimator, weights(with_steps.policy.estimator))
    assert with_steps.logger.name_to_value["estimator/true"] > 0
    # The policy was updated before the estimator: its first update is the same with and without.
    assert same(weights(with_steps.policy.mlp_extractor), weights(without.policy.mlp_extractor))


def test_it_keeps_what_was_settled():
    trained = model().learn(256)
    settled = 8 * 16  # every second decision, and at the end
    assert 0 < len(trained.replay_buffer) <= settled
    drawn = trained.replay_buffer.take(np.arange(len(trained.replay_buffer)))
    assert drawn["settled"].max() == 15
    assert (drawn["right"] <= drawn["settled"]).all()


def test_it_goes_on_after_loading_as_if_nothing_had_happened():
    trained = model().learn(256)
    file, settlements = io.BytesIO(), io.BytesIO()
    trained.save(file)
    trained.save_replay_buffer(settlements)
    assert len(file.getvalue()) < 3e6  # the settlements are not in it
    file.seek(0)
    settlements.seek(0)
    again = AuxiliaryMaskablePPO.load(file, env=trained.env, device="cpu")
    again.load_replay_buffer(settlements)
    again.set_logger(trained.logger)
    assert again.num_timesteps == 256
    for each in (trained, again):  # from the same place on, with the same chance
        each.env.seed(11)
        each.set_random_seed(5)
        each._last_obs = None
        each.learn(256, reset_num_timesteps=False)
    assert same(weights(trained.policy), weights(again.policy))
    assert same_state(trained.estimator_optimizer, again.estimator_optimizer)


def same_state(one, other):
    one, other = one.state_dict()["state"], other.state_dict()["state"]
    return len(one) > 0 and all(torch.equal(one[at]["exp_avg"], other[at]["exp_avg"]) for at in one)


def test_what_it_needs_is_said():
    env = inner()
    options = {name: attribute(env, name) for name in ("layout", "actions")}
    with pytest.raises(ValueError, match="estimator-pointer"):
        AuxiliaryMaskablePPO("MultiInputPolicy", HistoryVecEnv(env), device="cpu", **SIZES)
    bare = HistoryVecEnv(env)
    built = AuxiliaryMaskablePPO(
        EstimatorPointerPolicy, bare, policy_kwargs=options, device="cpu", **SIZES
    )
    built.env = env
    with pytest.raises(ValueError, match="HistoryVecEnv"):
        built.collect_rollouts(env, None, built.rollout_buffer, 1)


def test_the_history_is_in_terminal_observations():
    env = HistoryVecEnv(inner(2))
    env.seed(0)
    env.reset()
    for _ in range(32):
        observation, _, dones, infos = env.step(np.zeros(2, dtype=np.int64))
    assert dones.all()
    valid = attribute(env, "layout").index("valid")
    for i, info in enumerate(infos):
        assert info["terminal_observation"]["history"][:, valid].sum() == 32
        assert observation["history"][i, :, valid].sum() == 1
        assert env.observation_space.contains({name: a[i] for name, a in observation.items()})


def test_the_fit_takes_the_adapter():
    played = []
    sizes = {"rounds": 2, "hidden": 8}
    training = small(algorithm="estimator", network="mlp", steps=256, hyperparameters=sizes)
    found = fit(training, inner(), 0, "cpu", played.append)
    assert played[-1] == 256
    assert found.state_dict()["true.0.weight"].shape[0] == 8
