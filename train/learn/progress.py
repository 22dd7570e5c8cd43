"""Progress of a training on standard error: a bar with the time left, a line an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from memenvs.train.terminal import make_console

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memenvs.train.learn.jobs import Job


class Progress:
    """A bar over the steps of all models, where standard error is a terminal."""

    def __init__(self) -> None:
        self._console = make_console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} / {task.total:,.0f} steps"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._tasks: dict[Path, TaskID] = {}

    def __enter__(self) -> Progress:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        """Take the bar away."""
        self._bar.stop()

    def report(self, job: Job, steps: int, row: dict[str, Any] | None) -> None:
        """Move the bar, and print what was measured."""
        task = self._tasks.get(job.folder.path)
        if task is None:
            task = self._bar.add_task(str(job.folder.path), total=job.steps)
            self._tasks[job.folder.path] = task
        self._bar.update(task, completed=steps)
        if row:
            self._console.print(
                f"{job.folder.path}: {steps:,} of {job.steps:,} steps, {row['seconds']:.0f} s, "
                f"{row['steps_per_second']:,.0f} steps/s: "
                f"validation {headline(row, 'validation_')}",
                highlight=False,
                soft_wrap=True,
            )


def headline(measured: Mapping[str, Any], prefix: str = "") -> str:
    """Say the figure that stands for an evaluation, and the share of the frontier, if there is one.

    It is the utility of what is played where the family has one, or success, and the reward of an
    episode where nothing is known.
    """
    name = next(n for n in ("success", "utility", "reward") if prefix + n in measured)
    share = measured.get(f"{prefix}share")
    of_frontier = "" if share is None else f", {share:.1%} of the frontier"
    return f"{name} {measured[prefix + name]:.3f}{of_frontier}"
