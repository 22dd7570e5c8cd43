"""What a comparison in a game looks like: its tables as columns, and its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from memenvs.storage.whole import write_whole
from memenvs.train.games.comparison import GameComparison
from memenvs.train.games.game_setting import Record
from memenvs.train.rendering import Column, Table, print_tables, text_column
from memenvs.train.tables import POLICY, SIGNED, explained, marks
from memenvs.train.terminal import as_csv

MEANING = {  # of what the cells of a matrix show
    "utility": "expected utility of the final memory: its precision, unless --utility says else",
    "answered": "share of the asked questions that were answered rightly",
}


def print_game(comparison: GameComparison, format: str | None = None) -> None:
    """Print a table for each capacity, and what its numbers mean."""
    found = []
    for capacity, members in groupby(comparison.rows, key=lambda row: row["capacity"]):
        rows, title = list(members), f"S = {capacity}"
        if comparison.payoff:
            found.append(_matrix(comparison, rows, title))
        else:
            found.append(Table(_shared(rows[0]["baseline"]), rows, title))
    print_tables(found, _legend(comparison), format)


def write_game(comparison: GameComparison, folder: Path) -> None:
    """Write rows.csv, exploitability.csv where there is any, and comparison.json."""
    write_whole(folder / "rows.csv", as_csv(comparison.rows))
    if comparison.exploitability:
        write_whole(folder / "exploitability.csv", as_csv(comparison.exploitability))
    document = json.dumps(comparison.as_document(), allow_nan=False, indent=1)
    write_whole(folder / "comparison.json", document.encode())


def _estimate(title: str, name: str, **more: Any) -> Column:
    """Describe the column of a mean with its interval."""
    return Column(title, name, ends=(f"{name}_low", f"{name}_high"), **more)


def _shared(baseline: str) -> list[Column]:
    """Describe the columns for writers of one memory."""
    means = [_estimate(name, name) for name in ("utility", "settled", "conflicts", "share")]
    return [POLICY, *means, _estimate(f"vs {baseline}", "difference", show=SIGNED)]


def _matrix(comparison: GameComparison, rows: Sequence[Record], title: str) -> Table:
    """Give a row for each writer, a column for each opponent, and what the writer can lose."""
    met: dict[str, dict[str, Record]] = {}
    for row in rows:
        met.setdefault(row["policy"], {})[row["opponent"]] = row
    capacity = rows[0]["capacity"]
    lost = {e["policy"]: e for e in comparison.exploitability if e["capacity"] == capacity}

    def pick(column: Column, found: Callable[[str], Record]) -> Column:
        """Let a column of records read that of a writer."""
        return replace(
            column,
            read=lambda policy: column.value(found(policy)),
            ends=lambda policy: column.interval(found(policy)),
        )

    def against(opponent: str) -> Column:
        return pick(_estimate(opponent, comparison.payoff), lambda policy: met[policy][opponent])

    columns = [
        text_column(
            "writer",
            str,
            "name",
            mark=lambda policy: marks(max(met[policy].values(), key=lambda row: row["seeds"])),
        ),
        *map(against, dict.fromkeys(row["opponent"] for row in rows)),
    ]
    if lost:
        name = "exploitability"
        columns.append(pick(_estimate(name, name), lambda policy: lost[policy]))
    return Table(columns, list(met), title)


def _legend(comparison: GameComparison) -> list[str]:
    """Say what the numbers mean."""
    first = comparison.rows[0]
    of_one = f"{first['episodes']} episodes"
    over = of_one if first["materials"] == 1 else f"{first['materials']} materials"
    lines = [f"Means over {over}, in brackets their 95% bootstrap intervals."]
    if comparison.payoff:
        lines.append(f"A cell is the {MEANING[comparison.payoff]}; the opponent wants it low.")
    else:
        lines.append(
            f"utility: {first['objective']}, expected of the final memory; settled: queries "
            "answered rightly on the way; conflicts: writes that came too late; share: utility "
            "over the best at S; NAME:split: independent copies, each asked after its own "
            "decisions; NAME:split-often: each as often as writers of one memory are."
        )
    if comparison.exploitability:
        lines.append(
            "exploitability: what the strongest opponent of the table takes from the writer, "
            "beside the same episodes without one; a better response may take more."
        )
    lines += explained(comparison.rows)
    if any(not row.get("frontier_proved", True) for row in comparison.rows):
        lines.append("The optimum was not proved within the time limit: shares are at least these.")
    return lines
