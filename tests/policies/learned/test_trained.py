"""Trained models as policies: they decide as stable-baselines3 would, and never illegally."""

from __future__ import annotations

import zipfile
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.utils import obs_as_tensor

import memenvs  # noqa: F401 - registers the environments
from memenvs import policies
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies.learned.models import find_models, is_model, unseen
from memenvs.policies.learned.networks.estimator import SettlementEstimator
from memenvs.policies.learned.saved import read_card, save_entries, write_card
from saved_models import make_env, save_estimator, train

EASY = "odyssey-noisy"
SLOTS = {"capacity": 3}
TRAINED_ON = (EASY,)


def play(policy, env, seed=0, steps=24):
    """Observations, actions and states of a batch that a policy plays."""
    env.seed(seed)
    observation, state, begun = env.reset(), None, np.ones(env.num_envs, dtype=bool)
    seen = []
    for _ in range(steps):
        actions, after = policy.predict(observation, state, begun)
        seen.append((observation, actions, begun))
        observation, _, begun, infos = env.step(actions)
        state = after
        assert all(info.get("illegal_action", 0) == 0 for info in infos)
    return seen


@pytest.mark.parametrize("algorithm", ["maskable-ppo", "ppo", "a2c", "dqn", "qr-dqn"])
def test_a_model_decides_as_its_algorithm_does_among_the_legal_actions(tmp_path, algorithm):
    path = tmp_path / "best_model.zip"
    model = train(path, EASY, algorithm, trained_on=TRAINED_ON, **SLOTS)
    env = make_env(EASY, **SLOTS)
    policy = policies.load(path, env)
    for observation, actions, _ in play(policy, env):
        tensors = obs_as_tensor(observation, "cpu")
        with torch.no_grad():
            if algorithm == "dqn":
                scores = model.q_net(tensors)
            elif algorithm == "qr-dqn":
                scores = model.quantile_net(tensors).mean(dim=1)
            else:
                scores = model.policy.get_distribution(tensors).distribution.logits
        legal = observation["action_mask"] == 1
        assert (actions == np.where(legal, scores.numpy(), -np.inf).argmax(axis=1)).all()
        if algorithm == "maskable-ppo":
            own, _ = model.predict(observation, deterministic=True, action_masks=legal)
            assert (actions == own).all()


@pytest.mark.parametrize("network", ["pointer", "set-transformer", "estimator-pointer"])
def test_a_network_of_ours_plays_other_sizes_than_it_was_trained_at(tmp_path, network):
    path = tmp_path / "best_model.zip"
    model = train(path, "readable", "maskable-ppo", network)
    for tier, capacity in (("readable", 4), ("readable-128", 16)):
        env = make_env(tier, capacity=capacity, every=4)
        for observation, actions, begun in play(policies.load(path, env), env, steps=20):
            if model.policy.needs_history and not begun.all():
                continue  # what was read is not in the observation
            read = {"history": observation["claim"][:, None]}
            with torch.no_grad():
                logits = model.policy.action_logits(obs_as_tensor(observation | read, "cpu"))
            legal = observation["action_mask"] == 1
            assert (actions == np.where(legal, logits.numpy(), -np.inf).argmax(axis=1)).all()


@pytest.mark.parametrize("algorithm", ["ppo", "a2c"])
def test_priorities_are_the_mean_of_the_distribution(tmp_path, algorithm):
    path = tmp_path / "best_model.zip"
    arguments = {"capacity": 3, "action": "priority"}
    model = train(path, EASY, algorithm, trained_on=TRAINED_ON, **arguments)
    env = make_env(EASY, **arguments)
    for observation, actions, _ in play(policies.load(path, env), env):
        own, _ = model.predict(observation, deterministic=True)
        assert np.allclose(actions, own, atol=1e-6)


def test_the_recurrent_state_of_an_episode_is_its_own(tmp_path):
    path = tmp_path / "best_model.zip"
    arguments = {"capacity": 3, "action": "priority"}
    model = train(path, EASY, "recurrent-ppo", trained_on=TRAINED_ON, **arguments)
    env = make_env(EASY, **arguments)
    state = None
    for observation, actions, begun in play(policies.load(path, env), env):
        own, state = model.predict(observation, state, begun, deterministic=True)
        assert np.allclose(actions, own, atol=1e-6)


def test_one_observation_is_decided_as_a_batch_of_one(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, "readable", network="estimator-pointer")
    env = gym.make("memenvs/Readable-v0")
    single, batched = policies.load(path, env), policies.load(path, env)
    observation, _ = env.reset(seed=1)
    state = states = None
    for _ in range(12):
        action, state = single.predict(observation, state)
        batch = {name: array[None] for name, array in observation.items()}
        actions, states = batched.predict(batch, states)
        assert action == actions[0]
        observation, *_ = env.step(action)


def test_without_an_environment_the_card_says_what_it_plays(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path)
    env = make_env("readable", every=2)
    (one, _), (two, _) = (policies.load(path, where).predict(env.reset()) for where in (env, None))
    assert (one == two).all()
    pool = tmp_path / "pool.zip"
    train(pool, EASY, access="pool", disclosure="all", capacity=3)
    with pytest.raises(ValueError, match="name the environment"):
        policies.load(pool)
    known = make_env(EASY, access="pool", disclosure="all", capacity=3)
    play(policies.load(pool, known), known)


