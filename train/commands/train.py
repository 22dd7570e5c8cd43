"""`memenvs train`: learn a policy; a run is a folder that can be gone on with."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from memenvs.train.learn.run import NewCallback
    from memenvs.train.learn.settings import Training

INTERRUPTED, TERMINATED = 130, 143


class _Terminated(BaseException):
    """SIGTERM arrived."""


@click.command()
@click.argument("config", required=False)
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Override a key.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), help="Where to compute.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), multiple=True, help="Repeat it.")
@click.option("--out", metavar="DIR", help="Folder of the run (runs/CONFIG).")
@click.option("--resume", metavar="DIR", help="Go on with the run in this folder.")
@click.option(
    "--callback",
    "callbacks",
    metavar="MODULE:CLASS",
    multiple=True,
    help="A callback of Stable-Baselines3 of yours, made without arguments.",
)
def train(
    config: str | None,
    assignments: tuple[str, ...],
    device: str | None,
    seed: tuple[int, ...],
    out: str | None,
    resume: str | None,
    callbacks: tuple[str, ...],
) -> None:
    """Train a write policy as CONFIG says: a YAML file, or a name that comes with the package.

    In a game of several agents it may be the writer's opponent that is trained.

    The folder of the run holds the configuration as resolved, metrics, checkpoints, the best model
    by validation (DIR/best_model.zip) and a final evaluation. Several seeds have a folder each,
    DIR/seed-N. Whatever interrupts it, --resume goes on from the last checkpoint as if nothing had
    happened.
    """
    from memenvs.train.learn.folder import stored_training
    from memenvs.train.learn.settings import load_training

    if bool(config) == bool(resume):
        raise click.UsageError("give what to train: a CONFIG, or --resume DIR, not both")
    if resume is not None:
        if assignments or seed or out:
            raise click.UsageError("--resume goes on as it was begun: leave --set, --seed, --out")
        folder = Path(resume)
        training = stored_training(folder)
        if device is not None:
            training = training.model_copy(update={"device": device})
    else:
        assert config is not None
        given: dict[str, Any] = {"seed": list(seed)} if seed else {}
        training = load_training(
            config, assignments, given | ({"device": device} if device else {})
        )
        folder = Path(out or f"runs/{Path(config).stem}")
        if (folder / "config.yaml").exists():
            raise ValueError(f"{folder} holds a run; go on with it by --resume {folder}, or --out")
    sys.exit(_train(training, folder, [_callback(name) for name in callbacks]))


def _callback(name: str) -> NewCallback:
    """Find a class of callbacks; raises ``ValueError`` where it is none."""
    from stable_baselines3.common.callbacks import BaseCallback

    from memenvs.policies.user_code import find_code, is_code

    if not is_code(name):
        raise ValueError(f"--callback {name}: give MODULE:CLASS or FILE.py:CLASS")
    try:
        found = find_code(name)
    except (FileNotFoundError, ModuleNotFoundError) as error:
        raise ValueError(f"--callback {name}: {error}") from None
    if not (isinstance(found, type) and issubclass(found, BaseCallback)):
        raise ValueError(f"--callback {name}: is no class of Stable-Baselines3's BaseCallback")
    return found


def _train(training: Training, folder: Path, callbacks: Sequence[NewCallback]) -> int:
    """Train, and say how to go on where something stops it; gives the exit code."""
    from memenvs.train.learn.jobs import jobs_of
    from memenvs.train.learn.progress import Progress, headline
    from memenvs.train.learn.run import train as run

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with Progress() as progress:
            found = run(training, folder, progress.report, callbacks=callbacks)
    except KeyboardInterrupt:
        click.echo(f"memenvs: interrupted; {_how(folder)}", err=True)
        return INTERRUPTED
    except _Terminated:
        click.echo(f"memenvs: terminated; {_how(folder)}", err=True)
        return TERMINATED
    except OSError as error:
        name = error.filename or folder
        raise ValueError(f"{name}: {error.strerror or error}; {_how(folder)}") from None
    finally:
        signal.signal(signal.SIGTERM, before)
    for job, evaluation in zip(jobs_of(training, folder), found, strict=True):
        what = "materials" if "precision" in evaluation else "episodes"
        click.echo(f"{job.folder.best}: {headline(evaluation)} on {evaluation['materials']} {what}")
    return 0


def _how(folder: Path) -> str:
    """Say how to go on, where anything was begun."""
    from memenvs.train.learn.folder import CONFIG

    if not (folder / CONFIG).exists():
        return "nothing was begun; start again"
    return f"the last good checkpoint stays, go on with: memenvs train --resume {folder}"
