"""Every registered environment, and every setting of the process, meets the same contract."""

import json
import pickle
import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

import memenvs
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.env import MemorizationEnv

# Warnings that the checkers may give, and why.
EXCEPTIONS = [
    # Rows of slots and queries are 2-D by design; wrappers flatten them.
    "has an unconventional shape",
    # An environment made without gym.make has no spec.
    "not having a spec",
]

SETTINGS = {
    "level 0": {**LEVELS["0"], "capacity": 2},
    "level 1a": {**LEVELS["1a"], "capacity": 3, "utility": "coverage"},
    "level 1b": {**LEVELS["1b"], "capacity": 2},
    "static": {**LEVELS["static"], "settlement": "expected"},
    "priority": {**LEVELS["1b"], "action": "priority", "capacity": 2},
    "priority, budget": {"action": "priority", "capacity": 3, "budget": 2.0, "every": 1},
    "pool, budget": {**LEVELS["1a"], "budget": 2.0, "capacity": 3, "feedback": "outcome"},
    "end-to-end": {**LEVELS["1b"], "utility": "end-to-end", "clearing": True, "feedback": "none"},
}


def make(name):
    if name in SETTINGS:
        return MemorizationEnv("odyssey-noisy", **SETTINGS[name])
    return gym.make(name)


NAMES = [row.id for row in memenvs.registered_envs()] + list(SETTINGS)


def masked_action(env, rng):
    """Draw a legal action from a test's own generator."""
    if isinstance(env.action_space, gym.spaces.Box):
        return rng.uniform(-1, 1, 1).astype(np.float32)
    return int(rng.choice(np.flatnonzero(env.get_wrapper_attr("action_masks")())))


def rollout(env, seed, steps=60):
    rng = np.random.default_rng(seed)
    trajectory = [env.reset(seed=seed)]
    for _ in range(steps):
        outcome = env.step(masked_action(env, rng))
        trajectory.append(outcome)
        if outcome[2]:
            trajectory.append(env.reset())
    return trajectory


def flat(trajectory):
    parts = []
    for observation, *rest in trajectory:
        parts += [observation[name].tobytes() for name in sorted(observation)]
        parts.append(repr(rest[:-1]).encode())
    return b"".join(parts)


@pytest.mark.parametrize("name", NAMES)
def test_checkers_pass_with_no_warning_but_the_listed(name):
    env = make(name).unwrapped
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env)
        check_env_for_sb3(env)
    unexpected = [w for w in caught if not any(known in str(w.message) for known in EXCEPTIONS)]
    assert not unexpected, [str(w.message) for w in unexpected]


@pytest.mark.parametrize("name", NAMES)
def test_masks_agree_in_their_three_places_and_observations_fit(name):
    env = make(name)
    rng = np.random.default_rng(1)
    observation, info = env.reset(seed=1)
    for _ in range(400):
        mask = env.get_wrapper_attr("action_masks")()
        assert mask.any()
        np.testing.assert_array_equal(mask, observation["action_mask"])
        np.testing.assert_array_equal(mask, info["action_mask"])
        assert observation in env.observation_space
        observation, reward, terminated, truncated, info = env.step(masked_action(env, rng))
        assert type(reward) is float
        assert terminated in (True, False)
        assert truncated is False
        assert info["illegal_action"] == 0
        if terminated:
            assert {"coverage", "precision", "water_inflation", "size", "settled"} <= set(info)
            observation, info = env.reset()


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_give_equal_episodes(name):
    first, second = flat(rollout(make(name), 3)), flat(rollout(make(name), 3))
    assert first == second
    assert first != flat(rollout(make(name), 4))


