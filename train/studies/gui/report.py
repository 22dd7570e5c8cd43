"""How a ladder is shown: a table for each group of tasks, and figure 3 of the paper."""

from __future__ import annotations

import io
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memenvs.material.files import write_whole
from memenvs.train.plots import COLOURS, INK, STYLE
from memenvs.train.studies.gui.ladder import CONTAINERS, RULE, Ladder
from memenvs.train.studies.gui.summary import Row, cumulative
from memenvs.train.terminal import as_json, make_console, plain_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEGEND = (
    "Episodes after the exploring third. difference: from memoryless, paired, with a 95% bootstrap "
    "interval over cells and McNemar's exact p; bases: the same interval and a sign-flip p over "
    "seed bases, which share nothing; lead: action-conditioned minus this system, over bases; "
    "cover, over, prec: shares of decisions with evidence and overridden, and of overridden "
    "outcomes that moved to success; pages: for each block; steps: where every system succeeds; "
    "run: success of all episodes; from: the episode from which on it is above memoryless; alone: "
    "decisions at which the policy proposed one action."
)
HEADER = (
    "system",
    "success",
    "difference",
    "p",
    "bases",
    "p",
    "lead",
    "cover",
    "over",
    "prec",
    "pages",
    "steps",
    "run",
    "from",
    "alone",
)
RESAMPLES = 2000


def print_rows(rows: list[Row]) -> None:
    """Print a table for each group of tasks."""
    console = make_console()
    console.width = max(console.width, 150)
    for task, members in groupby(rows, key=lambda row: row["task"]):
        table = plain_table(HEADER, [_cells(row) for row in members], {"system"})
        table.title = str(task)
        console.print(table)
    console.print(LEGEND, style="dim")


def save(ladder: Ladder, rows: list[Row], folder: Path) -> None:
    """Write gui.json with the rows, and gui.png with the cumulative success; needs matplotlib."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "gui.json", as_json({"rows": rows}).encode())
    groups = ladder.groups()
    tasks = groups.get(CONTAINERS, ladder.tasks)
    with rc_context(STYLE):
        figure = Figure(figsize=(11.0, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        draw_cumulative(left, ladder, tasks)
        group = CONTAINERS if CONTAINERS in groups else tasks[0]
        draw_decisions(right, [row for row in rows if row["task"] == group])
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=200)
    write_whole(folder / "gui.png", stream.getvalue())


def draw_cumulative(axes: Axes, ladder: Ladder, tasks: tuple[str, ...]) -> None:
    """Draw figure 3 (a): cumulative success, with a band over bases on the rule's curve alone."""
    episodes = np.arange(1, ladder.episodes + 1)
    rng = np.random.default_rng(0)
    for place, system in enumerate(ladder.systems):
        curves = cumulative(ladder, system, tasks)
        colour = COLOURS[place % len(COLOURS)]
        dash = "-" if place < len(COLOURS) else "--"
        width = 2.2 if system == RULE else 1.2
        axes.plot(episodes, curves.mean(axis=0), dash, color=colour, lw=width, label=system)
        if system == RULE and len(curves) > 1:
            drawn = rng.integers(len(curves), size=(RESAMPLES, len(curves)))
            low, high = np.percentile(curves[drawn].mean(axis=1), [2.5, 97.5], axis=0)
            axes.fill_between(episodes, low, high, color=colour, alpha=0.2, lw=0)
    explored = next(iter(ladder.runs.values())).exploring
    axes.axvline(explored + 0.5, color=INK, lw=0.8, ls=":")
    axes.set_xlabel("episode (to the left of the line with detours)")
    axes.set_ylabel("cumulative success rate")
    axes.legend(frameon=False, fontsize=7, ncols=2)


def draw_decisions(axes: Axes, rows: list[Row]) -> None:
    """Draw figure 3 (b): how often memories could speak, spoke, and were right, of one group."""
    parts = ("coverage", "override_rate", "override_precision")
    kept = [row for row in rows if row["coverage"] > 0]
    width = 0.8 / max(len(kept), 1)
    for place, row in enumerate(kept):
        heights = [row[part] or 0.0 for part in parts]
        at = np.arange(len(parts)) + (place - len(kept) / 2 + 0.5) * width
        axes.bar(at, heights, width, color=COLOURS[place % len(COLOURS)], label=row["system"])
    axes.set_xticks(range(len(parts)), ["evidence", "overrides", "precision of overrides"])
    axes.set_ylabel("share")
    axes.legend(frameon=False, fontsize=7)


def _cells(row: Row) -> list[str]:
    return [
        row["system"],
        f"{row['success_rate']:.3f}",
        _between(row["difference"], row["low"], row["high"]),
        _p(row["p"]),
        _between(None, row["base_low"], row["base_high"]),
        _p(row["base_p"]),
        _between(row["lead"], row["lead_low"], row["lead_high"]),
        f"{row['coverage']:.2f}",
        f"{row['override_rate']:.2f}",
        "–" if row["override_precision"] is None else f"{row['override_precision']:.2f}",
        f"{row['collapse']:.1f}",
        "–" if row["steps"] is None else f"{row['steps']:.2f}",
        f"{row['run_success']:.3f}",
        "–" if row["crossing"] is None else str(row["crossing"]),
        str(row["shortcuts"]),
    ]


def _between(value: float | None, low: float | None, high: float | None) -> str:
    shown = "" if value is None else f"{value:+.3f}"
    bounds = "" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"
    return f"{shown} {bounds}".strip() or "–"


def _p(value: Any) -> str:
    if value is None:
        return "–"
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
