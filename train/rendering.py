"""Tables described once, by their columns, and written for a terminal, Markdown, LaTeX or CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

from memenvs.train.terminal import WIDTH, as_csv, make_console, number, plain_table

Kind = Literal["number", "text", "name"]  # a name is written as code where there is such a style
Read = Callable[[Any], Any]
GAP = 2  # blanks beside a column on a terminal


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Args:
        title: its heading.
        read: gives the value of a row: a function, or the key of a record.
        show: writes a value, and the ends of its interval.
        ends: gives the interval of a row, None where there is none: a function, or a pair of keys.
        mark: gives what is written behind the value, as the mark of an oracle.
        kind: numbers stand to the right, texts and names to the left.
    """

    title: str
    read: Read | str
    show: Callable[[Any], str] = number
    ends: Read | tuple[str, str] | None = None
    mark: Callable[[Any], str] = lambda row: ""
    kind: Kind = "number"

    def value(self, row: Any) -> Any:
        """Read the value of a row."""
        return row[self.read] if isinstance(self.read, str) else self.read(row)

    def interval(self, row: Any) -> tuple[Any, Any] | None:
        """Read the interval of a row; None where it is undefined."""
        if self.ends is None:
            return None
        found = itemgetter(*self.ends)(row) if isinstance(self.ends, tuple) else self.ends(row)
        return None if found is None or None in found else (found[0], found[1])

    def text(self, row: Any, code: Callable[[str], str] = str, comma: str = "") -> str:
        """Write a cell; ``code`` gives a name its style, ``comma`` parts the ends."""
        shown = self.show(self.value(row))
        shown = (code(shown) if self.kind == "name" and shown else shown) + self.mark(row)
        between = self.interval(row)
        if between is None:
            return shown
        return f"{shown} [{self.show(between[0])}{comma} {self.show(between[1])}]".strip()


def text_column(title: str, read: Read | str, kind: Kind = "text", **more: Any) -> Column:
    """Describe a column of texts or names."""
    return Column(title, read, str, kind=kind, **more)


@dataclass(frozen=True)
class Table:
    """Rows of whatever the columns read, under a title."""

    columns: Sequence[Column]
    rows: Sequence[Any]
    title: str = ""

    @property
    def heads(self) -> list[str]:
        """Headings."""
        return [column.title for column in self.columns]

    def cells(self, code: Callable[[str], str] = str, comma: str = "") -> list[list[str]]:
        """Write every cell, as ``Column.text`` does."""
        return [[column.text(row, code, comma) for column in self.columns] for row in self.rows]


def print_tables(
    tables: Sequence[Table], notes: Sequence[str] = (), format: str | None = None
) -> None:
    """Print tables and what their columns mean, in one of ``FORMATS`` or for a terminal.

    Where the output is no terminal, there is room for all columns and long names.
    """
    if format is not None:
        print(in_format(tables, notes, format))
        return
    console = make_console()
    room = console.width
    for table in tables:
        cells = table.cells()
        if not console.is_terminal:
            widths = (max(map(len, column)) for column in zip(table.heads, *cells, strict=True))
            console.width = max(room, WIDTH, sum(widths) + GAP * len(table.columns))
        texts = {column.title for column in table.columns if column.kind != "number"}
        drawn = plain_table(table.heads, cells, texts)
        drawn.title = f"\n{table.title}" if table.title else ""
        console.print(drawn)
        console.print()
    console.width = room
    if notes:
        console.print("\n".join(notes), style="dim")


def as_markdown(table: Table) -> str:
    """Write a table in Markdown, without its title."""
    rule = ["--:" if column.kind == "number" else "---" for column in table.columns]
    cells = [[c.replace("|", "\\|") for c in row] for row in table.cells("`{}`".format, ",")]
    return "\n".join(f"| {' | '.join(line)} |" for line in (table.heads, rule, *cells))


LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{"≤": r"$\le$", "≥": r"$\ge$", "–": "--", "†": r"\dag{}", "‡": r"\ddag{}", "°": r"$^\circ$"},
}


def _latex(text: str) -> str:
    return re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], text)


def as_latex(table: Table) -> str:
    """Write a table as a ``tabular`` of the package booktabs, its title as a comment."""

    def line(cells: Iterable[str]) -> str:
        return f"{' & '.join(cells)} \\\\"

    names = [column.kind == "name" for column in table.columns]
    rows = [
        line(
            rf"\texttt{{{_latex(cell)}}}" if name else _latex(cell)
            for name, cell in zip(names, row, strict=True)
        )
        for row in table.cells(comma=",")
    ]
    layout = "".join("r" if column.kind == "number" else "l" for column in table.columns)
    return "\n".join(
        [
            *([f"% {table.title}"] if table.title else []),
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            line(map(_latex, table.heads)),
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def table_as_csv(table: Table) -> str:
    """Write the values as they were read, each with the ends of its interval where it has one."""
    records = []
    for row in table.rows:
        record = {}
        for column in table.columns:
            record[column.title] = column.value(row)
            if column.ends is not None:
                low, high = column.interval(row) or (None, None)
                record |= {f"{column.title}_low": low, f"{column.title}_high": high}
        records.append(record)
    return as_csv(records).decode().rstrip("\n") if records else ",".join(table.heads)


def in_format(tables: Iterable[Table], notes: Sequence[str], format: str) -> str:
    """Write tables one after another in one of ``FORMATS``; Markdown has titles and notes, too."""
    if format == "markdown":
        return page(tables, notes)
    return "\n\n".join(FORMATS[format](table) for table in tables)


def page(tables: Iterable[Table], notes: Sequence[str] = ()) -> str:
    """Write tables in Markdown, each under its title, and then the notes."""
    parts = []
    for table in tables:
        parts += [f"## {table.title}"] if table.title else []
        parts.append(as_markdown(table))
    return "\n\n".join([*parts, *notes])


FORMATS: dict[str, Callable[[Table], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": table_as_csv,
}
