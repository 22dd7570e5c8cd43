"""Trains a policy of the poisoning environment by MaskablePPO, and loads it again."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memenvs.envs.poisoning.layout import LAYOUT
from memenvs.material.files import write_whole
from memenvs.materials.poisoning.sets import MAX_ENTRIES

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

ENV = "memenvs/Poisoning-v0"
STEPS, ENVS = 150_000, 32
# Chosen on the validation scenarios.
HYPERPARAMETERS: dict[str, Any] = {
    "n_steps": 128,
    "batch_size": 512,
    "n_epochs": 3,
    "learning_rate": 2e-3,  # falls to a twentieth
    "gamma": 0.8,  # a prompt does not depend on those before it
    "gae_lambda": 0.9,
    "ent_coef": 0.005,
}


def train_policy(
    *,
    price: float,
    seed: int,
    steps: int = STEPS,
    report: Callable[[int, float], None] = lambda steps, reward: None,
) -> MaskablePPO:
    """Train on the scenarios of the split ``"train"``; equal seeds give equal models on a CPU.

    ``report`` is told the steps and the mean summed reward of the latest episodes.
    """
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.utils import LinearSchedule, set_random_seed

    from memenvs.train.studies.poisoning.network import PointerPolicy
    from memenvs.train.vec_env import make_vec_env

    class Report(BaseCallback):
        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            latest = [info["r"] for info in self.model.ep_info_buffer or ()]
            report(self.num_timesteps, sum(latest) / max(len(latest), 1))

    torch.set_num_threads(1)  # a small network: more threads only wait for each other
    set_random_seed(seed)
    env = make_vec_env(ENV, n_envs=ENVS, seed=1000 * seed, price=price)
    rate = LinearSchedule(HYPERPARAMETERS["learning_rate"], 1e-4, 1.0)
    given = HYPERPARAMETERS | {"learning_rate": rate}
    model = MaskablePPO(PointerPolicy, env, seed=seed, device="cpu", **given)
    model.learn(steps, callback=Report())
    return model


def save_model(model: MaskablePPO, path: Path) -> None:
    """Write a model, whole or not at all."""
    stream = io.BytesIO()
    model.save(stream)
    write_whole(path, stream.getvalue())


def load_model(name: str) -> Any:
    """Load a model for the poisoning environment; raises ``ValueError`` that names the file."""
    from memenvs.policies.poisoning import CONTEXT_POLICIES

    path = Path(name)
    if not path.is_file():
        known = ", ".join(CONTEXT_POLICIES)
        raise ValueError(f"'{name}' is no policy ({known}), configuration or saved model")
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{name}: is no zip file, so no saved model")
    from sb3_contrib import MaskablePPO

    try:
        model = MaskablePPO.load(path, device="cpu")
    except Exception as error:  # torch, cloudpickle and zipfile each have their own
        raise ValueError(f"{name}: cannot be loaded as a model: {error!r:.120}") from None
    arrays = getattr(model.observation_space, "spaces", {})
    if "entries" not in arrays or arrays["entries"].shape != (MAX_ENTRIES, LAYOUT.entries.width):
        raise ValueError(f"{name}: was trained in another environment than {ENV}")
    return model
