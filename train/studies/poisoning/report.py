"""What a comparison on poisoned scenarios looks like: tables, Markdown, and a plot."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memenvs.material.files import write_whole
from memenvs.train.studies.poisoning.comparison import BASELINE, ORACLE, Record, Result
from memenvs.train.studies.poisoning.metrics import METRICS

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


def number(value: float | None, *, sign: str = "") -> str:
    """Write a figure with three digits, or with one where it is large."""
    if value is None:
        return "–"
    return f"{value:{sign}.1f}" if abs(value) >= 20 else f"{value:{sign}.3f}"


def interval(bounds: Sequence[float] | None, *, sign: str = "") -> str:
    """Write an interval in brackets."""
    if bounds is None or None in bounds:
        return ""
    return f"[{' '.join(number(bound, sign=sign) for bound in bounds)}]"


def cells(result: Result) -> list[list[str]]:
    """Give the rows of the table as text."""
    return [
        [row["policy"] + "*" * row["privileged"], *(number(row[name]) for name in SHOWN)]
        for row in result.rows()
    ]


def gaps(result: Result) -> list[list[str]]:
    """Give the differences from the baseline with their intervals, as text."""
    found = {(gap["policy"], gap["metric"]): gap for gap in result.differences()}
    return [
        [policy, *(_gap(found[policy, name]) for name in SHOWN if name != "latency_ms")]
        for policy in result.values
        if policy != BASELINE and BASELINE in result.values
    ]


def verdicts(result: Result) -> list[list[str]]:
    """Give the orderings of the paper, each with its verdict, as text."""
    return [
        [
            each["metric"],
            f"{each['policy']} {'as' if each['equal'] else 'better than'} {each['baseline']}",
            _gap(each),
            each["verdict"],
        ]
        for each in result.orderings()
    ]


def as_markdown(result: Result) -> str:
    """Write the three tables in Markdown."""
    head = ["policy", *SHOWN.values()]
    parts = [_table(head, cells(result))]
    if rows := gaps(result):
        parts += [f"Less `{BASELINE}`, paired by scenario:", _table(head[:-1], rows)]
    if rows := verdicts(result):
        parts.append(_table(["metric", "the paper's ordering", "difference", "here"], rows))
    return "\n\n".join(parts) + "\n"


def write_results(result: Result, folder: Path) -> None:
    """Write poisoning.json, poisoning.md, and the plot as PNG and PDF; raises ``OSError``."""
    folder.mkdir(parents=True, exist_ok=True)
    document = json.dumps(result.as_document(), allow_nan=False, indent=1)
    write_whole(folder / "poisoning.json", document.encode())
    write_whole(folder / "poisoning.md", as_markdown(result).encode())
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 1.4 + 0.28 * len(result.values)), layout="constrained")
    draw(figure, result.rows())
    for suffix, metadata in (("png", None), ("pdf", {"CreationDate": None})):
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix, dpi=200, metadata=metadata)
        write_whole(folder / f"poisoning.{suffix}", stream.getvalue())


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


def _gap(gap: Record) -> str:
    bounds = interval((gap["low"], gap["high"]), sign="+")
    return f"{number(gap['difference'], sign='+')} {bounds}".strip()


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
