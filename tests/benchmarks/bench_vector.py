"""Speed of the native batch: against scalar environments, CartPole, Jumanji, and within a PPO run.

    python tests/benchmarks/bench_vector.py [--jumanji PYTHON] [--rounds N]

``--jumanji`` names the interpreter of an environment in which jumanji is installed. All times are
CPU times of one thread, medians over rounds in which the contenders take turns; a round of the
native batch is whole episodes, ends and new beginnings included. Materials are made before the
clock starts; what that takes is a line of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import gymnasium as gym
import numpy as np

import memenvs  # noqa: F401 - registers the environments
from memenvs.envs.memorization.memorization_env import MemorizationEnv

SIZES = ("memenvs/Readable-v0", "memenvs/ReadableMedium-v0", "memenvs/ReadableLarge-v0")
POOL = 64  # materials
BATCH = 64
SCALAR_STEPS = 100  # of a scalar batch in one round

JUMANJI = """
import sys, time
import jax, jumanji, numpy as np
from jumanji.wrappers import VmapAutoResetWrapper
for size in (64, 1024):
    env = VmapAutoResetWrapper(jumanji.make("Knapsack-v1"))
    state, step = jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(0), size))
    advance, rng, times = jax.jit(env.step), np.random.default_rng(0), []
    for _ in range(int(sys.argv[1]) + 1):
        spent = 0.0
        for _ in range(64):
            mask = np.asarray(step.observation.action_mask)
            action = (rng.random(mask.shape) * mask).argmax(axis=1)
            start = time.process_time()
            state, step = advance(state, action)
            jax.block_until_ready(step)
            spent += time.process_time() - start
        times.append(spent / 64)
    print(size, np.median(times[1:]))  # the first round compiles
"""


class Contender:
    """A vector environment that plays random legal actions."""

    def __init__(self, env: gym.vector.VectorEnv, steps: int) -> None:
        self.env, self.steps = env, steps
        self.rng = np.random.default_rng(0)
        self.observation, _ = env.reset(seed=0)
        self.times: list[float] = []

    def round(self) -> None:
        spent = 0.0
        for _ in range(self.steps):
            if isinstance(self.observation, dict):
                masks = self.observation["action_mask"]
                actions = (self.rng.random(masks.shape) * masks).argmax(axis=1)
            else:
                actions = self.env.action_space.sample()
            start = time.process_time()
            self.observation, *_ = self.env.step(actions)
            spent += time.process_time() - start
        self.times.append(spent / self.steps)

    @property
    def seconds(self) -> float:
        """Median time of a step of the whole batch."""
        return float(np.median(self.times[1:]))  # the first round is a warm-up

    def bytes(self) -> int:
        """What a step writes for its caller."""
        return sum(array.nbytes for array in self.observation.values())


def native(identifier: str, size: int, pool: list) -> Contender:
    env = gym.make_vec(identifier, num_envs=size, material=pool, autoreset_mode="SAME_STEP")
    env.reset(seed=0)
    for number in range(0, POOL, size):  # every material is compiled before the clock starts
        env.reset(options={"material": [(number + i) % POOL for i in range(size)]})
    claims = env.unwrapped.layout.limits.claims
    return Contender(env, claims * max(1, 128 // claims))


def scalar(identifier: str, pool: list) -> Contender:
    settings = {**gym.spec(identifier).kwargs, "material": pool}
    envs = [lambda: MemorizationEnv(**settings)] * BATCH
    return Contender(gym.vector.SyncVectorEnv(envs, autoreset_mode="SameStep"), SCALAR_STEPS)


def memcpy_rate(size: int = 1 << 23) -> float:
    """Bytes per second of copying a block that does not fit into the second-level cache."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    times = []
    for _ in range(50):
        start = time.process_time()
        for _ in range(10):
            np.copyto(target, source)
        times.append((time.process_time() - start) / 10)
    return size / float(np.median(times))


def line(name: str, seconds: float, envs: int, note: str = "") -> None:
    print(f"{name:34s} {envs:5d} {seconds * 1e6:10.0f} {envs / seconds:12.0f}  {note}")


