"""Steps every family in turn: `python tests/harness/stepping.py MINUTES`; says what memory it took.

Batches of 16 of every registered environment without a browser, and every game, step by random
legal actions for two seconds each and are closed, over and over. A line a round: minutes, rounds,
steps and resident memory; at the end the memory of the last quarter over that of the second.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from resident import resident

import memenvs  # noqa: F401  # registers the environments
from memenvs.envs.table import TABLE, EnvRow
from memenvs.games.registry import GAMES, GameRow

SECONDS, ENVS = 2.0, 16


def step_batch(row: EnvRow, seed: int) -> int:
    """Step a batch of one environment for ``SECONDS``; gives the number of steps."""
    envs = gym.make_vec(row.id, ENVS, vectorization_mode="vector_entry_point")
    rng = np.random.default_rng(seed)
    _, info = envs.reset(seed=seed)
    steps, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        *_, info = envs.step(legal(info["action_mask"], rng))
        steps += ENVS
    envs.close()
    return steps


def step_game(game: GameRow, seed: int) -> int:
    """Step a batch of one game for ``SECONDS``; gives the number of steps."""
    batch = import_module(game.module).vector_env("hidden", capacity=10, num_envs=ENVS)
    rng = np.random.default_rng(seed)
    batch.reset(seed=seed)
    steps, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        batch.step({name: legal(mask, rng) for name, mask in batch.masks().items()})
        steps += ENVS
    return steps


def legal(masks: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a legal action of each episode."""
    return np.asarray((rng.random(masks.shape) * masks).argmax(axis=1))


def main(minutes: float) -> None:
    """Step all, round after round, and print what is resident after each."""
    works: list[Callable[[int], int]] = [
        partial(step_batch, row) for row in TABLE if row.vector_entry_point is not None
    ]
    works += [partial(step_game, game) for game in GAMES]
    begun, rounds, steps, after = time.monotonic(), 0, 0, []
    while time.monotonic() - begun < 60 * minutes:
        steps += sum(work(rounds) for work in works)
        rounds += 1
        gc.collect()
        after.append(resident())
        passed = (time.monotonic() - begun) / 60
        print(
            f"{passed:6.1f} min {rounds:4} rounds {steps:10} steps {after[-1]:6.0f} MB", flush=True
        )
    quarter = max(1, len(after) // 4)
    early, late = median(after[quarter : 2 * quarter] or after), median(after[-quarter:])
    print(f"{len(works)} environments and games; last quarter / second: {late / early:.3f}")


if __name__ == "__main__":
    main(float(sys.argv[1]))