def test_another_process_sees_the_same_episode():
    script = (
        "import gymnasium as gym, hashlib, memenvs\n"
        "env = gym.make('memenvs:memenvs/OdysseyNoisy-v0')\n"
        "digest = hashlib.sha256()\n"
        "for seed in (7, None):\n"
        "    observation, info = env.reset(seed=seed)\n"
        "    over = False\n"
        "    while not over:\n"
        "        legal = info['action_mask'].nonzero()[0]\n"
        "        observation, reward, over, _, info = env.step(int(legal[-1]))\n"
        "        for name in sorted(observation):\n"
        "            digest.update(observation[name].tobytes())\n"
        "        digest.update(repr(reward).encode())\n"
        "print(digest.hexdigest())\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert runs[0].strip()


@pytest.mark.parametrize("name", NAMES)
def test_reset_after_a_seeded_reset_goes_on_reproducibly(name):
    def second_episode():
        env = make(name)
        env.reset(seed=5)
        observation, info = env.reset()
        return flat([(observation, info)]), env.unwrapped.episode.account.key

    assert second_episode() == second_episode()


@pytest.mark.parametrize("name", NAMES)
def test_pickled_in_the_middle_it_goes_on_alike(name):
    env = make(name)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    env.step(masked_action(env, rng))
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(3):
        action = masked_action(env, rng)
        mine, other = env.step(action), twin.step(action)
        assert flat([mine]) == flat([other])
        if mine[2]:
            break


@pytest.mark.parametrize("row", memenvs.registered_envs(), ids=lambda row: row.id)
def test_specs_survive_json(row):
    spec = gym.spec(row.id)
    assert gym.envs.registration.EnvSpec.from_json(spec.to_json()).kwargs == spec.kwargs
    json.dumps(dict(row.kwargs))


@pytest.mark.parametrize("name", [n for n in NAMES if "priority" not in n])
def test_illegal_actions_are_counted_passes(name):
    env = make(name)
    env.reset(seed=0)
    illegal = [*np.flatnonzero(~env.get_wrapper_attr("action_masks")()).tolist(), -1, 10_000]
    for count, action in enumerate(illegal[:4], start=1):
        before = env.unwrapped.memory.copy()
        *_, terminated, _, info = env.step(action)
        assert info["illegal_action"] == count
        np.testing.assert_array_equal(env.unwrapped.memory, before)
        if terminated:
            break


def test_strict_names_the_illegal_action():
    env = MemorizationEnv("odyssey", capacity=2, strict=True)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action 2 \(write into slot 1\) is illegal"):
        env.step(2)
    with pytest.raises(ValueError, match=r"action 99 \(there are 3\) is illegal"):
        env.step(99)


def test_arrays_that_left_the_environment_stay_as_they_were():
    env = MemorizationEnv("odyssey", capacity=2, every=1)
    kept, copies = [], []
    observation, _ = env.reset(seed=0)
    for _ in range(6):
        kept.append(observation)
        copies.append({name: array.copy() for name, array in observation.items()})
        observation, _, over, _, _ = env.step(1)
    assert over
    for observation, copy in zip(kept, copies, strict=True):
        for name, array in observation.items():
            np.testing.assert_array_equal(array, copy[name])


def test_steps_outside_an_episode_say_so():
    env = MemorizationEnv("odyssey")
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env.step(0)
    env.reset()
    for _ in range(6):
        env.step(0)
    with pytest.raises(RuntimeError, match="episode is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"access": "river"}, "access='river' is unknown; choose from stream, pool"),
        ({"capacity": 0}, "capacity=0 is not a positive integer"),
        ({"capacity": 2.5}, "capacity=2.5 is not a positive integer"),
        ({"closing": 0}, "closing=0 is not"),
        ({"every": -1}, "every=-1 is not"),
        ({"budget": float("nan")}, "budget=nan is not a positive number"),
        ({"access": "pool", "action": "priority"}, "needs access='stream'"),
        ({"decisions": 9}, "decisions belong to access='pool'"),
        ({"utility": None}, "utility=None is unknown"),
    ],
)
def test_bad_settings_are_named(settings, problem):
    with pytest.raises(ValueError, match=problem):
        MemorizationEnv("odyssey", **settings)


def test_a_pool_of_many_claims_is_refused():
    claims = tuple(memenvs.Claim(id=f"c{i}") for i in range(129))
    material = memenvs.Material("wide", claims, (), (memenvs.Query(id="q"),))
    with pytest.raises(ValueError, match="at most 128 claims and the material has 129"):
        MemorizationEnv(material, access="pool")
