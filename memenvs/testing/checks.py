"""Checks of one environment: spaces, masks, seeds, processes, pickles, illegal actions, arrays."""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from memenvs.materials.library import Source, registered_materials
from memenvs.testing.batches import keep

Make = Callable[..., gym.Env[Any, Any]]

# Warnings that the checkers of Gymnasium and Stable-Baselines3 may give, and why.
EXCEPTIONS = (
    "has an unconventional shape",  # rows of slots and queries are 2-D; a wrapper flattens them
    "not having a spec",  # where an environment was made without gym.make
)
STEPS = 1_000


def check_checkers(env_id: str, **kwargs: Any) -> None:
    """Both ``check_env`` pass, with no warning but the listed ones."""
    env = gym.make(env_id, **kwargs).unwrapped
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env)
        if importlib.util.find_spec("stable_baselines3"):
            from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

            check_env_for_sb3(env)
    messages = [str(warning.message) for warning in caught]
    unexpected = [m for m in messages if not any(known in m for known in EXCEPTIONS)]
    assert not unexpected, f"{env_id}: {unexpected}"


def check_steps(env_id: str, *, steps: int = STEPS, **kwargs: Any) -> None:
    """Over many masked random steps: spaces, masks, flags, rewards and infos are right."""
    env = gym.make(env_id, **kwargs)
    rng = np.random.default_rng(0)
    blank = env.get_wrapper_attr("family").blank() | {"final": False}
    observation, info = env.reset(seed=0)
    keys = set(info)
    assert {name: info[name] for name in blank} == blank, f"{env_id}: {info} at a reset"
    # An environment without a batch is a slow one, such as a browser.
    for _ in range(steps if gym.spec(env_id).vector_entry_point else steps // 5):
        assert observation in env.observation_space, f"{env_id}: an observation leaves its space"
        mask = env.get_wrapper_attr("action_masks")()
        assert mask.dtype == np.bool_
        assert mask.any(), f"{env_id}: no action is legal"
        for place in (observation, info):
            # Spaces of numbers take no mask: clients sample them with what they find.
            numbered = isinstance(env.action_space, gym.spaces.Discrete)
            assert ("action_mask" in place) == numbered, f"{env_id}: a mask for {env.action_space}"
            assert np.array_equal(mask, place.get("action_mask", mask)), f"{env_id}: masks differ"
        observation, reward, terminated, truncated, info = env.step(legal_action(env, rng))
        assert type(reward) is float
        assert type(terminated) is type(truncated) is bool
        assert not (terminated and truncated), f"{env_id}: terminated and truncated"
        assert info["illegal_action"] == 0, f"{env_id}: a legal action was counted as illegal"
        assert set(info) == keys, f"{env_id}: the keys of info change by {set(info) ^ keys}"
        assert info["final"] is (terminated or truncated)
        for name, zero in blank.items():
            assert type(info[name]) is type(zero), f"{env_id}: info['{name}'] is {info[name]!r}"
            assert info["final"] or info[name] == zero, f"{env_id}: '{name}' is told too early"
        if terminated or truncated:
            assert info.get("precision", 0.0) <= info.get("coverage", 0.0) + 1e-9
            observation, info = env.reset()


def check_seeds(env_id: str, **kwargs: Any) -> None:
    """Equal seeds give equal episodes, also after a seeded reset; other seeds give others."""
    first, second, other = (
        digest(rollout(gym.make(env_id, **kwargs), seed, episodes=2)) for seed in (3, 3, 4)
    )
    assert first == second, f"{env_id}: equal seeds give other episodes"
    assert first != other, f"{env_id}: another seed gives the same episodes"


def check_processes(env_id: str, **kwargs: Any) -> None:
    """Two fresh processes see the episodes that this one sees, and specs survive JSON."""
    spec = gym.spec(env_id)
    copy = EnvSpec.from_json(spec.to_json())
    assert copy.kwargs == spec.kwargs, f"{env_id}: its specification does not survive JSON"
    if in_memory(spec.kwargs):
        return
    script = (
        "import pickle, sys\n"
        "import gymnasium as gym\n"
        "from memenvs.testing.checks import digest, rollout\n"
        "spec, kwargs = pickle.load(sys.stdin.buffer)\n"
        "env = gym.make(gym.envs.registration.EnvSpec.from_json(spec), **kwargs)\n"
        "print(digest(rollout(env, 5, episodes=1)))\n"
    )
    here = digest(rollout(gym.make(env_id, **kwargs), 5, episodes=1))
    for hash_seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            input=pickle.dumps((spec.to_json(), kwargs)),
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        assert run.returncode == 0, f"{env_id}: {run.stderr.decode()}"
        assert run.stdout.decode().strip() == here, f"{env_id}: another process differs"


def check_pickle(env_id: str, **kwargs: Any) -> None:
    """Pickled in the middle of an episode, an environment goes on alike."""
    env = gym.make(env_id, **kwargs)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    *_, terminated, truncated, _ = env.step(legal_action(env, rng))
    over = terminated or truncated
    twin = pickle.loads(pickle.dumps(env))
    while not over:
        action = legal_action(env, rng)
        mine, other = env.step(action), twin.step(action)
        assert digest([mine]) == digest([other]), f"{env_id}: a pickled environment differs"
        over = mine[2] or mine[3]


def check_illegal_actions(env_id: str, **kwargs: Any) -> None:
    """Illegal actions are counted passes that change nothing, and raise under ``strict``."""
    env = gym.make(env_id, **kwargs)
    kept = "page" if hasattr(type(env.unwrapped), "page") else "memory"  # what must not change
    strict = gym.make(env_id, **{**kwargs, "strict": True})
    if isinstance(env.action_space, gym.spaces.Box):
        illegal: list[Any] = [[float("nan")]]
    else:
        env.reset(seed=0)
        mask = env.get_wrapper_attr("action_masks")()
        illegal = [*np.flatnonzero(~mask)[:2].tolist(), -1, len(mask)]
    for action in illegal:
        env.reset(seed=0)
        before = copy.copy(getattr(env.unwrapped, kept))
        *_, info = env.step(action)
        assert info["illegal_action"] == 1, f"{env_id}: {action} was not counted as illegal"
        assert np.array_equal(before, getattr(env.unwrapped, kept))
        strict.reset(seed=0)
        refusal = ""
        try:
            strict.step(action)
        except ValueError as error:
            refusal = str(error)
        assert "illegal" in refusal, f"{env_id}: {action} did not raise under strict=True"


def check_arrays(env_id: str, **kwargs: Any) -> None:
    """Single arrays that left the environment stay as they were."""
    env = gym.make(env_id, **kwargs)
    kept = []
    for start in range(2):
        for step, (observation, *_) in enumerate(rollout(env, 0, episodes=1)):
            kept += keep(start + step, observation)
    for name, array, before in kept:
        assert np.array_equal(array, before), f"{env_id}: '{name}' was written again"


def legal_action(env: gym.Env[Any, Any], rng: np.random.Generator) -> Any:
    """Draw a legal action with a generator of the caller's."""
    if isinstance(env.action_space, gym.spaces.Box):
        return rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
    return int(rng.choice(np.flatnonzero(env.get_wrapper_attr("action_masks")())))


def rollout(env: gym.Env[Any, Any], seed: int, episodes: int) -> Iterator[tuple[Any, ...]]:
    """Play masked random episodes, only the first one seeded; yields what reset and step give."""
    rng = np.random.default_rng(seed)
    for episode in range(episodes):
        yield env.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            outcome = env.step(legal_action(env, rng))
            yield outcome
            over = outcome[2] or outcome[3]


def digest(outcomes: Iterator[tuple[Any, ...]] | list[tuple[Any, ...]]) -> str:
    """Condense what reset and step gave into one string."""
    total = hashlib.sha256()
    for observation, *rest in outcomes:
        for name in sorted(observation):
            total.update(name.encode() + observation[name].tobytes())
        info = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in rest[-1].items()}
        total.update(repr((rest[:-1], sorted(info.items()))).encode())
    return total.hexdigest()


def in_memory(kwargs: dict[str, Any]) -> bool:
    """Say whether a specification names a material that this process alone knows."""
    source: Source | None = registered_materials().get(kwargs.get("material", ""))
    return source is not None and not isinstance(source, str)
