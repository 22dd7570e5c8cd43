"""What a comparison looks like: its tables as columns, and its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from memenvs.envs.family import MEMORIZATION
from memenvs.storage.whole import write_whole
from memenvs.train.compare import Comparison
from memenvs.train.measures import score_of
from memenvs.train.rendering import Column, Table, print_tables, text_column
from memenvs.train.summary import Record, shown
from memenvs.train.terminal import as_csv, number

WIDE = 0.01  # of an upper bound: an optimum that is known no better is warned of
MARKS = {"*": "privileged", "°": "knows", "‡": "taught_by", "†": "seen"}  # of a policy in a table


def marks(record: Record) -> str:
    """Give the marks of a policy in a table, and how many seeds it has."""
    found = [mark for mark, name in MARKS.items() if record[name]]
    seeds = f" ({record['seeds']} seeds)" if record["seeds"] > 1 else ""
    return f"{''.join(found)}{seeds}"


def unproved(sign: str) -> Callable[[Record], str]:
    """Give the sign of a bound where an optimum was not proved."""
    return lambda record: "" if record["frontier_proved"] else sign


POLICY = text_column("policy", "policy", "name", mark=marks)
HUNDREDTHS = partial(number, digits=2)
SIGNED = partial(number, sign="+")
MEMORY = (  # of memorization environments, after the objective
    Column("cover", "coverage"),
    Column("infl", "water_inflation"),
    Column("size", "size", lambda size: "–" if size is None else f"{size:.4g}"),
    Column("front", "frontier", mark=unproved("≤")),
    Column("loss", "efficiency_loss"),
    Column("share", "share", mark=unproved("≥")),
    Column("avoid", "avoidable_regret", HUNDREDTHS),
    Column("norm", "normalised", HUNDREDTHS),
)


def compared(baseline: str) -> tuple[Column, ...]:
    """Describe the columns of the table of differences from a baseline."""
    return (
        POLICY,
        Column("iqm", "iqm", ends=("iqm_low", "iqm_high")),
        Column(f"vs {baseline}", "difference", SIGNED, ends=("difference_low", "difference_high")),
        Column("better", "improvement", ends=("improvement_low", "improvement_high")),
    )


def measured(comparison: Comparison) -> list[Column]:
    """Describe the columns of the table of what was measured."""
    if comparison.family is MEMORIZATION:
        objective = Column(comparison.summary[0]["objective"], "utility", ends=("low", "high"))
        answered = [] if comparison.layer is None else [Column("answ", "answered")]
        return [POLICY, objective, *MEMORY, *answered]
    score = score_of(comparison.family)
    others = [Column(name, name) for name in shown(comparison.family) if name != score]
    return [POLICY, Column(score, score, ends=("low", "high")), *others]


def tables_of(comparison: Comparison) -> list[Table]:
    """Give two tables for each capacity: what was measured, and differences from the baseline."""
    found = []
    for capacity, members in groupby(comparison.summary, key=lambda s: s["capacity"]):
        records = list(members)
        title = "" if capacity is None else f"S = {capacity}"
        found.append(Table(measured(comparison), records, title))
        found.append(Table(compared(comparison.baseline), records))
    return found


def print_comparison(comparison: Comparison, format: str | None = None) -> None:
    """Print the tables, and what their columns mean."""
    print_tables(tables_of(comparison), legend(comparison), format)


def print_curves(curves: Sequence[Record]) -> None:
    """Print how the share of the frontier grows with the queries settled, a table for each tier."""
    print_tables(
        [
            curve_table(tier, list(members))
            for tier, members in groupby(curves, key=lambda record: record["tier"])
        ]
    )


def curve_table(tier: str, records: Sequence[Record]) -> Table:
    """Give a row for each policy, and a column for each number of queries settled."""
    shares = {(record["policy"], record["settled"]): record["share"] for record in records}

    def column(count: int) -> Column:
        return Column(str(count), lambda policy: shares[policy, count])

    columns = [column(count) for count in sorted({record["settled"] for record in records})]
    policies = list(dict.fromkeys(record["policy"] for record in records))
    title = f"{tier}: share of the frontier by queries settled while it was written"
    return Table([text_column("policy", str, "name"), *columns], policies, title)


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


def legend(comparison: Comparison) -> list[str]:
    """Say what the columns mean, and what limits the figures."""
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
        f"{_named(record['policy'], record['capacity'])}: {record['remark']}."
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
    return lines


def failures(failed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say of each policy how often it failed, and why it did first, by the rows that failed."""
    lines = []
    for (policy, capacity), members in groupby(
        failed, key=lambda row: (row["policy"], row["capacity"])
    ):
        rows = list(members)
        first = rows[0]
        lines.append(
            f"{_named(policy, capacity)} failed in {len(rows)} "
            f"{'episode' if len(rows) == 1 else 'episodes'}, first in episode {first['episode']} "
            f"of {first['instance']}: {first['reason']}"
        )
    return lines


def _named(policy: str, capacity: int | None) -> str:
    """Name a policy with its capacity, where its environment has one."""
    return policy if capacity is None else f"{policy} at S = {capacity}"
