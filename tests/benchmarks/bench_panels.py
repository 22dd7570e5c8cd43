"""Speed of the simulated pages: one environment, a SyncVectorEnv, and the native batch.

python tests/benchmarks/bench_panels.py [TASK ...]

The same legal actions are played in both kinds of batch. Figures are per second of processor time
of this process, so that a busy machine changes them little; medians of five rounds.
"""

import sys
import time
from statistics import median

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from memenvs.envs.panels.tasks import TASKS

BATCH, ROUNDS = 64, 5
SCALAR_STEPS, SYNC_STEPS, NATIVE_STEPS = 2000, 40, 400


def rate(steps, play):
    """Steps per second of processor time, the median over the rounds."""
    found = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        play()
        found.append(steps / (time.process_time() - begun))
    return median(found)


def scalar(task):
    env, rng = gym.make(f"memenvs/Panels-{task}-v0"), np.random.default_rng(0)
    env.reset(seed=0)
    draws = rng.random(SCALAR_STEPS).tolist()

    def play():
        _, info = env.reset()
        for draw in draws:
            legal = int(info["action_mask"].sum()) // 2
            *_, terminated, truncated, info = env.step(int(draw * legal))
            if terminated or truncated:
                _, info = env.reset()

    return rate(SCALAR_STEPS, play)


def batch(env, steps):
    """Play clicks on what is in view, drawn before the clock runs but for their number."""
    rng = np.random.default_rng(0)
    mask = env.reset(seed=0)[1]["action_mask"]
    draws = rng.random((steps, BATCH))

    def play():
        nonlocal mask
        for draw in draws:
            legal = mask[:, :32].sum(axis=1)
            mask = env.step((draw * legal).astype(np.int64))[-1]["action_mask"]

    return rate(steps * BATCH, play)


def main(tasks):
    """Print a line for every task."""
    print("task          scalar/s    sync/s  native/s  cold/s  native : sync")
    for task in tasks or TASKS:
        name = f"memenvs/Panels-{task}-v0"
        sync = SyncVectorEnv([lambda n=name: gym.make(n)] * BATCH)
        native = gym.make_vec(name, num_envs=BATCH, autoreset_mode=AutoresetMode.NEXT_STEP)
        one, many = scalar(task), batch(sync, SYNC_STEPS)
        begun = time.process_time()
        native.reset(seed=1)
        for _ in range(SYNC_STEPS):
            native.step(np.zeros(BATCH, dtype=np.int64))
        cold = SYNC_STEPS * BATCH / (time.process_time() - begun)
        batch(native, NATIVE_STEPS)  # the table of pages fills
        fast = batch(native, NATIVE_STEPS)
        print(
            f"{task:12}{one:10.0f}{many:10.0f}{fast:10.0f}{cold:8.0f}{fast / many:12.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
