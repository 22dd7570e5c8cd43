"""Models of a few hundred steps, saved with their cards as a training saves them."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import sb3_contrib
import stable_baselines3
import torch

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies.base import attribute
from memenvs.policies.learned.networks.table import NETWORKS
from memenvs.policies.learned.saved import ModelCard, column_names, write_card
from memenvs.text.encoders import HashingEncoder, encoder_description
from memenvs.train.learn import estimators
from memenvs.train.learn.history_env import HistoryVecEnv
from memenvs.train.vec_env import SB3VecEnv

PPO = {"n_steps": 8, "batch_size": 32, "n_epochs": 1, "learning_rate": 3e-3}
ALGORITHMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "maskable-ppo": (sb3_contrib.MaskablePPO, PPO),
    "ppo": (stable_baselines3.PPO, PPO),
    "a2c": (stable_baselines3.A2C, {"n_steps": 8}),
    "dqn": (stable_baselines3.DQN, {"learning_starts": 32, "buffer_size": 500}),
    "qr-dqn": (sb3_contrib.QRDQN, {"learning_starts": 32, "buffer_size": 500}),
    "recurrent-ppo": (sb3_contrib.RecurrentPPO, PPO),
}


def make_env(material: Any, **arguments: Any) -> SB3VecEnv:
    """Make a batch of four episodes."""
    return SB3VecEnv(
        MemorizationVectorEnv(material, num_envs=4, autoreset_mode="SameStep", **arguments)
    )


def train(
    path: Path,
    material: Any = "readable",
    algorithm: str = "maskable-ppo",
    network: str = "mlp",
    *,
    seed: int = 0,
    steps: int = 64,
    trained_on: tuple[str, ...] = ("readable-train",),
    **arguments: Any,
) -> Any:
    """Train and save a model; gives it."""
    torch.set_num_threads(1)
    env: Any = make_env(material, **arguments)
    layout, rules = attribute(env, "layout"), attribute(env, "rules")
    policy: Any = "MultiInputLstmPolicy" if algorithm == "recurrent-ppo" else "MultiInputPolicy"
    options: dict[str, Any] = {}
    if network != "mlp":
        name, options = NETWORKS[network][0], dict(NETWORKS[network][1])
        module, _, attr = name.partition(":")
        policy = getattr(import_module(module), attr)
        options |= {"layout": layout, "actions": attribute(env, "actions"), "hidden": 8}
        if policy.needs_history:
            env = HistoryVecEnv(env)
    built, settings = ALGORITHMS[algorithm]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = built(
            policy, env, seed=seed, device="cpu", policy_kwargs=options, **settings
        ).learn(steps)
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)
    inner = env.unwrapped.batch.unwrapped.materials
    first = inner.fixed[0]
    encoder = {} if first.has_embeddings else encoder_description(HashingEncoder())
    card = ModelCard(
        kind="sb3",
        algorithm=algorithm,
        network=network,
        settings={"material": str(material)},
        columns=column_names(layout),
        rules=asdict(rules),
        encoder=encoder,
        trained_on=list(trained_on),
        seed=seed,
        steps=steps,
        versions={"memenvs": "0"},
    )
    write_card(path, card)
    return model


def save_estimator(
    path: Path, estimator: Any, env: Any, seed: int = 0, kind: str = "estimator"
) -> Path:
    """Save an estimator as a training does."""
    layout, rules = attribute(env, "layout"), attribute(env, "rules")
    card = ModelCard(
        kind=kind,
        algorithm=kind,
        network="",
        settings={},
        columns=column_names(layout),
        rules=asdict(rules),
        encoder={},
        trained_on=["hidden-train"],
        seed=seed,
        steps=512,
        versions={},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    estimators.save_estimator(path, estimator, card)
    return path
