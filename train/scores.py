"""The table of scores: a row for each episode of each policy, from which every figure is computed.

``scores.csv`` is written as the rows come, and ``scores.json`` beside it says how they came about.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from memenvs.envs.family import MEMORIZATION, Family
from memenvs.storage.messages import csv_cell, text_of_cell
from memenvs.storage.whole import write_whole
from memenvs.train.measures import measured

Row = dict[str, Any]
Key = tuple[Any, ...]

FORMAT = "memenvs.scores/1"
# What a row is of; a pair of policy and member is one player: the seeds of a training are members.
KEY = ("policy", "member", "capacity", "instance", "episode")
IDENTITY = ("family", "env", "split", *KEY, "seed")
# Of memorization environments: what a memory is held against, as optima.Reference has it.
AGAINST = (
    "load",
    "frontier",
    "frontier_at_capacity",
    "attained_at_capacity",
    "saturated",
    "full_context",
    "arrival",
    "proved",
)
STATUS = ("status", "reason")  # "ok", or "failed" and why
WHOLE_NUMBERS = ("member", "capacity", "episode", "seed")
TEXTS = ("family", "env", "split", "policy", "instance", *STATUS)
RECORDED = ("command", "versions", "commit", "device")  # told, and not compared on resuming


def columns(family: Family | None) -> tuple[str, ...]:
    """Name the columns of the table for a family of environments."""
    against = AGAINST if family is MEMORIZATION else ()
    return (*IDENTITY, *measured(family), *against, *STATUS)


class Scores:
    """The rows of one experiment; those that a folder holds already need not be played again.

    Args:
        family: of the environments.
        folder: where ``scores.csv`` is kept; None keeps nothing.
        about: how the rows come about: ``settings`` and what else the JSON file is to say.

    Raises ``ValueError`` where the folder holds the scores of other settings.
    """

    def __init__(
        self,
        family: Family | None,
        folder: Path | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.family = family
        self.columns = columns(family)
        self.rows: dict[Key, Row] = {}
        self._stream: TextIO | None = None
        if folder is not None:
            self._open(folder, dict(about or {}))

    def missing(self, key: Mapping[str, Any]) -> bool:
        """Whether a row is still to be played."""
        return tuple(key[name] for name in KEY) not in self.rows

    def add(self, row: Row) -> None:
        """Enter a row, and write it."""
        full = {name: row.get(name, math.nan) for name in self.columns}
        self.rows[tuple(full[name] for name in KEY)] = full
        if self._stream is not None:
            self._stream.write(_line([full[name] for name in self.columns]))
            self._stream.flush()

    def failed(self) -> list[Row]:
        """Give the rows of episodes that failed."""
        return [row for row in self.rows.values() if row["status"] == "failed"]

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _open(self, folder: Path, about: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        table, sidecar = folder / "scores.csv", folder / "scores.json"
        about = {"format": FORMAT, "columns": list(self.columns), **about}
        if sidecar.exists() and table.exists():
            old = _read_about(sidecar)
            _check_same(folder, old, about)
            about["models"] = {**old.get("models", {}), **about.get("models", {})}
            kept, whole = _read_rows(table, self.columns)
            self.rows = {key_of(row): row for row in kept if row["status"] == "ok"}
            if not whole or len(self.rows) < len(kept):
                self._rewrite(table)
        else:
            self._rewrite(table)
        write_whole(sidecar, json.dumps(about, indent=1, sort_keys=True).encode())
        self._stream = table.open("a", newline="", encoding="utf-8", errors="backslashreplace")

    def _rewrite(self, table: Path) -> None:
        lines = [_line(self.columns)]
        lines += [_line([row[name] for name in self.columns]) for row in self.rows.values()]
        write_whole(table, "".join(lines).encode("utf-8", "backslashreplace"))


def key_of(row: Mapping[str, Any]) -> Key:
    """Give what tells a row from the others."""
    return tuple(row[name] for name in KEY)


def read_scores(path: Path) -> list[Row]:
    """Read a table of scores; a last line that was not written whole is left out.

    Raises ``ValueError`` where it is none.
    """
    with path.open(newline="", encoding="utf-8") as stream:
        header = next(csv.reader(stream), [])
    if not {*IDENTITY, *STATUS} <= set(header):
        raise ValueError(
            f"{path}: is not a table of scores: its first line lacks the columns of one"
        )
    return _read_rows(path, header)[0]


def cell(value: Any) -> str:
    """Write a value as a cell of a CSV file: empty where undefined."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(csv_cell(value))


def _value(name: str, text: str) -> Any:
    if name in TEXTS:
        return text_of_cell(text)
    if name == "proved":
        return {"true": True, "false": False}.get(text, math.nan)
    if name in WHOLE_NUMBERS:
        return int(text) if text else None
    return float(text) if text else math.nan


def _line(values: Sequence[Any]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow([cell(value) for value in values])
    return stream.getvalue()


def _read_rows(table: Path, header: Sequence[str]) -> tuple[list[Row], bool]:
    """Give the rows that were written whole, and whether all were."""
    with table.open(newline="", encoding="utf-8") as stream:
        text = stream.read()
    lines = list(csv.reader(io.StringIO(text, newline="")))[1:]
    whole = text.endswith("\n") and (not lines or len(lines[-1]) == len(header))
    lines = lines if whole else lines[:-1]
    rows = []
    for number, line in enumerate(lines, 2):
        try:
            if len(line) != len(header):
                raise ValueError(f"{len(line)} cells for {len(header)} columns")
            rows.append({name: _value(name, c) for name, c in zip(header, line, strict=True)})
        except ValueError as error:
            raise ValueError(
                f"{table}: line {number} is damaged ({error}); remove that line"
            ) from None
    return rows, whole


def _read_about(sidecar: Path) -> dict[str, Any]:
    try:
        found = json.loads(sidecar.read_bytes())
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{sidecar}: is not a description of scores; choose another --out")
    return found


def _check_same(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuse to add rows to those of other settings."""
    new = json.loads(json.dumps(new))
    for part in sorted((old.keys() | new.keys()) - {*RECORDED}):
        there, here = old.get(part), new.get(part)
        if not (isinstance(there, dict) and isinstance(here, dict)):
            there, here = {part: there}, {part: here}
        # Policies may be added to those that were played.
        names = there.keys() & here.keys() if part == "models" else there.keys() | here.keys()
        for name in sorted(names):
            if there.get(name) != here.get(name):
                raise ValueError(
                    f"{folder} holds scores of other settings: {name} was "
                    f"{_short(there.get(name))} and now is {_short(here.get(name))}; choose "
                    "another --out, or remove scores.csv there"
                )


def _short(value: Any) -> str:
    return "not given" if value is None else f"{json.dumps(value):.60}"
