"""What a comparison in a game looks like: tables on the terminal, and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from memenvs.material.files import write_whole
from memenvs.train.games.arena import Record
from memenvs.train.games.compare import GameComparison
from memenvs.train.tables import explained, named
from memenvs.train.terminal import as_csv, make_console, plain_table

MEANING = {  # of what the cells of a matrix show
    "utility": "expected utility of the final memory: its precision, unless --utility says else",
    "answered": "share of the asked questions that were answered rightly",
}
Table = list[tuple[str, ...]]  # the first row names the columns


def print_game(comparison: GameComparison) -> None:
    """Print a table for each capacity, and what its numbers mean."""
    console = make_console()
    for capacity, members in groupby(comparison.rows, key=lambda row: row["capacity"]):
        rows = list(members)
        found = _matrix(comparison, rows) if comparison.stake else _shared(rows)
        if not console.is_terminal:  # room for all columns, and for the names of models
            wide = sum(max(map(len, column)) + 2 for column in zip(*found, strict=True))
            console.width = max(console.width, wide)
        table = plain_table(found[0], found[1:], {found[0][0]})
        table.title = f"\nS = {capacity}"
        console.print(table)
    console.print(_legend(comparison), style="dim")


def write_game(comparison: GameComparison, folder: Path) -> None:
    """Write rows.csv, exploitability.csv where there is any, and comparison.json."""
    write_whole(folder / "rows.csv", as_csv(comparison.rows))
    if comparison.exploitability:
        write_whole(folder / "exploitability.csv", as_csv(comparison.exploitability))
    document = json.dumps(comparison.as_document(), allow_nan=False, indent=1)
    write_whole(folder / "comparison.json", document.encode())


def _matrix(comparison: GameComparison, rows: Sequence[Record]) -> Table:
    """Lay out a row for each writer, a column for each opponent, and what it can lose."""
    found: Table = [("writer", *dict.fromkeys(row["opponent"] for row in rows))]
    lost = {(each["policy"], each["capacity"]): each for each in comparison.exploitability}
    if lost:
        found[0] = (*found[0], "exploitability")
    for policy, members in groupby(rows, key=lambda row: row["policy"]):
        own = list(members)
        cells = [_cell(row, comparison.stake) for row in own]
        if lost:
            cells.append(_cell(lost[policy, own[0]["capacity"]], "exploitability"))
        found.append((named(max(own, key=lambda row: row["seeds"])), *cells))
    return found


def _shared(rows: Sequence[Record]) -> Table:
    columns = ("policy", "precision", "settled", "conflicts", "share", f"vs {rows[0]['baseline']}")
    measured = ("precision", "settled", "conflicts", "share", "difference")
    return [columns, *((named(row), *(_cell(row, name) for name in measured)) for row in rows)]


def _cell(row: Record, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if row[name] is None:
        return "–"
    sign = "+" if name == "difference" else ""
    interval = "" if low is None else f" [{low:{sign}.3f} {high:{sign}.3f}]"
    return f"{row[name]:{sign}.3f}{interval}"


def _legend(comparison: GameComparison) -> str:
    first = comparison.rows[0]
    of_one = f"{first['episodes']} episodes"
    over = of_one if first["materials"] == 1 else f"{first['materials']} materials"
    lines = [f"Means over {over}, in brackets their 95% bootstrap intervals."]
    if comparison.stake:
        lines.append(f"A cell is the {MEANING[comparison.stake]}; the opponent wants it low.")
    else:
        lines.append(
            "settled: queries answered rightly on the way; conflicts: writes that came too late; "
            "share: precision over the best at S; NAME:split: independent copies, each asked after "
            "its own decisions; NAME:split-often: each as often as writers of one memory are."
        )
    if comparison.exploitability:
        lines.append(
            "exploitability: what the strongest trained opponent takes from the writer, beside the "
            "same episodes without one; a better response may take more."
        )
    lines += explained(comparison.rows)
    if any(not row.get("frontier_proved", True) for row in comparison.rows):
        lines.append("The optimum was not proved within the time limit: shares are at least these.")
    return "\n".join(lines)
