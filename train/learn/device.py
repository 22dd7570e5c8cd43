"""Compares devices on one training: steps per second, time split, time to a validation score."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from memenvs.train.learn.folder import read_metrics
from memenvs.train.learn.ground import make_ground
from memenvs.train.learn.jobs import jobs_of
from memenvs.train.learn.run import train
from memenvs.train.learn.settings import Training

DEVICES = ("cpu", "cuda")
UNMEASURED = "unmeasured"
SPLIT = ("time_env", "time_forward", "time_optimiser", "time_evaluation")


def benchmark_devices(
    training: Training, share: float | None, tell: Callable[[str], None] = lambda line: None
) -> dict[str, dict[str, Any]]:
    """Train once on each device that is here; gives its figures, "unmeasured" on the others.

    ``share`` is the share of the frontier on validation materials whose time is taken: None for the
    highest that the CPU reached. Of several seeds the first is trained. Raises ``ValueError`` for
    what is not trained in legs, or has no frontier.
    """
    if training.algorithm == "estimator":
        raise ValueError("an estimator is fitted in one go and has no metrics; take another CONFIG")
    if training.game is not None and training.game.self_play is not None:
        raise ValueError("self-play is several trainings in turn; take another CONFIG")
    if make_ground(training).rules.budget is not None:
        raise ValueError("with a budget there is no frontier to take a share of; leave it out")
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
    wanted = max(row["validation_share"] for row in rows["cpu"]) if share is None else share
    return {
        device: figures(rows[device], wanted)
        if device in rows
        else dict.fromkeys(("steps_per_second", *SPLIT, "share", "seconds_to_share"), UNMEASURED)
        for device in DEVICES
    }


def figures(rows: Sequence[dict[str, float]], wanted: float) -> dict[str, Any]:
    """Sum up the metrics of one run; None for a share that it never reached.

    The first leg warms up, with materials to make and kernels to load: it counts for no speed,
    unless it is the only one.
    """
    warm = rows[1:] or rows
    reached = [row["seconds"] for row in rows if row["validation_share"] >= wanted]
    speed = [row["steps_per_second"] for row in warm]
    return {
        "steps_per_second": sorted(speed)[len(speed) // 2],
        **{name: sum(row[name] for row in warm) / len(warm) for name in SPLIT},
        "share": wanted,
        "seconds_to_share": reached[0] if reached else None,
    }
