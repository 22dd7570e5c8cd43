"""Compares devices on one training: steps per second, time split, time to a validation score."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from memenvs.train.learn.algorithms import ESTIMATORS
from memenvs.train.learn.environments import make_environments
from memenvs.train.learn.folder import read_metrics
from memenvs.train.learn.jobs import jobs_of
from memenvs.train.learn.run import train
from memenvs.train.learn.settings import Training
from memenvs.train.learn.validation import best_by

DEVICES = ("cpu", "cuda")
UNMEASURED = "unmeasured"
SPLIT = ("time_env", "time_forward", "time_optimiser", "time_evaluation")


def benchmark_devices(
    training: Training, share: float | None, tell: Callable[[str], None] = lambda line: None
) -> dict[str, dict[str, Any]]:
    """Train once on each device that is here; gives its figures, "unmeasured" on the others.

    ``share`` is what validation is to reach, whose time is taken: the share of the frontier, or the
    score of environments without one; None for the highest that the CPU reached. Of several seeds
    the first is trained. Raises ``ValueError`` for what is not evaluated while it trains.
    """
    if training.algorithm in ESTIMATORS:
        raise ValueError(
            f"algorithm '{training.algorithm}' writes no metrics while it is fitted; take another "
            "CONFIG"
        )
    if training.game is not None and training.game.self_play is not None:
        raise ValueError("self-play runs several trainings in turn; take another CONFIG")
    measure = _measure(training)
    rows: dict[str, list[dict[str, float]]] = {}
    for device in DEVICES:
        if device == "cuda" and not torch.cuda.is_available():
            continue
        tell(device)
        chosen = {"device": device, "seed": training.seed[:1], "leave_one_out": False}
        with tempfile.TemporaryDirectory() as folder:
            single = training.model_copy(update=chosen)
            train(single, Path(folder))
            rows[device] = read_metrics(jobs_of(single, Path(folder))[0].folder.path)
    column = f"validation_{measure}"
    wanted = max(row[column] for row in rows["cpu"]) if share is None else share
    return {
        device: figures(rows[device], wanted, measure)
        if device in rows
        else dict.fromkeys(
            ("steps_per_second", *SPLIT, measure, f"seconds_to_{measure}"), UNMEASURED
        )
        for device in DEVICES
    }


def _measure(training: Training) -> str:
    """Name what validation is to reach: a share of the frontier, where there is one."""
    played = make_environments(training)
    if played.rules is not None and played.rules.budget is None:
        return "share"
    return best_by(training.seat, played.family)[0]


def figures(
    rows: Sequence[dict[str, float]], wanted: float, measure: str = "share"
) -> dict[str, Any]:
    """Sum up the metrics of one run; None for a score that it never reached.

    The first interval warms up, with materials to make and kernels to load: it counts for no speed,
    unless it is the only one.
    """
    warm = rows[1:] or rows
    reached = [row["seconds"] for row in rows if row[f"validation_{measure}"] >= wanted]
    speed = [row["steps_per_second"] for row in warm]
    return {
        "steps_per_second": sorted(speed)[len(speed) // 2],
        **{name: sum(row[name] for row in warm) / len(warm) for name in SPLIT},
        measure: wanted,
        f"seconds_to_{measure}": reached[0] if reached else None,
    }
