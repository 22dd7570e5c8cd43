"""Checks of a native vector environment: it plays what scalar environments play, step by step."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray

MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)
BATCH, STEPS = 3, 45
# Similarities are looked up in one and multiplied out in the other; the rest is equal to the bit.
TOLERANCE = 1e-6

Kept = tuple[str, NDArray[Any], NDArray[Any]]  # name of an array, the array, what it held


def check_batch(env_id: str, **kwargs: Any) -> None:
    """In both autoreset modes the native batch equals a ``SyncVectorEnv`` of scalar environments.

    An id without a native batch passes.
    """
    if gym.spec(env_id).vector_entry_point is None:
        return
    for mode in MODES:
        native = gym.make_vec(env_id, num_envs=BATCH, autoreset_mode=mode, **kwargs)
        scalar = SyncVectorEnv([lambda: gym.make(env_id, **kwargs)] * BATCH, autoreset_mode=mode)
        assert_same_play(scalar, native, STEPS, seed=7, illegal=0.02)


def assert_same(mine: dict[str, Any], other: dict[str, Any], where: str = "") -> None:
    """Compare observations or infos; floats of observations within the tolerance."""
    assert set(mine) == set(other), (where, set(mine) ^ set(other))
    for name, left in mine.items():
        right, place = other[name], f"{where}/{name}"
        if isinstance(left, dict):
            assert_same(left, right, place)
            continue
        if left.dtype == object:
            for one, two in zip(left, right, strict=True):
                assert (one is None) == (two is None), place
                if isinstance(one, dict):
                    assert_same(one, two, place)
                else:
                    assert one == two, place
        elif left.dtype == np.float32:
            np.testing.assert_allclose(left, right, atol=TOLERANCE, rtol=1e-6, err_msg=place)
        elif left.dtype == np.float64:  # sums of masses; their order differs where sizes do
            np.testing.assert_allclose(left, right, atol=1e-12, rtol=0, err_msg=place)
        else:
            np.testing.assert_array_equal(left, right, err_msg=place)
        assert left.dtype == right.dtype, place


def draw_actions(
    env: VectorEnv[Any, Any, Any],
    masks: NDArray[np.bool_],
    rng: np.random.Generator,
    illegal: float = 0.0,
) -> NDArray[Any]:
    """Draw legal actions, and a share of ``illegal`` ones."""
    if isinstance(env.single_action_space, gym.spaces.Box):
        values = rng.uniform(-1.2, 1.2, (env.num_envs, 1)).round(1).astype(np.float32)
        values[rng.random(env.num_envs) < illegal] = np.nan
        return values
    actions = (rng.random(masks.shape) * masks).argmax(axis=1)
    wrong = rng.random(env.num_envs) < illegal
    return np.where(wrong, rng.integers(-3, masks.shape[1] + 3, env.num_envs), actions)


def assert_same_play(
    scalar: SyncVectorEnv,
    native: Any,
    steps: int,
    seed: int = 0,
    illegal: float = 0.0,
) -> None:
    """Play the same actions in both; raises ``AssertionError`` where anything differs."""
    rng = np.random.default_rng(seed)
    observation, info = scalar.reset(seed=seed)
    mine, my_info = native.reset(seed=seed)
    assert_same(mine, observation, "reset")
    assert_same(my_info, info, "reset info")
    kept = []
    for step in range(steps):
        masks = native.action_masks()
        for shown in (mine, my_info):
            assert ("action_mask" in shown) == isinstance(scalar.single_action_space, Discrete)
            np.testing.assert_array_equal(masks, shown.get("action_mask", masks))
        assert masks.any(axis=1).all()
        actions = draw_actions(native, masks, rng, illegal)
        kept += keep(step, mine)
        theirs, rewards, terminated, truncated, info = scalar.step(actions)
        mine, my_rewards, my_terminated, my_truncated, my_info = native.step(actions)
        assert_same(mine, theirs, f"step {step}")
        assert_same(my_info, info, f"info {step}")
        np.testing.assert_allclose(my_rewards, rewards, atol=1e-11, rtol=0)
        np.testing.assert_array_equal(my_terminated, terminated)
        # A time limit's wrapper reports both at once, the batch never does.
        np.testing.assert_array_equal(my_truncated, np.logical_and(truncated, ~my_terminated))
        assert my_rewards.dtype == rewards.dtype
    for name, array, before in kept:  # what left the batch stays as it was
        np.testing.assert_array_equal(array, before, err_msg=f"{name} was written again")


def keep(step: int, observation: dict[str, NDArray[Any]]) -> list[Kept]:
    """Keep one array of a step, or a row of it, with a copy; the others are let go.

    An environment that looks whether a whole observation is still held would write it again.
    """
    name = sorted(observation)[step % len(observation)]
    array = observation[name]
    if step % 2 and array.ndim > 1:
        array = array[-1]
    return [(name, array, array.copy())]
