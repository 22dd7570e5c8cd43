"""The study of merge rules: a table for each group of tasks, and figure 3 of the paper."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memenvs.envs.miniwob.browser import BrowserError
from memenvs.train.plots import COLOURS, INK, STYLE
from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.studies.gui.ladder import CONTAINERS, RULE, Ladder, climb
from memenvs.train.studies.gui.summary import Row, cumulative, summarise
from memenvs.train.studies.study import Findings, Tell
from memenvs.train.terminal import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memenvs.policies.bisimulation.adapter import Shortlister

LEGEND = (
    "Episodes after the exploring third. difference: from memoryless, paired, with a 95% bootstrap "
    "interval over cells and McNemar's exact p; bases: the same interval and a sign-flip p over "
    "seed bases, which share nothing; lead: action-conditioned minus this system, over bases; "
    "cover, over, prec: shares of decisions with evidence and overridden, and of overridden "
    "outcomes that moved to success; pages: for each block; steps: where every system succeeds; "
    "run: success of all episodes; from: the episode from which on it is above memoryless; alone: "
    "decisions at which the policy proposed one action."
)
RESAMPLES = 2000
SIGNED = partial(number, sign="+")
SHARE = partial(number, digits=2)


def _p(value: Any) -> str:
    return "<.001" if value is not None and value < 0.001 else number(value)


COLUMNS = (
    text_column("system", "system", "name"),
    Column("success", "success_rate"),
    Column("difference", "difference", SIGNED, ends=("low", "high")),
    Column("p", "p", _p),
    Column("bases", lambda row: None, lambda _: "", ends=("base_low", "base_high")),
    Column("p of bases", "base_p", _p),
    Column("lead", "lead", SIGNED, ends=("lead_low", "lead_high")),
    Column("cover", "coverage", SHARE),
    Column("over", "override_rate", SHARE),
    Column("prec", "override_precision", SHARE),
    Column("pages", "collapse", partial(number, digits=1)),
    Column("steps", "steps", SHARE),
    Column("run", "run_success"),
    Column("from", "crossing", lambda value: "–" if value is None else str(value)),
    Column("alone", "shortcuts", str),
)


def study(
    tell: Tell,
    *,
    tasks: Sequence[str],
    systems: Sequence[str],
    episodes: int,
    bases: int,
    first_base: int,
    real: bool,
    recording: Path | None,
    model_url: str | None,
    model: str,
) -> Findings:
    """Play the ladder of merge rules, and lay out what each reached."""
    if recording is not None and not real:
        raise ValueError("--recording keeps what real pages showed; give --real with it")
    with ExitStack() as stack:
        if real and recording is None:  # further systems need not see a page again
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="memenvs-pages-"))
            recording = Path(folder) / "pages.sqlite"
        try:
            ladder = climb(
                _policy(model_url, model),
                lambda task: _env(task, real, recording),
                tasks=tasks,
                systems=systems,
                bases=range(first_base, first_base + bases),
                episodes=episodes,
                real=real,
                progress=lambda task: tell(f"playing {task}"),
            )
        except BrowserError as error:
            raise ValueError(str(error)) from None
    rows = summarise(ladder)
    return Findings(
        document={"rows": rows},
        tables=[
            Table(COLUMNS, list(members), str(task))
            for task, members in groupby(rows, key=lambda row: row["task"])
        ],
        notes=[LEGEND],
        scores=scores(ladder),
        plots=lambda: {"png": draw(ladder, rows)},
    )


def scores(ladder: Ladder) -> list[Row]:
    """Give a row for each episode of each system."""
    return [
        {
            "system": system,
            "task": task,
            "base": base,
            "episode": episode,
            "exploring": episode < run.exploring,
            "success": bool(run.success[episode]),
            **{
                name: int(getattr(run, name)[episode])
                for name in ("steps", "covered", "overridden", "shortcuts")
            },
            "collapse": run.collapse,
        }
        for (system, task, base), run in ladder.runs.items()
        for episode in range(len(run.success))
    ]


def _env(task: str, real: bool, recording: Path | None) -> Any:
    if real:
        from memenvs.envs.miniwob.miniwob_env import MiniWoBEnv

        return MiniWoBEnv(task, recording=recording)
    from memenvs.envs.panels.panels_env import PanelsEnv

    return PanelsEnv(task)


def _policy(url: str | None, model: str) -> Shortlister:
    if url is None:
        from memenvs.policies.gui import ScriptedPolicy

        return ScriptedPolicy()
    from memenvs.policies.gui import ModelPolicy
    from memenvs.text.chat import Chat
    from memenvs.text.origins import key_for

    return ModelPolicy(Chat(url, model, "model", key=key_for("model", url)))


def draw(ladder: Ladder, rows: list[Row]) -> bytes:
    """Draw the cumulative success and the decisions, as PNG; needs matplotlib."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

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
    return stream.getvalue()


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
