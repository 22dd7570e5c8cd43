"""What real pages showed, by task, instance and the actions so far: one file of SQLite."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from memenvs.envs.gui.page import Element, Outcome, Page

WAITING = 30.0  # seconds for another process that writes


class Recording:
    """Outcomes that were seen; several processes may read and write one file.

    Pages are deterministic given task, instance and actions, so what was seen once need not be
    shown again. With ``writable=False`` the file is read alone. Raises ``ValueError`` for a file
    that is no recording.
    """

    def __init__(self, path: str | os.PathLike[str], *, writable: bool = True) -> None:
        self.path = Path(path)
        self.writable = writable
        if not writable and not self.path.is_file():
            raise ValueError(f"{self.path}: there is no such recording of pages")
        self._connection: sqlite3.Connection | None = None
        self._owner = 0

    def __getstate__(self) -> dict[str, object]:
        """Leave the connection behind: another process opens its own."""
        return {**self.__dict__, "_connection": None, "_owner": 0}

    def read(self, task: str, instance: int, actions: Sequence[int]) -> Outcome | None:
        """Give what an instance showed after some actions, None where that was not seen."""
        key = _key(task, instance, actions)
        try:
            rows = self._open().execute("SELECT outcome FROM outcomes WHERE key = ?", (key,))
            found = rows.fetchone()
        except sqlite3.DatabaseError as error:
            raise self._fault(error) from None
        return None if found is None else _outcome(json.loads(found[0]))

    def write(self, task: str, instance: int, actions: Sequence[int], outcome: Outcome) -> None:
        """Keep what an instance showed after some actions."""
        page, done, reward = outcome
        text = json.dumps([page.goal, page.elements, page.text, done, reward], ensure_ascii=False)
        try:
            with self._open() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO outcomes VALUES (?, ?)",
                    (_key(task, instance, actions), text),
                )
        except sqlite3.DatabaseError as error:
            raise self._fault(error) from None

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None

    def _open(self) -> sqlite3.Connection:
        """Open the file, anew after a fork."""
        if self._connection is None or self._owner != os.getpid():
            mode = "?mode=rwc" if self.writable else "?mode=ro&immutable=1"
            address = f"{self.path.resolve().as_uri()}{mode}"
            self._connection = sqlite3.connect(address, uri=True, timeout=WAITING)
            self._owner = os.getpid()
            if self.writable:
                self._connection.execute("PRAGMA synchronous = OFF")  # it can be seen again
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, outcome TEXT) "
                    "WITHOUT ROWID"
                )
        return self._connection

    def _fault(self, error: Exception) -> ValueError:
        return ValueError(f"{self.path}: cannot be used as a recording of pages: {error}")


def _key(task: str, instance: int, actions: Sequence[int]) -> str:
    return f"{task} {instance} {','.join(map(str, actions))}"


def _outcome(record: list[object]) -> Outcome:
    goal, elements, text, done, reward = record
    return Outcome(Page(goal, tuple(Element(*e) for e in elements), text), done, reward)  # type: ignore[arg-type, attr-defined]
