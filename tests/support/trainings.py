"""Small trainings for tests, and what two runs are compared by."""

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.save_util import load_from_zip_file

from memenvs.train.learn.checkpoints import last_checkpoint
from memenvs.train.learn.settings import Training, validate_training

SMALL: dict[str, Any] = {
    "env": "memenvs/OdysseyNoisy-v0",
    "steps": 1024,
    "envs": 8,
    "hyperparameters": {"n-steps": 16, "batch-size": 64, "n-epochs": 2},
    "evaluation": {"every": 256, "materials": 2, "final": 2},
}


def small(**changes: Any) -> Training:
    """Give a training of a few seconds."""
    return validate_training({**SMALL, **changes}, "")


def outcome(folder: Path) -> tuple[dict[str, torch.Tensor], list[dict[str, str]]]:
    """Give the parameters and optimiser states a run ended with, and its metrics but for time."""
    last = last_checkpoint(folder / "checkpoints")
    assert last is not None
    with zipfile.ZipFile(last) as archive:
        _, parameters, _ = load_from_zip_file(io.BytesIO(archive.read("model.zip")))
    with (folder / "metrics.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    kept = [{k: v for k, v in row.items() if not k.startswith(("time", "sec"))} for row in rows]
    return dict(_flat(parameters)), [
        {k: v for k, v in r.items() if "second" not in k} for r in kept
    ]


def _flat(value: Any, name: str = "") -> Any:
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}")


def same(first: Path, second: Path) -> bool:
    """Say whether two runs ended with equal parameters, bit for bit, after equal metrics."""
    (ours, rows), (theirs, others) = outcome(first), outcome(second)
    assert ours.keys() == theirs.keys()
    assert len(ours) > 10
    return rows == others and all(torch.equal(ours[name], theirs[name]) for name in ours)
