"""What a ladder shows: success against the memoryless system, cell by cell and over seed bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.train.statistics import mean_interval
from memenvs.train.studies.gui.ladder import BASELINE, RULE, Ladder
from memenvs.train.studies.gui.runs import Run

Row = dict[str, Any]


def summarise(ladder: Ladder) -> list[Row]:
    """Give a row for each group of tasks and system, over the episodes that do not explore.

    ``difference`` is paired with the memoryless system; ``low`` and ``high`` bound it by a
    bootstrap over cells, ``p`` is McNemar's exact test. Cells of one base share a memory, so
    ``base_low``, ``base_high`` and ``base_p`` say the same over bases: a bootstrap, and an exact
    test that flips the signs of their differences. ``lead`` is what the action-conditioned rule
    reaches beyond the system, with its interval over bases. ``run_success`` is over all episodes,
    those that explore among them; ``crossing`` the first episode from which on the cumulative
    success is above the memoryless system's, None where it is not at the end; ``shortcuts`` how
    often the policy proposed one action alone.
    """
    return [
        _row(ladder, group, tasks, system)
        for group, tasks in ladder.groups().items()
        for system in ladder.systems
    ]


def mcnemar(gained: int, lost: int) -> float:
    """Exact two-sided p of McNemar's test; 1 without a discordant cell."""
    from scipy.stats import binomtest

    total = gained + lost
    return float(binomtest(gained, total, 0.5).pvalue) if total else 1.0


def sign_flip(differences: FloatArray) -> float | None:
    """Exact two-sided p that the mean of ``(n,)`` is 0 by flipping signs; None below two values.

    Of more than twenty values, a million flips are drawn with a fixed seed.
    """
    from scipy.stats import permutation_test

    if len(differences) < 2:
        return None
    found = permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=1_000_000,
        batch=10_000,
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def _row(ladder: Ladder, group: str, tasks: Sequence[str], system: str) -> Row:
    own, base = _cells(ladder, system, tasks), _cells(ladder, BASELINE, tasks)
    gained, lost = own.success & ~base.success, base.success & ~own.success
    apart = own.success.astype(float) - base.success
    by_base = apart.mean(axis=(1, 2))
    interval = mean_interval(apart.reshape(-1)) or (None, None)
    base_interval = mean_interval(by_base) or (None, None)
    acted = own.overridden > 0
    moved = int((gained & acted).sum()), int((lost & acted).sum())
    decisions = int(own.steps.sum())
    solved = np.logical_and.reduce(
        [_cells(ladder, name, tasks).success for name in (BASELINE, *ladder.systems)]
    )
    return {
        "system": system,
        "task": group,
        "success_rate": float(own.success.mean()),
        "difference": float(apart.mean()),
        "low": interval[0],
        "high": interval[1],
        "p": mcnemar(int(gained.sum()), int(lost.sum())),
        "gained": int(gained.sum()),
        "lost": int(lost.sum()),
        "cells": int(own.success.size),
        "base_low": base_interval[0],
        "base_high": base_interval[1],
        "base_p": sign_flip(by_base),
        **_lead(ladder, tasks, own),
        "coverage": int(own.covered.sum()) / decisions,
        "override_rate": int(own.overridden.sum()) / decisions,
        "override_precision": moved[0] / sum(moved) if sum(moved) else None,
        "collapse": float(np.mean(own.collapse)),
        "steps": float(own.steps[solved].mean()) if solved.any() else None,
        "solved_by_all": int(solved.sum()),
        "run_success": float(cumulative(ladder, system, tasks)[:, -1].mean()),
        "crossing": crossing(
            cumulative(ladder, system, tasks).mean(axis=0),
            cumulative(ladder, BASELINE, tasks).mean(axis=0),
        ),
        "shortcuts": sum(
            int(ladder.runs[system, task, base].shortcuts.sum())
            for task in tasks
            for base in ladder.bases
        ),
    }


def crossing(curve: FloatArray, other: FloatArray) -> int | None:
    """Number, from 1, the episode from which on a curve ``(n,)`` is above another to the end."""
    below = np.flatnonzero(curve <= other + 1e-12)
    first = int(below[-1]) + 2 if len(below) else 1
    return first if first <= len(curve) else None


def _lead(ladder: Ladder, tasks: Sequence[str], own: Cells) -> Row:
    """Say what the rule reaches beyond a system."""
    if RULE not in ladder.systems:
        return {"lead": None, "lead_low": None, "lead_high": None, "lead_p": None}
    rule = _cells(ladder, RULE, tasks).success.astype(float)
    by_base = (rule - own.success).mean(axis=(1, 2))
    low, high = mean_interval(by_base) or (None, None)
    return {
        "lead": float(by_base.mean()),
        "lead_low": low,
        "lead_high": high,
        "lead_p": sign_flip(by_base),
    }


class Cells:
    """The reported episodes of one system: arrays ``(bases, tasks, episodes)``."""

    def __init__(self, runs: Sequence[Sequence[Run]]) -> None:
        def part(name: str) -> Any:
            return np.array([[getattr(r, name)[r.exploring :] for r in row] for row in runs])

        self.success: BoolArray = part("success")
        self.steps: IntArray = part("steps")
        self.covered: IntArray = part("covered")
        self.overridden: IntArray = part("overridden")
        self.collapse: FloatArray = np.array([[run.collapse for run in row] for row in runs])


def _cells(ladder: Ladder, system: str, tasks: Sequence[str]) -> Cells:
    return Cells([[ladder.runs[system, task, base] for task in tasks] for base in ladder.bases])


def cumulative(ladder: Ladder, system: str, tasks: Sequence[str]) -> FloatArray:
    """Cumulative success rate after each episode, of every base: ``(bases, episodes)``."""
    success = np.array(
        [[ladder.runs[system, task, base].success for task in tasks] for base in ladder.bases]
    ).mean(axis=1)
    return np.asarray(success.cumsum(axis=1) / np.arange(1, success.shape[1] + 1))
