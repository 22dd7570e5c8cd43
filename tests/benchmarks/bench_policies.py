"""Speed of the memories in use today: 1,000 claims through S = 100 slots.

    python tests/benchmarks/bench_policies.py [--rounds N] [--policy NAME ...]

CPU times of one thread, medians over rounds in which the policies take turns; the time of the
policy's own decisions, and of the whole episode with its environment. The target is 2 s each.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np

from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies import make

CLAIMS, SLOTS, WIDTH, TOPICS = 1000, 100, 64, 50
TARGET = 2.0
RULES = (
    "random", "fifo", "reservoir", "longest", "confidence", "reflexion", "generative-agents",
    "generative-agents:as-coded", "memorybank", "memorybank:as-coded", "memgpt", "letta", "memos",
    "hipporag", "mem0", "mem0:legacy", "a-mem", "graphiti", "lightmem", "trust",
)  # fmt: skip


def material() -> Material:
    """Claims around topics, each answering a query of its own."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(TOPICS, WIDTH))
    vectors = topics[rng.integers(TOPICS, size=CLAIMS)] + 0.5 * rng.normal(size=(CLAIMS, WIDTH))
    claims = tuple(
        Claim(
            id=f"c{i}",
            text=f"claim {i}",
            time=i / 10,
            source=f"s{i % 7}",
            cues={"importance": float(rng.random())},
            embedding=tuple(vector),
        )
        for i, vector in enumerate(vectors.tolist())
    )
    items = tuple(
        Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(CLAIMS)
    )
    queries = tuple(Query(id=f"q{i}", embedding=tuple(v)) for i, v in enumerate(vectors.tolist()))
    return Material("long", claims, items, queries)


def episode(env: MemorizationEnv, name: str) -> tuple[float, float]:
    """Play one episode; gives the CPU seconds of its decisions, and of all."""
    policy, state, over, deciding = make(name, env), None, False, 0.0
    begun = time.process_time()
    observation, _ = env.reset(seed=0)
    while not over:
        start = time.process_time()
        action, state = policy.predict(observation, state)
        deciding += time.process_time() - start
        observation, _, over, _, _ = env.step(action)
    return deciding, time.process_time() - begun


def main() -> None:
    """Print a line for each policy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--policy", action="append")
    options = parser.parse_args()
    env = MemorizationEnv(material(), capacity=SLOTS, **LEVELS["1b"])
    names = options.policy or RULES
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            times[name].append(episode(env, name))
    print(f"{CLAIMS} claims, S = {SLOTS}: CPU seconds, medians of {options.rounds} rounds")
    print(f"{'':28s} {'decisions':>10s} {'episode':>10s}")
    for name, measured in times.items():
        deciding, whole = np.median(measured, axis=0)
        print(f"{name:28s} {deciding:10.2f} {whole:10.2f}" + (" !" if deciding > TARGET else ""))


if __name__ == "__main__":
    main()
