"""The console: tables of plain cells, progress, JSON and CSV; it knows of no engine."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from memenvs.storage.messages import csv_cell, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Job = TypeVar("Job")
Track = Callable[[Sequence[Job], str], Iterable[Job]]  # what shows the progress of long work

WIDTH = 100  # where the output is no terminal


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


def untracked(jobs: Sequence[Job], what: str) -> Iterable[Job]:
    """Run through jobs without showing progress."""
    return jobs


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


def as_csv(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Give records of equal keys as a table in UTF-8."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({n: csv_cell(value) for n, value in each.items()} for each in records)
    return stream.getvalue().encode("utf-8", "backslashreplace")


def number(value: float | None, *, digits: int = 3, sign: str = "") -> str:
    """Give ``.350`` for 0.35; a dash where undefined."""
    if value is None:
        return "–"
    text = f"{round(value, digits) + 0.0:{sign}.{digits}f}"  # + 0.0: no minus before a zero
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("+-")[0] == "0" else text


def interval(low: float | None, high: float | None, *, sign: str = "") -> str:
    """Give ``[.300 .400]``; nothing where undefined."""
    if low is None or high is None:
        return ""
    return f"[{number(low, sign=sign)} {number(high, sign=sign)}]"
