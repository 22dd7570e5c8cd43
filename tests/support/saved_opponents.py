"""Opponents of a hundred steps, saved with their cards as a training saves them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from memenvs.games import asker_writer_v0, poisoner_writer_v0
from memenvs.games.vector_game import VectorGame
from memenvs.policies import make
from memenvs.policies.learned.networks.opponent import OpponentPolicy
from memenvs.policies.learned.saved import ModelCard, write_card
from memenvs.policies.opponents.opponents import opponent_columns
from memenvs.train.games.vec_env import GameVecEnv

MODULES = {"poisoner": poisoner_writer_v0, "asker": asker_writer_v0}


def make_game(seat: str, material: Any = "hidden", episodes: int = 4, **settings: Any) -> Any:
    """Make a batch of the game in which there is an opponent of that kind."""
    return MODULES[seat].vector_env(material, num_envs=episodes, **settings)


def save_opponent(
    path: Path, seat: str, game: VectorGame | None = None, *, steps: int = 128, seed: int = 0
) -> Path:
    """Train an opponent of `fifo` a little, take its patience, and save it."""
    game = game or make_game(seat)
    env = GameVecEnv(game, [f"{seat}_0"], {"writer_0": make("fifo", game)})
    settings: dict[str, Any] = {"n_steps": 16, "batch_size": 64, "n_epochs": 1}
    model = MaskablePPO(
        OpponentPolicy, env, seed=seed, device="cpu", learning_rate=1e-2, **settings
    )
    model.learn(steps)
    with torch.no_grad():  # or it would wait all the time
        model.policy.mlp_extractor.wait[-1].bias.sub_(5.0)
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)
    name = f"{seat}-writer"
    card = ModelCard(
        kind="sb3",
        algorithm="maskable-ppo",
        network="opponent",
        settings={"game": {"name": name, "seat": seat}},
        columns=opponent_columns(game),
        rules=asdict(game.rules),
        encoder={},
        trained_on=["hidden-train"],
        seed=seed,
        steps=steps,
        versions={"memenvs": "0"},
    )
    write_card(path, card)
    return path