def test_an_ensemble_averages_probabilities(tmp_path):
    for seed in (0, 1, 2):
        path = tmp_path / f"seed-{seed}" / "best_model.zip"
        train(path, EASY, seed=seed, trained_on=TRAINED_ON, **SLOTS)
    env = make_env(EASY, **SLOTS)
    together = policies.load(tmp_path, env)
    alone = [policies.load(tmp_path / f"seed-{seed}", env) for seed in (0, 1, 2)]
    differ = False
    for observation, actions, _ in play(together, env, steps=60):
        masks = observation["action_mask"] == 1
        each = [one._networks[0].prefer(observation, masks, ())[0] for one in alone]
        assert np.allclose([p.sum(axis=1) for p in each], 1, atol=1e-5)
        assert (actions == np.mean(each, axis=0).argmax(axis=1)).all()
        differ |= any((p.argmax(axis=1) != actions).any() for p in each)
    assert differ


def test_several_estimators_are_one_policy(tmp_path):
    env = make_env("hidden", every=2, capacity=6)
    for seed in (0, 1):
        torch.manual_seed(seed)
        path = tmp_path / f"seed-{seed}" / "best_model.zip"
        save_estimator(path, SettlementEstimator(env.get_attr("layout")[0], 8), env, seed=seed)
    together = policies.load(tmp_path, env)
    alone = [policies.load(tmp_path / f"seed-{seed}", env) for seed in (0, 1)]
    observation = env.reset()
    shown = {**observation, "history": observation["claim"][:, None]}
    mean, one, other = (policy.judge(shown).true for policy in (together, *alone))
    assert torch.allclose(mean, (one + other) / 2)
    assert not torch.allclose(one, other)
    play(together, env)
    train(tmp_path / "seed-2" / "best_model.zip", "hidden", seed=2, every=2, capacity=6)
    with pytest.raises(ValueError, match="one policy cannot be made of"):
        policies.load(tmp_path, env)


def test_models_are_found_and_those_that_saw_a_material_are_left_out(tmp_path):
    for name, rest in (("one", ("two", "three")), ("two", ("one", "three"))):
        for seed in (2, 10):
            path = tmp_path / f"without-{name}" / f"seed-{seed}" / "best_model.zip"
            train(path, EASY, seed=seed, trained_on=rest, **SLOTS)
    models = find_models(tmp_path)
    assert [model.card.seed for model in models] == [2, 2, 10, 10]
    assert {m.path.parts[-3] for m in unseen(models, "one")} == {"without-one"}
    assert unseen(models, "three") == models  # all of them saw it
    assert unseen(models, "new") == models


def test_a_split_that_was_trained_on_was_seen(tmp_path):
    train(tmp_path / "best_model.zip")
    (model,) = find_models(tmp_path)
    assert model.has_seen("readable-train-17")
    assert not model.has_seen("readable-test-17")
    assert not model.has_seen("readable-128-train-17")


def test_paths_are_told_from_names(tmp_path, monkeypatch):
    train(tmp_path / "run" / "best_model.zip", EASY, **SLOTS)
    monkeypatch.chdir(tmp_path)
    assert is_model("run")
    assert policies.is_path("run:ensemble")
    assert policies.is_path("x/y")
    assert not policies.is_path("trust")
    assert not policies.is_path("supervised:folder/x.model.json")
    with pytest.raises(ValueError, match="no policy is named 'rum'; choose from random, fifo"):
        policies.make("rum", None)


def test_what_does_not_fit_says_why(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, EASY, trained_on=TRAINED_ON, **SLOTS)
    for arguments, words in (
        ({"capacity": 2}, r"'mlp' takes 'action_mask' of \(4,\) alone"),
        ({"capacity": 3, "action": "priority"}, "action='slots'; this environment has 'priority'"),
        ({"capacity": 3, "clearing": True}, "clears=False"),
        ({"capacity": 3, "access": "pool"}, "access='stream'"),
    ):
        with pytest.raises(ValueError, match=words):
            policies.load(path, MemorizationEnv(EASY, **arguments))
    with pytest.raises(ValueError, match=r"'claim' differs in embedding\*64"):
        policies.load(path, MemorizationEnv("readable-test-0", **SLOTS))
    with pytest.raises(ValueError, match="there is no such model"):
        policies.load(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"holds no best_model\.zip"):
        policies.load(tmp_path / "empty")


def test_a_damaged_model_says_so(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, EASY, trained_on=TRAINED_ON, **SLOTS)
    with zipfile.ZipFile(path) as whole:
        entries = {name: whole.read(name) for name in whole.namelist() if name != "policy.pth"}
    save_entries(tmp_path / "half.zip", entries, read_card(path))
    with pytest.raises(ValueError, match=r"half\.zip: holds no 'policy\.pth'"):
        policies.load(tmp_path / "half.zip")
    card = read_card(path)
    for claim in ({}, {"claim": []}, {"claim": ["embedding*wide"]}):
        columns = {name: names for name, names in card.columns.items() if name != "claim"}
        write_card(path, replace(card, columns=columns | claim))
        with pytest.raises(ValueError, match="observations have other columns; train it again"):
            policies.load(path)
