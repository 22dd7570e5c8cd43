"""Readers of subtitles and of tables with one text a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import PurePath

from memenvs.errors import MaterialError
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.passages import (
    GROUPS,
    SECONDS,
    SPEAKERS,
    TEXTS,
    TIMES,
    Document,
    Passage,
    days_of,
    first_of,
)

LONGEST_FIELD = 2**27
DELIMITERS = ",;\t|"
NONE = "\x1f"  # stands in no text: there is one column
QUOTED = re.compile(r'"[^"]*"')
ENDED = re.compile(r"""[.!?…。！？؟।]["'”’»)\]]*$""")


def read_subtitles(document: Document) -> Iterator[Passage]:
    """Give sentences over as many cues as they take; time = days from the start.

    SubRip, WebVTT, SubStation Alpha and what else pysubs2 reads. Raises ``MaterialError`` where
    the file is none of them.
    """
    import pysubs2

    text = decoded(document).replace("\r\n", "\n")
    try:
        cues = pysubs2.SSAFile.from_string(text)
    except (pysubs2.exceptions.Pysubs2Error, ValueError) as error:
        raise MaterialError(f"holds no subtitles: {error!s:.120}", file=document.name) from None
    begun: list[str] = []
    speaker, start = "", 0.0
    for cue in sorted((cue for cue in cues if not cue.is_comment), key=lambda cue: cue.start):
        said = " ".join(cue.plaintext.split())
        if not said:
            continue
        if begun and cue.name != speaker:
            yield Passage(" ".join(begun), source=speaker, time=start / SECONDS)
            begun = []
        if not begun:
            speaker, start = cue.name, cue.start / 1000
        begun.append(said)
        if ENDED.search(said):
            yield Passage(" ".join(begun), source=speaker, time=start / SECONDS)
            begun = []
    if begun:
        yield Passage(" ".join(begun), source=speaker, time=start / SECONDS)


def read_table(document: Document) -> Iterator[Passage]:
    """Give the rows of a table whose first row names the columns.

    A column named as a text ("text", "content", ...) is the claim, and others give its speaker,
    time and group; without one, a row reads "column: value; column: value". Raises
    ``MaterialError`` for a table that cannot be read.
    """
    text = decoded(document)
    csv.field_size_limit(LONGEST_FIELD)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(document.name, text))
        header = [name.strip() for name in next(rows, [])]
        names = [name.casefold() for name in header]
        for row in rows:
            if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
                document.note("row with more cells than columns")
            fields = {name: cell.strip() for name, cell in zip(names, row, strict=False)}
            yield from _row(document, header, row, fields)
    except csv.Error as error:
        raise MaterialError(f"cannot be read as a table: {error}", file=document.name) from None


def _row(
    document: Document, header: list[str], row: list[str], fields: dict[str, str]
) -> Iterator[Passage]:
    if not any(cell.strip() for cell in row):
        return
    text = first_of(fields, TEXTS)
    if text is None:
        if any(name in fields for name in TEXTS):
            document.note("row without text left out")
            return
        labels = [*header, *[""] * (len(row) - len(header))]
        pairs = [(name, cell.strip()) for name, cell in zip(labels, row, strict=False)]
        text = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    moment = first_of(fields, TIMES)
    time = days_of(moment)
    if moment is not None and time is None:
        document.note("time that is no ISO date and no number left out")
    yield Passage(
        text,
        group=first_of(fields, GROUPS) or "",
        shared=True,
        source=first_of(fields, SPEAKERS) or "",
        time=time,
        dated=True,
        id=fields.get("id", ""),
        whole=True,
    )


def _delimiter(name: str, text: str) -> str:
    """Tell by the first row, which names the columns: texts hold any of these signs."""
    if PurePath(name).suffix.lower() == ".tsv":
        return "\t"
    header = QUOTED.sub("", text.lstrip().partition("\n")[0])
    return max(NONE + DELIMITERS, key=header.count)
