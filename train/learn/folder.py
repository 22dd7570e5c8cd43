"""The folder of a run: configuration, versions, metrics, checkpoints, best model, evaluation."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

import memenvs
from memenvs.errors import MaterialError
from memenvs.storage.reading import read_bounded, read_sealed, sealed
from memenvs.storage.trusted import remember
from memenvs.storage.whole import write_whole
from memenvs.train.config_files import read_config
from memenvs.train.learn.settings import Training, validate_training

CONFIG, VERSIONS, METRICS = "config.yaml", "versions.json", "metrics.csv"
BEST, EVALUATION, CHECKPOINTS = "best_model.zip", "evaluation.json", "checkpoints"
FORMAT = "memenvs.evaluation/1"
LONGEST = 2**20  # bytes of an evaluation
ALLOWED = (str, int, float, type(None))  # values of one
PACKAGES = ("memenvs", "gymnasium", "numpy", "stable-baselines3", "sb3-contrib", "torch")


class RunFolder:
    """One trained model's folder; every file in it is written whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / CHECKPOINTS
        self.best = path / BEST

    @property
    def finished(self) -> bool:
        """Whether the training is over and evaluated."""
        return (self.path / EVALUATION).exists()

    @property
    def evaluation(self) -> dict[str, Any]:
        """The final evaluation of a finished run."""
        path = self.path / EVALUATION
        found = read_sealed(read_bounded(path, LONGEST), FORMAT, "evaluation", str(path))
        wrong = [name for name, value in found.items() if not isinstance(value, ALLOWED)]
        if wrong or not {"best_steps", "materials", "precision"} <= found.keys():
            raise MaterialError("is no evaluation of a training", file=str(path))
        return found

    def begin(self, training: Training) -> None:
        """Write down what is to be run."""
        self.path.mkdir(parents=True, exist_ok=True)
        save_training(training, self.path)
        self._write(VERSIONS, as_json(versions()))

    def write_metrics(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the table of what was measured so far."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        self._write(METRICS, text.getvalue())

    def write_evaluation(self, evaluation: Mapping[str, Any]) -> None:
        """Write the final evaluation: with it the run is finished."""
        document = json.loads(json.dumps({"format": FORMAT, **evaluation}))
        self._write(EVALUATION, as_json(sealed(document)))

    def _write(self, name: str, text: str) -> None:
        write_whole(self.path / name, text.encode())


def read_metrics(folder: Path) -> list[dict[str, float]]:
    """Read the table of what was measured."""
    with (folder / METRICS).open(newline="") as stream:
        return [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(stream)]


def save_training(training: Training, folder: Path) -> None:
    """Write a training as resolved, so that it runs again as it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.dump(training.as_document(), Dumper=_WrittenOut, sort_keys=False).encode()
    write_whole(folder / CONFIG, text)
    remember(sha256(text).hexdigest())


class _WrittenOut(yaml.SafeDumper):  # type: ignore[misc]
    """Writes a value out wherever it stands: references are not read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def stored_training(folder: Path) -> Training:
    """Read the training of a folder; raises ``ValueError`` where there is none."""
    if not (folder / CONFIG).exists():
        raise ValueError(f"{folder}: holds no '{CONFIG}', so no run to go on with")
    label, settings = read_config(str(folder / CONFIG), training=True)
    return validate_training(settings, f"{label}: key ")


def versions() -> dict[str, str]:
    """Versions of Python and the packages, the machine, and the commit where there is one."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        found[package] = importlib.metadata.version(package)
    commit = _commit()
    return found | ({"commit": commit} if commit else {})


def _commit() -> str:
    """Commit of the checkout that is running; empty where it runs from elsewhere."""
    root = Path(memenvs.__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return ""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.stdout.strip()


def as_json(document: Mapping[str, Any]) -> str:
    """Give JSON as the files hold it."""
    return json.dumps(document, indent=1, sort_keys=True) + "\n"
