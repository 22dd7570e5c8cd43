"""Does advice help a policy to learn? MaskablePPO on simulated pages, with q_B in view and without.

python -m memenvs.train.studies.gui.advice [TASK ...] [--steps N] [--seeds N] trains both on the
same instances and prints, as JSON, the success of the training episodes by eighths of the run, and
the differences paired by seed with a 95% bootstrap interval over seeds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from memenvs.material.incidence import FloatArray
from memenvs.train.statistics import mean_interval
from memenvs.train.terminal import as_json

ENVS, ROLLOUT = 16, 32  # episodes side by side, and steps of each between updates
PARTS = 8
INSTANCES = 64  # few, so that a short run comes to know them


def train(task: str, *, advised: bool, steps: int, seed: int) -> FloatArray:
    """Train one policy; gives the success rate of its episodes in each eighth of the steps."""
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback

    from memenvs.policies.gui import ScriptedPolicy
    from memenvs.train.vec_env import SB3VecEnv
    from memenvs.wrappers.bisimulation_memory import VectorBisimulationMemory

    ended: list[tuple[int, bool]] = []

    class Ends(BaseCallback):
        """Notes when episodes end, and how."""

        def _on_step(self) -> bool:
            for info in self.locals["infos"]:
                if "episode" in info:
                    ended.append((self.num_timesteps, info["episode"]["r"] > 0))
            return True

    batch: Any = gym.make_vec(
        f"memenvs/Panels-{task}-v0",
        num_envs=ENVS,
        vectorization_mode="vector_entry_point",
        autoreset_mode=AutoresetMode.SAME_STEP,
        instances=INSTANCES,
    )
    if advised:
        batch = VectorBisimulationMemory(batch, ScriptedPolicy(), mode="advise")
    env = SB3VecEnv(batch)
    env.seed(seed)
    model = MaskablePPO(
        "MultiInputPolicy",
        env,
        n_steps=ROLLOUT,
        batch_size=128,
        n_epochs=4,
        learning_rate=1e-3,
        seed=seed,
        device="cpu",
    )
    model.learn(steps, callback=Ends())
    part = np.array([min(PARTS - 1, (step - 1) * PARTS // steps) for step, _ in ended])
    success = np.array([won for _, won in ended], dtype=float)
    return np.array([success[part == p].mean() for p in range(PARTS)])


def compare(task: str, *, steps: int, seeds: int) -> dict[str, Any]:
    """Train with and without advice from equal seeds."""
    curves = {
        name: np.array([train(task, advised=a, steps=steps, seed=seed) for seed in range(seeds)])
        for name, a in (("without", False), ("advised", True))
    }
    apart = curves["advised"] - curves["without"]
    return {
        "task": task,
        "steps": steps,
        "seeds": seeds,
        **{name: each.mean(axis=0).round(4).tolist() for name, each in curves.items()},
        "difference": float(apart.mean()),
        "interval": mean_interval(apart.mean(axis=1)),
        "last_difference": float(apart[:, -1].mean()),
        "last_interval": mean_interval(apart[:, -1]),
    }


def main(arguments: Sequence[str]) -> None:
    """Print a line of JSON for every task."""
    import torch

    parser = argparse.ArgumentParser(prog="python -m memenvs.train.studies.gui.advice")
    parser.add_argument("task", nargs="*", default=["tabs-3"])
    parser.add_argument("--steps", type=int, default=8192)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for task in options.task:
        print(as_json(compare(task, steps=options.steps, seeds=options.seeds)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
