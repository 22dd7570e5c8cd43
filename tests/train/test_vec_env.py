"""The native batch as stable-baselines3 sees it."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.train.vec_env import FINAL, SB3VecEnv, make_vec_env

ID = "memenvs/OdysseyDisclosed-v0"


def legal(env, rng):
    masks = np.stack(env.env_method("action_masks"))
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def test_it_plays_what_single_environments_play():
    env = make_vec_env(ID, 3, seed=5)
    singles = [Monitor(gym.make(ID)) for _ in range(3)]
    observation = env.reset()
    expected = [single.reset(seed=5 + i)[0] for i, single in enumerate(singles)]
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(30):
        for i in range(3):
            for name, array in expected[i].items():
                np.testing.assert_allclose(observation[name][i], array, atol=1e-6)
        actions = legal(env, rng)
        observation, rewards, dones, infos = env.step(actions)
        for i, single in enumerate(singles):
            expected[i], reward, terminated, truncated, info = single.step(actions[i])
            assert rewards[i] == reward
            assert dones[i] == (terminated or truncated)
            assert infos[i]["TimeLimit.truncated"] is False
            if dones[i]:
                ends += 1
                for name, array in expected[i].items():
                    last = infos[i]["terminal_observation"][name]
                    np.testing.assert_allclose(last, array, atol=1e-6)
                for name in FINAL:
                    assert infos[i][name] == pytest.approx(info[name])
                assert infos[i]["episode"]["r"] == info["episode"]["r"]
                assert infos[i]["episode"]["l"] == info["episode"]["l"]
                expected[i], _ = single.reset()
            else:
                assert "episode" not in infos[i]
    assert ends >= 9


def test_a_time_limit_truncates():
    env = make_vec_env(ID, 2, seed=0, max_episode_steps=4)
    env.reset()
    for step in range(1, 9):
        _, _, dones, infos = env.step(np.zeros(2, dtype=int))
        assert dones.tolist() == [step % 4 == 0] * 2
        for info in infos:
            assert info["TimeLimit.truncated"] is (step % 4 == 0)
            if step % 4 == 0:
                assert info["episode"]["l"] == 4
                assert info["size"] == 0  # what the memory holds where the episode is cut off
                assert "terminal_observation" in info


def test_seeds_and_options_are_used_once():
    def draws(env):
        env.reset()
        return env.batch.unwrapped._batch.account.draws.copy()

    env = make_vec_env(ID, 2, seed=3)
    first, second = draws(env), draws(env)
    assert not np.array_equal(first, second)
    env.seed(3)
    np.testing.assert_array_equal(draws(env), first)
    np.testing.assert_array_equal(draws(env), second)
    env = make_vec_env("memenvs/Readable-v0", 2, seed=3)
    env.set_options([{"material": 7}, {"material": 9}])
    chosen = env.reset()["claim"]
    assert not np.array_equal(env.reset()["claim"], chosen)
    env.set_options([{"material": 7}, {"material": 9}])
    np.testing.assert_array_equal(env.reset()["claim"], chosen)


def test_attributes_and_methods_reach_the_batch():
    env = make_vec_env(ID, 3, seed=0)
    env.reset()
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    assert env.get_attr("layout") == [env.batch.unwrapped.layout] * 3
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    env.set_attr("note", 7)
    assert env.get_attr("note", indices=1) == [7]
    with pytest.raises(ValueError, match="belongs to all environments"):
        env.set_attr("note", 8, indices=[0])
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gym.wrappers.TimeLimit) == [False] * 3
    env.close()


def test_pictures_come_through():
    env = make_vec_env(ID, 2, seed=0, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    assert len(images) == 2
    assert images[0].ndim == 3
    assert env.render().ndim == 3
    assert make_vec_env(ID, 2).get_images() == [None, None]


def test_another_autoreset_mode_is_refused():
    with pytest.raises(ValueError, match="needs autoreset_mode='SAME_STEP'"):
        SB3VecEnv(gym.make_vec(ID, num_envs=2))


def test_policies_and_oracles_play_on_it():
    env = make_vec_env(ID, 4, seed=0)
    for name in ("fifo", "random", "optimal"):
        policy, observation, state = make(name, env), env.reset(), None
        start = np.ones(4, dtype=bool)
        for _ in range(7):
            actions, state = policy.predict(observation, state, start)
            observation, _, start, infos = env.step(actions)
        assert start.all()
        assert all(info["illegal_action"] == 0 for info in infos)
        if name == "optimal":
            assert [info["precision"] for info in infos] == pytest.approx([0.8] * 4)


def test_maskable_ppo_learns_on_it():
    env = make_vec_env(ID, 8, seed=0)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=14, batch_size=56, n_epochs=2, seed=0)
    before = [p.detach().clone() for p in model.policy.parameters()]
    model.learn(448)
    assert model.num_timesteps == 448
    assert any(
        not torch.equal(a, b) for a, b in zip(before, model.policy.parameters(), strict=True)
    )
    assert len(model.ep_info_buffer) > 50
    mean, _ = evaluate_policy(model, env, n_eval_episodes=8)
    assert mean > 0


def test_priorities_train_with_plain_ppo():
    batch = MemorizationVectorEnv(
        "odyssey-noisy", num_envs=4, autoreset_mode="SAME_STEP", action="priority", capacity=3
    )
    env = SB3VecEnv(batch)
    PPO("MultiInputPolicy", env, n_steps=14, batch_size=28, n_epochs=1, seed=0).learn(112)
    single = MemorizationEnv("odyssey-noisy", action="priority", capacity=3)
    assert env.action_space == single.action_space


def test_a_reset_in_the_middle_counts_the_length_anew():
    env = make_vec_env(ID, 2, seed=0)
    env.reset()
    for _ in range(3):
        env.step(np.zeros(2, dtype=np.int64))
    env.reset()
    lengths, step = [], 0
    while not lengths:
        step += 1
        *_, dones, infos = env.step(np.zeros(2, dtype=np.int64))
        lengths = [info["episode"]["l"] for done, info in zip(dones, infos, strict=True) if done]
    assert lengths == [step, step]
