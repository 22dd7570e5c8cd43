"""What a comparison looks like: tables on the terminal, JSON, CSV."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memenvs.material.files import write_whole
from memenvs.storage.messages import csv_cell, visible
from memenvs.train.compare import Comparison, Record

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 100  # where the output is no terminal
NAME = 24  # characters of a policy's name that leave room for the numbers
FIRST = ("policy", "precision", "cover", "infl", "size", "front", "loss", "share", "norm")
MARKS = {"*": "privileged", "°": "knows", "‡": "taught_by", "†": "seen"}  # of a policy in a table


def print_comparison(comparison: Comparison) -> None:
    """Print two tables for each capacity, and what their columns mean.

    Where the output is no terminal, room is made for the long names of models and systems.
    """
    console = make_console()
    if not console.is_terminal:
        longest = max(len(record["policy"]) for record in comparison.summary)
        console.width = WIDTH + max(0, longest - NAME)
    for capacity, members in groupby(comparison.summary, key=lambda s: s["capacity"]):
        records = list(members)
        measured = FIRST if comparison.layer is None else (*FIRST, "answ")
        console.print(_table(f"S = {capacity}", measured, map(_cells, records)))
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
            rows.append((policy, *(_number(own[count]) for count in counts)))
        title = f"{tier}: share of the frontier by queries settled while it was written"
        console.print(_table(title, ("policy", *map(str, counts)), rows))


def make_console(*, stderr: bool = False) -> Console:
    """Give a console that prints names as they are, at least 100 columns wide if no terminal."""
    from rich.console import Console
    from rich.table import Table

    class Safe(Console):
        """Prints what others wrote so that it steers no terminal."""

        def print(self, *objects: Any, **options: Any) -> None:
            for table in objects:
                if isinstance(table, Table) and isinstance(table.title, str):
                    table.title = visible(table.title)
            super().print(*(visible(o) if isinstance(o, str) else o for o in objects), **options)

    stream = sys.stderr if stderr else sys.stdout
    file = getattr(stream, "raw", stream)  # a console's own colours pass
    console = Safe(file=file, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH
    return console


def progress(jobs: Sequence[Any], what: str) -> Iterable[Any]:
    """Show a bar on standard error, where that is a terminal."""
    from rich.progress import track

    console = make_console(stderr=True)
    return track(jobs, what, console=console, transient=True, disable=not console.is_terminal)


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]], text: set[str]) -> Table:
    """Lay out cells in columns: those of ``text`` to the left and folded, numbers to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, title_justify="left")
    for place, column in enumerate(columns):
        if column in text:  # the first names the row: it is to be copied, so it stays whole
            table.add_column(Text(column), overflow="fold", no_wrap=place == 0)
        else:
            table.add_column(Text(column), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table


def as_json(value: Any) -> str:
    """Give JSON that every parser reads: no NaN, ASCII alone."""
    return json.dumps(value, allow_nan=False)


def write_tables(comparison: Comparison, folder: Path) -> None:
    """Write rows.csv, summary.csv and comparison.json; raises ``OSError``."""
    write_whole(folder / "rows.csv", as_csv(comparison.rows))
    write_whole(folder / "summary.csv", as_csv([_flat(record) for record in comparison.summary]))
    document = json.dumps(comparison.as_document(), allow_nan=False, indent=1)
    write_whole(folder / "comparison.json", document.encode())


def as_csv(records: Sequence[Record]) -> bytes:
    """Give records of equal keys as a table in UTF-8."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({n: csv_cell(value) for n, value in each.items()} for each in records)
    return stream.getvalue().encode("utf-8", "backslashreplace")


def _flat(record: Record) -> Record:
    flat = {name: value for name, value in record.items() if name != "intervals"}
    for name, interval in record["intervals"].items():
        flat[f"{name}_low"], flat[f"{name}_high"] = interval or (None, None)
    return flat


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = plain_table(columns, rows, {"policy"})
    table.title = f"\n{title}" if title else ""
    return table


def _cells(record: Record) -> tuple[str, ...]:
    return (
        named(record),
        f"{_number(record['precision'])} {_interval(record['low'], record['high'])}",
        _number(record["coverage"]),
        _number(record["water_inflation"]),
        f"{record['size']:.4g}",
        _number(record["frontier"]) + ("" if record["frontier_proved"] else "≤"),
        _number(record["efficiency_loss"]),
        _number(record["share"]),
        _number(record["normalised"], digits=2),
        *([] if record["answered"] is None else [_number(record["answered"])]),
    )


def _compared(record: Record) -> tuple[str, ...]:
    return (
        named(record),
        f"{_number(record['iqm'])} {_interval(record['iqm_low'], record['iqm_high'])}",
        f"{_number(record['difference'], sign='+')} "
        f"{_interval(record['difference_low'], record['difference_high'], sign='+')}",
        f"{_number(record['improvement'], digits=2)} "
        f"{_interval(record['improvement_low'], record['improvement_high'])}",
    )


def named(record: Record) -> str:
    """Give the name of a policy with its marks, and how many seeds it has."""
    marks = [mark for mark, name in MARKS.items() if record[name]]
    seeds = f" ({record['seeds']} seeds)" if record["seeds"] > 1 else ""
    return f"{record['policy']}{''.join(marks)}{seeds}"


def _number(value: float | None, *, digits: int = 3, sign: str = "") -> str:
    """Give ``.350`` for 0.35; a dash where undefined."""
    if value is None:
        return "–"
    text = f"{round(value, digits) + 0.0:{sign}.{digits}f}"  # + 0.0: no minus before a zero
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("+-")[0] == "0" else text


def _interval(low: float | None, high: float | None, *, sign: str = "") -> str:
    if low is None or high is None:
        return ""
    return f"[{_number(low, sign=sign)} {_number(high, sign=sign)}]"


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
    over = f"{first['episodes']} episodes" if of_one else f"{first['materials']} materials"
    lines = [
        f"Means over {over}, in brackets their 95% bootstrap intervals. front: best precision at "
        "the memory's own size; loss: how far it is above precision; share: precision over the "
        "best at S; norm: random 0, best at S 1; infl: coverage less precision; iqm: mean of the "
        "middle half; better: how often it beats the baseline on the same material or episode."
    ]
    if comparison.layer is not None:
        layer = comparison.layer
        lines.append(
            f"answ: answered from the memory: reader {layer.reader}, reasoner {layer.reasoner}, "
            f"right by {layer.correct}."
        )
        lines += [f"{chat.model} at {chat.url}: {chat.usage}." for chat in layer.chats]
    lines += explained(comparison.summary)
    lines += [
        f"{record['policy']} at S = {record['capacity']}: {record['remark']}."
        for record in comparison.summary
        if record["remark"]
    ]
    if not all(record["frontier_proved"] for record in comparison.summary):
        lines.append("≤ an upper bound: the optimum was not proved within the time limit.")
    return "\n".join(lines)
