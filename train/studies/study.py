"""What a study finds, whatever it is about, and the files that are written of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from memenvs.storage.whole import write_whole
from memenvs.train.provenance import provenance
from memenvs.train.rendering import Table, page
from memenvs.train.terminal import as_csv

Record: TypeAlias = dict[str, Any]
Tell: TypeAlias = Callable[[str], None]  # takes a line about what is being done


@dataclass(frozen=True)
class Findings:
    """The result of a study.

    Args:
        document: its JSON form.
        tables: what is shown of it.
        notes: what the columns mean.
        scores: the long table behind it: a row for each unit that was played and each policy, with
            equal keys.
        text: the page in Markdown, where that is more than tables and notes.
        plots: gives the bytes of further files by their suffixes.
    """

    document: Record
    tables: Sequence[Table]
    notes: Sequence[str]
    scores: Sequence[Record]
    text: str = ""
    plots: Callable[[], Mapping[str, bytes]] = field(default=dict)

    @property
    def page(self) -> str:
        """The result in Markdown."""
        return self.text or page(self.tables, self.notes) + "\n"


def write_findings(findings: Findings, name: str, folder: Path) -> None:
    """Write NAME.json, NAME.md and plots; raises ``OSError``."""
    folder.mkdir(parents=True, exist_ok=True)
    document = json.dumps(findings.document, allow_nan=False, indent=1)
    write_whole(folder / f"{name}.json", document.encode())
    write_whole(folder / f"{name}.md", findings.page.encode())
    for suffix, data in findings.plots().items():
        write_whole(folder / f"{name}.{suffix}", data)


def write_scores(findings: Findings, settings: Record, folder: Path) -> None:
    """Write scores.csv, and scores.json: the settings and what the figures depend on."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"settings": settings, **provenance()}
    write_whole(folder / "scores.csv", as_csv(findings.scores))
    write_whole(folder / "scores.json", json.dumps(about, indent=1, sort_keys=True).encode())
