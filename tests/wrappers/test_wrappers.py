"""Every wrapper meets the contract of environments: checkers, masks, specs, pickles."""

import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

import memenvs  # noqa: F401 - registers the environments
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.wrappers import (
    ExactDifferenceShaping,
    FlattenWithColumns,
    LeaveOneOutCredit,
    LinearReward,
    OracleObservation,
    SampledDifferenceShaping,
    VectorReward,
)

WRAPPERS = {
    "flatten": FlattenWithColumns,
    "linear": lambda env: LinearReward(VectorReward(env), [0.5, 0.5]),
    "exact": ExactDifferenceShaping,
    "sampled": lambda env: SampledDifferenceShaping(env, queries=3),
    "leave one out": LeaveOneOutCredit,
    "oracle": OracleObservation,
    "flat oracle": lambda env: FlattenWithColumns(OracleObservation(env)),
}
# Warnings that the checkers may give, and why.
EXCEPTIONS = [
    "has an unconventional shape",  # rows of slots and queries are 2-D by design
    "is different from the unwrapped version",  # a wrapper is what is being checked
    "not having a spec",  # an environment made without gym.make has none
]
SETTINGS = {
    "level 0": {**LEVELS["0"], "capacity": 2},
    "level 1a": {**LEVELS["1a"], "capacity": 3, "utility": "coverage"},
    "stream": {**LEVELS["static"], "every": 2, "capacity": 3, "settlement": "expected"},
    "priority": {**LEVELS["static"], "action": "priority", "capacity": 2, "every": 1},
    "end-to-end": {**LEVELS["static"], "utility": "end-to-end", "clearing": True, "capacity": 2},
}


def make(setting):
    return MemorizationEnv("odyssey-noisy", **SETTINGS[setting])


def legal(env, rng):
    if isinstance(env.action_space, gym.spaces.Box):
        return rng.uniform(-1, 1, 1).astype(np.float32)
    return int(rng.choice(np.flatnonzero(env.get_wrapper_attr("action_masks")())))


def same(first, second):
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    return np.array_equal(first, second)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", WRAPPERS)
def test_checkers_pass_with_no_warning_but_the_listed(name, setting):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(WRAPPERS[name](make(setting)))
        check_env_for_sb3(WRAPPERS[name](make(setting)))
    unexpected = [w for w in caught if not any(known in str(w.message) for known in EXCEPTIONS)]
    assert not unexpected, [str(w.message) for w in unexpected]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", [*WRAPPERS, "vector"])
def test_masks_go_through_and_observations_fit(name, setting):
    env = {**WRAPPERS, "vector": VectorReward}[name](make(setting))
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    for _ in range(60):
        mask = env.get_wrapper_attr("action_masks")()
        np.testing.assert_array_equal(mask, env.unwrapped.action_masks())
        assert ("action_mask" in info) == (setting != "priority")  # no mask for a space of numbers
        np.testing.assert_array_equal(mask, info.get("action_mask", mask))
        observation, reward, over, _, info = env.step(legal(env, rng))
        assert observation in env.observation_space
        assert info["illegal_action"] == 0
        assert (reward in env.reward_space) if name == "vector" else (type(reward) is float)
        if over:
            _, info = env.reset()


@pytest.mark.parametrize("name", [*WRAPPERS, "vector"])
def test_specs_rebuild_the_stack_and_pickles_go_on_alike(name):
    wrap = {**WRAPPERS, "vector": VectorReward}[name]
    env = wrap(gym.make("memenvs/OdysseyNoisy-v0"))
    spec = gym.envs.registration.EnvSpec.from_json(env.spec.to_json())
    again = gym.make(spec)
    assert str(again) == str(env)
    rng = np.random.default_rng(0)
    for each in (env, again):
        each.reset(seed=0)
    action = legal(env, rng)
    assert same(env.step(action)[0], again.step(action)[0])
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(4):
        action = legal(env, rng)
        mine, other = env.step(action), twin.step(action)
        assert same(mine[0], other[0])
        assert np.array_equal(mine[1], other[1])


@pytest.mark.parametrize("name", [*WRAPPERS, "vector"])
def test_other_environments_are_refused(name):
    with pytest.raises(TypeError, match="needs a memorization environment"):
        {**WRAPPERS, "vector": VectorReward}[name](gym.make("CartPole-v1"))


def test_what_uses_hidden_knowledge_says_so():
    for wrapper in (
        ExactDifferenceShaping,
        SampledDifferenceShaping,
        LeaveOneOutCredit,
        OracleObservation,
    ):
        assert wrapper(make("stream")).get_wrapper_attr("privileged") is True
        assert "PRIVILEGED" in wrapper.__doc__
    for wrapper in (FlattenWithColumns, VectorReward):
        assert not wrapper(make("stream")).has_wrapper_attr("privileged")
