"""The tree around environments: it decides as its policy does, and advises alike in batches."""

import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

import memenvs  # noqa: F401 - registers the environments
from batches import random_material
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.train.vec_env import SB3VecEnv
from memenvs.wrappers import FlattenWithColumns, VectorWeightedTreeMemory, WeightedTreeMemory
from players import SETTINGS

EXCEPTIONS = ("unconventional shape", "different from the unwrapped version", "not having a spec")
MATERIALS = [random_material(np.random.default_rng(seed), claims=9) for seed in range(5)]
ENDLESS = {**LEVELS["1b"], "clearing": True, "every": 1}


def environment(**settings):
    return MemorizationEnv(MATERIALS, strict=True, **settings)


@pytest.mark.parametrize("mode", ["act", "advise"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_checkers_pass_with_no_warning_but_the_listed(setting, mode):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for check in (check_env, check_env_for_sb3):
            check(WeightedTreeMemory(MemorizationEnv(MATERIALS, **SETTINGS[setting]), mode=mode))
    unexpected = [w for w in caught if not any(known in str(w.message) for known in EXCEPTIONS)]
    assert not unexpected, [str(w.message) for w in unexpected]


@pytest.mark.parametrize("setting", SETTINGS)
def test_acting_is_the_policy_whatever_is_proposed(setting):
    """Of a pool the proposal still picks the claim: here both propose what the policy would."""
    plain, wrapped = environment(**SETTINGS[setting]), environment(**SETTINGS[setting])
    acting = WeightedTreeMemory(wrapped)
    policy = make("weighted-tree", plain)
    for seed in range(4):
        observation, _ = plain.reset(seed=seed)
        acting.reset(seed=seed)
        state, over = None, False
        while not over:
            action, state = policy.predict(observation, state)
            picks = plain.layout.pool and observation["context"][-1] == 1
            noise = acting.action_space.sample()
            observation, reward, over, _, info = plain.step(action)
            _, same_reward, same_over, _, _ = acting.step(action if picks else noise)
            assert (reward, over) == (same_reward, same_over)
            assert plain.episode.slots.claims.tolist() == wrapped.episode.slots.claims.tolist()
        assert info["illegal_action"] == 0


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("setting", ["stream", "pool", "priority", "endless"])
def test_advice_in_a_batch_is_the_advice_alone(setting, mode):
    settings = {**SETTINGS, "endless": ENDLESS}[setting]
    size, steps = 3, 60
    native = VectorWeightedTreeMemory(
        MemorizationVectorEnv(MATERIALS, num_envs=size, autoreset_mode=mode, **settings), "advise"
    )
    alone = [WeightedTreeMemory(MemorizationEnv(MATERIALS, **settings), "advise") for _ in range(3)]
    batch, _ = native.reset(seed=7)
    singles = [env.reset(seed=7 + i)[0] for i, env in enumerate(alone)]
    rng, over, informed = np.random.default_rng(1), [False] * size, 0.0
    for _ in range(steps):
        for i, single in enumerate(singles):
            alike(single, {name: batch[name][i] for name in batch})
        informed += sum(float(single["tree_memory"].sum()) for single in singles)
        actions = np.stack([drawn(env, rng) for env in alone])
        batch, _, terminated, _, infos = native.step(actions)
        for i, env in enumerate(alone):
            if over[i]:
                singles[i], over[i] = env.reset()[0], False
                continue
            singles[i], _, over[i], _, _ = env.step(actions[i])
            assert over[i] == terminated[i]
            if over[i] and mode == AutoresetMode.SAME_STEP:
                alike(singles[i], infos["final_obs"][i])
                singles[i], over[i] = env.reset()[0], False
    assert informed > 0


def alike(single, other):
    """The environments' own numbers may differ by rounding, the advice does not."""
    assert single.keys() == other.keys()
    for name in single:
        if name.startswith("tree"):
            assert np.array_equal(single[name], other[name]), name
        else:
            assert np.allclose(single[name], other[name], atol=1e-5), name


def drawn(env, rng):
    if isinstance(env.action_space, gym.spaces.Box):
        return rng.uniform(-1, 1, 1).astype(np.float32)
    return rng.choice(np.flatnonzero(env.get_wrapper_attr("action_masks")()))


def test_episodes_that_are_not_reset_go_on_as_they_were():
    settings = {"autoreset_mode": AutoresetMode.DISABLED, **LEVELS["1b"]}
    build = [
        VectorWeightedTreeMemory(MemorizationVectorEnv(MATERIALS, num_envs=2, **settings), "advise")
        for _ in range(2)
    ]
    for env in build:
        env.reset(seed=3)
        for _ in range(3):
            env.step(np.ones(2, dtype=np.int64))
    mask = {"reset_mask": np.array([True, False])}
    observation, _ = build[0].reset(seed=[11, None], options=mask)
    assert observation["tree_claim"][0].tolist() == pytest.approx([0.5, 0, 0.45, 0])
    after, *_ = build[0].step(np.ones(2, dtype=np.int64))
    other, *_ = build[1].step(np.ones(2, dtype=np.int64))
    assert all(np.array_equal(after[name][1], other[name][1]) for name in after)


def test_columns_have_names():
    flat = FlattenWithColumns(WeightedTreeMemory(environment(**SETTINGS["stream"]), "advise"))
    observation, _ = flat.reset(seed=0)
    named = dict(zip(flat.columns, observation.tolist(), strict=True))
    assert len(named) == len(observation)
    # One claim without an outcome under a task: .6 · .5 + .3 · (.5 + .5) / 2.
    assert named["tree_claim.retention"] == pytest.approx(0.5)
    assert named["tree_claim.priority"] == pytest.approx(0.45)
    assert named["tree_memory[0].lifecycle"] == named["tree_memory[0].missed"] == 0


def test_it_can_be_saved_and_made_by_its_spec():
    env = WeightedTreeMemory(gym.make("memenvs/Hidden-v0"), mode="advise")
    again = gym.make(env.spec)
    assert env.observation_space == again.observation_space
    assert pickle.loads(pickle.dumps(env)).observation_space == env.observation_space


def test_stable_baselines_sees_the_advice_at_the_end_too():
    batch = MemorizationVectorEnv(MATERIALS, num_envs=2, autoreset_mode="SameStep")
    env = SB3VecEnv(VectorWeightedTreeMemory(batch, "advise"))
    env.reset()
    for _ in range(9):
        _, _, done, infos = env.step(np.ones(2, dtype=np.int64))
    assert done.all()
    assert env.observation_space.contains(infos[0]["terminal_observation"])


def test_what_cannot_be_wrapped_is_refused():
    with pytest.raises(ValueError, match="mode='watch' is unknown; choose from act, advise"):
        WeightedTreeMemory(environment(), mode="watch")
    with pytest.raises(TypeError, match="WeightedTreeMemory needs a memorization environment"):
        WeightedTreeMemory(gym.make("CartPole-v1"))
    with pytest.raises(ValueError, match="reads a Dict of observations"):
        WeightedTreeMemory(gym.wrappers.FlattenObservation(environment()))
    batch = MemorizationVectorEnv(MATERIALS, num_envs=2)
    with pytest.raises(ValueError, match="reads a Dict of observations"):
        VectorWeightedTreeMemory(gym.wrappers.vector.FlattenObservation(batch))
    with pytest.raises(ValueError, match="gives advice already"):
        WeightedTreeMemory(WeightedTreeMemory(environment(), mode="advise"), mode="advise")
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        WeightedTreeMemory(environment()).step(0)
    with pytest.raises(TypeError, match="needs memorization environments"):
        VectorWeightedTreeMemory(gym.make_vec("CartPole-v1", num_envs=1))
