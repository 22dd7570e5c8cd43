"""Train MaskablePPO with the weighted tree's advice against without: same budget, same seeds.

``python -m memenvs.train.studies.tree_advice memenvs/Hidden-v0 --steps 500000 --seed 0`` prints a
row for each seed and arm: the mean utility of final memories over episodes that both arms play.
"""

from __future__ import annotations

from collections.abc import Sequence

import click
import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from memenvs.material.incidence import FloatArray
from memenvs.train.vec_env import SB3VecEnv
from memenvs.wrappers import VectorWeightedTreeMemory

TRAINING, PLAYING = 64, 64  # episodes at once
PLAY_SEED = 0x7E57  # of the episodes that are measured


def make_env(env_id: str, split: str, episodes: int, advise: bool) -> SB3VecEnv:
    """Make the batch of an environment over the materials of a tier's split."""
    batch = gym.make_vec(
        env_id,
        num_envs=episodes,
        vectorization_mode="vector_entry_point",
        autoreset_mode=AutoresetMode.SAME_STEP,
        split=split,
    )
    return SB3VecEnv(VectorWeightedTreeMemory(batch, "advise") if advise else batch)


def reached(env_id: str, split: str, steps: int, seed: int, advise: bool) -> FloatArray:
    """Train for ``steps`` decisions; gives the utilities of ``PLAYING`` episodes of the split."""
    from sb3_contrib import MaskablePPO

    env = make_env(env_id, "train", TRAINING, advise)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=1024, seed=seed)
    model.learn(steps)
    env = make_env(env_id, split, PLAYING, advise)
    env.seed(PLAY_SEED)
    observation, utilities = env.reset(), np.full(PLAYING, np.nan)
    while np.isnan(utilities).any():
        masks = observation["action_mask"].astype(bool)  # type: ignore[call-overload]
        actions, _ = model.predict(observation, deterministic=True, action_masks=masks)  # type: ignore[arg-type]
        observation, _, done, infos = env.step(actions)
        for place in np.flatnonzero(done & np.isnan(utilities)).tolist():
            utilities[place] = infos[place]["utility"]
    return utilities


@click.command()
@click.argument("env_id")
@click.option("--steps", type=click.IntRange(1), default=500_000, help="Decisions (500,000).")
@click.option("--seed", type=click.IntRange(0), multiple=True, default=range(5), help="Repeat it.")
@click.option("--split", default="validation", help="Whose episodes are played (validation).")
def main(env_id: str, steps: int, seed: Sequence[int], split: str) -> None:
    """Train both arms with each seed, and print what they reach."""
    for each in seed:
        for advise in (True, False):
            mean = reached(env_id, split, steps, each, advise).mean()
            click.echo(f"seed {each}  {'advise' if advise else 'without':8}{mean:.4f}")


if __name__ == "__main__":
    main()