def sizes(rounds: int, rate: float) -> None:
    cartpole = Contender(
        gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * BATCH), SCALAR_STEPS
    )
    for identifier in SIZES:
        materials = gym.make(identifier).unwrapped.materials
        start = time.process_time()
        pool = [materials.fixed[number] for number in range(POOL)]
        making = (time.process_time() - start) / POOL
        start = time.process_time()
        contenders = {BATCH: native(identifier, BATCH, pool)}
        compiling = (time.process_time() - start) / POOL
        small = identifier == "memenvs/Readable-v0"
        if small:
            contenders |= {size: native(identifier, size, pool) for size in (256, 1024)}
        single = scalar(identifier, pool)
        large = identifier == "memenvs/ReadableLarge-v0"
        for _ in range(1 + (2 if large else rounds)):
            for contender in [*contenders.values(), single, *([cartpole] if small else [])]:
                contender.round()
        line(f"{identifier} SyncVectorEnv", single.seconds, BATCH)
        for size, contender in contenders.items():
            share = contender.bytes() / rate / contender.seconds
            note = f"{contender.bytes() / 1e6:.2f} MB a step: {share:.0%} of it at the copying rate"
            if size == BATCH:
                note = f"{single.seconds / contender.seconds:.1f} x SyncVectorEnv; {note}"
            line(f"{identifier} native", contender.seconds, size, note)
        if small:
            ratio = cartpole.seconds / contenders[BATCH].seconds
            line("CartPole-v1 SyncVectorEnv", cartpole.seconds, BATCH, f"native is {ratio:.1f} x")
        print(f"  a material: {making * 1e3:.1f} ms to make, {compiling * 1e3:.1f} ms to compile")


def jumanji(python: str | None, rounds: int) -> None:
    if python is None:
        print("Jumanji's Knapsack: skipped, no --jumanji interpreter was given")
        return
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    run = subprocess.run(
        [python, "-c", JUMANJI, str(rounds)],
        capture_output=True,
        text=True,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )
    if run.returncode:
        print(f"Jumanji's Knapsack: skipped, {run.stderr.strip().splitlines()[-1]}")
        return
    for size, seconds in map(str.split, run.stdout.splitlines()):
        line("Jumanji Knapsack-v1, jit and vmap", float(seconds), int(size))


def training(updates: int = 6) -> None:
    try:
        import torch
        from sb3_contrib import MaskablePPO

        from memenvs.train.vec_env import make_vec_env
    except ImportError as error:
        print(f"MaskablePPO: skipped, {error}")
        return
    torch.set_num_threads(1)
    identifier, spent = "memenvs/Readable-v0", [0.0]
    materials = gym.make(identifier).unwrapped.materials
    env = make_vec_env(identifier, 256, 0, material=[materials.fixed[i] for i in range(POOL)])

    def timed(method):
        def call(*args, **kwargs):
            start = time.process_time()
            result = method(*args, **kwargs)
            spent[0] += time.process_time() - start
            return result

        return call

    for name in ("step_async", "step_wait", "reset", "env_method"):
        setattr(env, name, timed(getattr(env, name)))
    length = materials.limits.claims
    model = MaskablePPO(
        "MultiInputPolicy", env, n_steps=length, batch_size=1024, n_epochs=4, device="cpu"
    )
    model.learn(256 * length)  # a warm-up: materials are compiled, memory is allocated
    spent[0], start = 0.0, time.process_time()
    model.learn(updates * 256 * length)
    total = time.process_time() - start
    rate = updates * 256 * length / total
    print(
        f"MaskablePPO, 256 environments: {rate:.0f} steps/s, "
        f"{spent[0] / total:.1%} of the time in the environments"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jumanji", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    rate = memcpy_rate()
    print(f"memcpy: {rate / 1e9:.1f} GB/s; {POOL} materials; random legal actions")
    print(f"{'':34s} {'envs':>5s} {'us a step':>10s} {'env steps/s':>12s}")
    sizes(options.rounds, rate)
    jumanji(options.jumanji, options.rounds)
    training()


if __name__ == "__main__":
    sys.exit(main())
