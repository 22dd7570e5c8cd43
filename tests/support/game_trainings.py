"""Small trainings in games, for every seat."""

from typing import Any

from memenvs.train.learn.settings import Training, validate_training

SHORT: dict[str, Any] = {
    "env": "memenvs/Hidden-v0",
    "algorithm": "maskable-ppo",
    "steps": 128,
    "envs": 4,
    "hyperparameters": {"n-steps": 16, "batch-size": 64, "n-epochs": 1},
    "evaluation": {"every": 64, "materials": 2, "final": 2},
}
GAMES: dict[str, dict[str, Any]] = {
    "shared-writers": {
        "game": {"name": "shared-writers", "options": {"credit": "individual"}},
        "network": "estimator-pointer",
        "steps": 256,  # two writers in four episodes
        "hyperparameters": {**SHORT["hyperparameters"], "estimator-steps": 2},
    },
    "writer": {
        "game": {"name": "poisoner-writer", "opponents": ["random", "imitate"]},
        "network": "pointer",
    },
    "poisoner": {
        "game": {"name": "poisoner-writer", "seat": "poisoner", "opponents": ["random", "trust"]},
        "network": "opponent",
    },
    "asker": {"game": {"name": "asker-writer", "seat": "asker"}, "network": "opponent"},
}


def short(name: str, **changes: Any) -> Training:
    return validate_training({**SHORT, **GAMES[name], **changes}, "")
