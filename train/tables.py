"""What a comparison looks like: tables on the terminal, JSON, CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from memenvs.envs.family import MEMORIZATION
from memenvs.material.files import write_whole
from memenvs.train.compare import Comparison, Record, shown
from memenvs.train.measures import score_of
from memenvs.train.terminal import WIDTH, as_csv, interval, make_console, number, plain_table

if TYPE_CHECKING:
    from rich.table import Table

WIDE = 0.01  # of an upper bound: an optimum that is known no better is warned of
NAME = 24  # characters of a policy's name that leave room for the numbers
FIRST = ("cover", "infl", "size", "front", "loss", "share", "avoid", "norm")
MARKS = {"*": "privileged", "°": "knows", "‡": "taught_by", "†": "seen"}  # of a policy in a table


def print_comparison(comparison: Comparison) -> None:
    """Print two tables for each capacity, and what their columns mean.

    Where the output is no terminal, room is made for the long names of models and systems.
    """
    console = make_console()
    if not console.is_terminal:
        longest = max(len(record["policy"]) for record in comparison.summary)
        console.width = WIDTH + max(0, longest - NAME)
        if comparison.family is not MEMORIZATION:
            console.width += sum(len(name) for name in shown(comparison.family))
    for capacity, members in groupby(comparison.summary, key=lambda s: s["capacity"]):
        records = list(members)
        title = "" if capacity is None else f"S = {capacity}"
        if comparison.family is MEMORIZATION:
            heads = ["policy", records[0]["objective"], *FIRST]
            heads += [] if comparison.layer is None else ["answ"]
            console.print(_table(title, heads, map(_cells, records)))
        else:
            score = score_of(comparison.family)
            others = [name for name in shown(comparison.family) if name != score]
            cells = [_plain_cells(record, score, others) for record in records]
            console.print(_table(title, ("policy", score, *others), cells))
        columns = ("policy", "iqm", f"vs {comparison.baseline}", "better")
        console.print()
        console.print(_table("", columns, map(_compared, records)))
    console.print(_legend(comparison), style="dim")


def print_curves(curves: Sequence[Record]) -> None:
    """Print how the share of the frontier grows with the queries settled, a table for each tier."""
    console = make_console()
    for tier, members in groupby(curves, key=lambda record: record["tier"]):
        records = list(members)
        counts = sorted({record["settled"] for record in records})
        rows = []
        for policy in dict.fromkeys(record["policy"] for record in records):
            own = {r["settled"]: r["share"] for r in records if r["policy"] == policy}
            rows.append((policy, *(number(own[count]) for count in counts)))
        title = f"{tier}: share of the frontier by queries settled while it was written"
        console.print(_table(title, ("policy", *map(str, counts)), rows))


def write_tables(comparison: Comparison, folder: Path) -> None:
    """Write rows.csv, summary.csv and comparison.json; raises ``OSError``."""
    write_whole(folder / "rows.csv", as_csv(comparison.rows))
    write_whole(folder / "summary.csv", as_csv([_flat(record) for record in comparison.summary]))
    document = json.dumps(comparison.as_document(), allow_nan=False, indent=1)
    write_whole(folder / "comparison.json", document.encode())


def _flat(record: Record) -> Record:
    flat = {name: value for name, value in record.items() if name != "intervals"}
    for name, ends in record["intervals"].items():
        flat[f"{name}_low"], flat[f"{name}_high"] = ends or (None, None)
    return flat


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = plain_table(columns, rows, {"policy"})
    table.title = f"\n{title}" if title else ""
    return table


def _plain_cells(record: Record, score: str, others: Sequence[str]) -> tuple[str, ...]:
    """Give the cells of an environment without memories of slots."""
    return (
        named(record),
        f"{number(record[score])} {interval(record['low'], record['high'])}",
        *(number(record[name]) for name in others),
    )


def _cells(record: Record) -> tuple[str, ...]:
    return (
        named(record),
        f"{number(record['utility'])} {interval(record['low'], record['high'])}",
        number(record["coverage"]),
        number(record["water_inflation"]),
        "–" if record["size"] is None else f"{record['size']:.4g}",
        number(record["frontier"]) + ("" if record["frontier_proved"] else "≤"),
        number(record["efficiency_loss"]),
        ("" if record["frontier_proved"] else "≥") + number(record["share"]),
        number(record["avoidable_regret"], digits=2),
        number(record["normalised"], digits=2),
        *([] if record["answered"] is None else [number(record["answered"])]),
    )


def _compared(record: Record) -> tuple[str, ...]:
    return (
        named(record),
        f"{number(record['iqm'])} {interval(record['iqm_low'], record['iqm_high'])}",
        f"{number(record['difference'], sign='+')} "
        f"{interval(record['difference_low'], record['difference_high'], sign='+')}",
        f"{number(record['improvement'], digits=2)} "
        f"{interval(record['improvement_low'], record['improvement_high'])}",
    )


def named(record: Record) -> str:
    """Give the name of a policy with its marks, and how many seeds it has."""
    marks = [mark for mark, name in MARKS.items() if record[name]]
    seeds = f" ({record['seeds']} seeds)" if record["seeds"] > 1 else ""
    return f"{record['policy']}{''.join(marks)}{seeds}"


def explained(records: Sequence[Record]) -> list[str]:
    """Explain the seeds and marks of the policies in a table."""
    lines = []
    if any(record["seeds"] > 1 for record in records):
        lines.append("Of a training with several seeds the intervals are over the seeds, too.")
    if any(record["privileged"] for record in records):
        lines.append("* an oracle: it reads what no agent may know.")
    for known in sorted({record["knows"] for record in records} - {""}):
        lines.append(f"° knows the generator's {known}, and no truth.")
    for teacher in sorted({record["taught_by"] for record in records} - {""}):
        lines.append(f"‡ its training was helped by {teacher}.")
    if any(record["seen"] for record in records):
        lines.append("† it was trained on materials that it plays here.")
    return lines


def _legend(comparison: Comparison) -> str:
    first = comparison.summary[0]
    of_one = first["interval_over"] == "episodes"
    kinds = first["interval_over"]
    over = f"{first['episodes']} episodes" if of_one else f"{first[kinds]} {kinds}"
    columns = ""
    if comparison.family is MEMORIZATION:
        columns = (
            "The first column is the expected value of the final memory by the objective, "
            f"{first['objective']}. front: its best at the memory's own size; loss: how far that "
            "is above it; share: of the best at S; norm: random 0, best at S 1; avoid: regret "
            "beyond what the order of arrival costs anyone; infl: coverage less precision; "
        )
    lines = [
        f"Means over {over}, in brackets their 95% bootstrap intervals. {columns}iqm: mean of the "
        f"middle half; better: how often it beats the baseline on the same {kinds[:-1]}"
        f"{'' if of_one or not columns else ' or episode'}."
    ]
    if comparison.layer is not None:
        layer = comparison.layer
        lines.append(
            f"answ: answered from the memory: reader {layer.reader}, reasoner {layer.reasoner}, "
            f"right by {layer.correct}."
        )
        lines += [f"{chat.model} at {chat.url}: {chat.usage}." for chat in layer.chats]
    if comparison.family is MEMORIZATION and first["full_context"] is not None:
        lines.append(f"A memory of everything is worth {number(first['full_context'])}.")
    lines += explained(comparison.summary)
    lines += [
        f"{record['policy']} at S = {record['capacity']}: {record['remark']}."
        for record in comparison.summary
        if record["remark"]
    ]
    if not all(record.get("frontier_proved", True) for record in comparison.summary):
        lines.append("≤ an upper bound: the optimum was not proved within the time limit.")
    widest = max((record.get("frontier_width", 0.0) for record in comparison.summary), default=0.0)
    if widest > WIDE:
        lines.append(
            f"The best at S is known only to within {widest:.0%} of its upper bound: shares and "
            "regrets may say more of the bound than of the policies; give a longer --time-limit."
        )
    return "\n".join(lines)


def failures(comparison: Comparison) -> list[str]:
    """Say of each policy that failed how often, and why it did first."""
    lines = []
    for (policy, capacity), members in groupby(
        comparison.failed, key=lambda row: (row["policy"], row["capacity"])
    ):
        rows = list(members)
        first = rows[0]
        at = "" if capacity is None else f" at S = {capacity}"
        lines.append(
            f"{policy}{at} failed in {len(rows)} episodes, first in episode {first['episode']} of "
            f"{first['instance']}: {first['reason']}"
        )
    return lines
