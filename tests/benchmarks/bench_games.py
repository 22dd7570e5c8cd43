"""Speed of the games: the native batch against PettingZoo's parallel environments in a loop.

    python tests/benchmarks/bench_games.py [--rounds N]

One process, 64 episodes, random legal actions, equal materials. All times are CPU times of one
thread, medians over rounds in which the contenders take turns; a round is whole episodes, ends and
new beginnings included. Materials are made before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib import import_module

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np

from memenvs.games import GAMES
from memenvs.materials.generator.tiers import TIERS

BATCH = 64
POOL = 64  # materials


class Native:
    """The batch of 64 episodes."""

    def __init__(self, module, pool: list) -> None:
        self.game = module.vector_env(pool, num_envs=BATCH)
        self.rng = np.random.default_rng(0)
        self.steps = 2 * self.game.layout.limits.claims
        self.times: list[float] = []
        self.seen, _ = self.game.reset(seed=0, options={"material": list(range(POOL))})

    def round(self) -> None:
        spent = 0.0
        for _ in range(self.steps):
            actions = {}
            for name, seen in self.seen.items():
                masks = seen["action_mask"]
                actions[name] = (self.rng.random(masks.shape) * masks).argmax(axis=1)
            start = time.process_time()
            self.seen, *_ = self.game.step(actions)
            spent += time.process_time() - start
        self.times.append(spent / self.steps)


class Loop:
    """64 parallel environments of PettingZoo, one after another."""

    def __init__(self, module, pool: list) -> None:
        self.envs = [module.parallel_env(material=pool) for _ in range(BATCH)]
        self.rng = np.random.default_rng(0)
        self.steps = self.envs[0].batch.layout.limits.claims
        self.times: list[float] = []
        self.seen = [
            env.reset(seed=i, options={"material": i % POOL})[0] for i, env in enumerate(self.envs)
        ]

    def round(self) -> None:
        spent = 0.0
        for _ in range(self.steps):
            for i, env in enumerate(self.envs):
                actions = {}
                for name in env.agents:
                    mask = self.seen[i][name]["action_mask"]
                    actions[name] = int((self.rng.random(mask.shape) * mask).argmax())
                start = time.process_time()
                self.seen[i] = env.step(actions)[0]
                if not env.agents:
                    self.seen[i], _ = env.reset(options={"material": i % POOL})
                spent += time.process_time() - start
        self.times.append(spent / self.steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    pool = list(TIERS["hidden"].split("train")[:POOL])
    print(f"{BATCH} episodes of the tier 'hidden', {POOL} materials; random legal actions")
    print(f"{'':18s} {'native us':>10s} {'loop us':>10s} {'ratio':>7s} {'native steps/s':>15s}")
    for row in GAMES:
        module = import_module(row.module)
        contenders = Native(module, pool), Loop(module, pool)
        for _ in range(1 + options.rounds):
            for contender in contenders:
                contender.round()
        # The first round is a warm-up. A step is one of all agents in all episodes.
        native, loop = (float(np.median(contender.times[1:])) for contender in contenders)
        numbers = f"{native * 1e6:10.0f} {loop * 1e6:10.0f} {loop / native:7.1f}"
        print(f"{row.name:18s} {numbers} {BATCH / native:15.0f}")


if __name__ == "__main__":
    sys.exit(main())
