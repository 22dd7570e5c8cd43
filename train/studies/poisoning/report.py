"""The study of poisoned histories: its tables and its plot."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.studies.poisoning.comparison import (
    BASELINE,
    DEFAULT_POLICIES,
    ORACLE,
    Record,
    Result,
    run_poisoning,
)
from memenvs.train.studies.poisoning.metrics import METRICS
from memenvs.train.studies.study import Findings, Tell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Headings of the table, in its order; the rest stands in the JSON.
SHOWN = {
    "attack_success_rate": "attack",
    "poison_retrieval_rate": "retrieval",
    "infection_persistence": "persist",
    "blast_radius": "blast",
    "amplification_factor": "amplif",
    "context_compression_ratio": "compr",
    "task_success_rate": "task",
    "accuracy": "accuracy",
    "accuracy_without_poison": "clean",
    "prompt_tokens": "tokens",
    "latency_ms": "ms",
}
PLOTTED = ("attack_success_rate", "blast_radius", "task_success_rate", "prompt_tokens")
LEGEND = (
    "Means over scenarios and reasoner seeds. attack: compromised critical prompts; retrieval: "
    "injected among the selected memories; persist: injected entries still eligible at the end; "
    "blast: prompts with a contaminated memory; amplif: selections of an injected entry; compr: "
    "selected over candidate tokens; task: subtasks with all critical prompts right; accuracy: "
    "right critical prompts; clean: the same without any poison; tokens, ms: of a prompt. "
    "* an oracle: it reads what no agent may know."
)


def study(
    tell: Tell,
    *,
    policy: Sequence[str],
    split: str,
    seeds: int,
    budget: int,
    attack: str,
    set_seed: int | None,
) -> Findings:
    """Play the scenarios, and lay out what was measured."""
    policies = list(dict.fromkeys(policy)) or list(DEFAULT_POLICIES)
    result = run_poisoning(
        policies,
        split=split,
        seeds=seeds,
        budget=budget,
        attack=attack,
        set_seed=set_seed,
        report=tell,
    )
    return Findings(
        document=result.as_document(),
        tables=tables(result),
        notes=[LEGEND],
        scores=[
            {
                "policy": name,
                "split": result.split,
                "attack": attack,
                "scenario": place,
                "seeds": seeds,
            }
            | {metric: float(found[place]) for metric, found in values.items()}
            for name, values in result.values.items()
            for place in range(len(next(iter(values.values()))))
        ],
        plots=partial(plots, result),
    )


def tables(result: Result) -> list[Table]:
    """Give the means, the differences from the baseline, and the paper's orderings."""
    means = [
        text_column("policy", "policy", "name", mark=lambda row: "*" * row["privileged"]),
        *(Column(head, name, number) for name, head in SHOWN.items()),
    ]
    found = [Table(means, result.rows())]
    gaps: dict[str, dict[str, Record]] = {}
    for gap in result.differences():
        gaps.setdefault(gap["metric"], {})[gap["policy"]] = gap
    if gaps:
        found.append(
            Table(
                [
                    text_column("metric", str),
                    *(_difference(name, gaps) for name in next(iter(gaps.values()))),
                ],
                [name for name in SHOWN if name != "latency_ms"],
                f"Difference from {BASELINE}, paired by scenario",
            )
        )
    if orderings := result.orderings():
        found.append(Table(ORDERED, orderings, "The paper's orderings"))
    return found


def number(value: float | None, *, sign: str = "") -> str:
    """Write a figure with three digits, or with one where it is large."""
    if value is None:
        return "–"
    return f"{value:{sign}.1f}" if abs(value) >= 20 else f"{value:{sign}.3f}"


SIGNED = partial(number, sign="+")
ORDERED = (
    text_column("metric", "metric"),
    text_column(
        "the paper's ordering",
        lambda row: f"{row['policy']} {'as' if row['equal'] else 'better than'} {row['baseline']}",
    ),
    Column("difference", "difference", SIGNED, ends=("low", "high")),
    text_column("here", "verdict"),
)


def _difference(policy: str, gaps: dict[str, dict[str, Record]]) -> Column:
    """Describe the column of a policy in the table of differences, whose rows are metrics."""
    return Column(
        policy,
        lambda metric: gaps[metric][policy]["difference"],
        SIGNED,
        ends=lambda metric: (gaps[metric][policy]["low"], gaps[metric][policy]["high"]),
    )


def plots(result: Result) -> dict[str, bytes]:
    """Draw the result as PNG and PDF."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 1.4 + 0.28 * len(result.values)), layout="constrained")
    draw(figure, result.rows())
    found = {}
    for suffix, metadata in (("png", None), ("pdf", {"CreationDate": None})):
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix, dpi=200, metadata=metadata)
        found[suffix] = stream.getvalue()
    return found


def draw(figure: Figure, rows: Sequence[Record]) -> None:
    """Draw a panel for each plotted metric: a point and its interval for every policy."""
    panels: Any = figure.subplots(1, len(PLOTTED), sharey=True)
    names = [Path(row["policy"]).stem if "/" in row["policy"] else row["policy"] for row in rows]
    for axes, metric in zip(panels, PLOTTED, strict=True):
        for place, row in enumerate(rows):
            if row[metric] is None:
                continue
            low, high = row["intervals"][metric] or (row[metric], row[metric])
            colour = "#7F7F7F" if row["policy"] == ORACLE else "#0072B2"
            axes.hlines(place, low, high, color=colour, lw=1.4)
            axes.plot(row[metric], place, "o", color=colour, ms=4)
        better = "lower" if METRICS[metric] else "higher"
        axes.set_xlabel(f"{metric.replace('_', ' ')}\n({better} is better)", fontsize="small")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", lw=0.4, alpha=0.5)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
