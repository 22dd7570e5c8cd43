"""Reader of tables with one text a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import PurePath

from memenvs.errors import MaterialError
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.fields import (
    GROUPS,
    IDS,
    SPEAKERS,
    TEXTS,
    TIMES,
    Fields,
    People,
)
from memenvs.train.own_material.passages import Document, Passage

LONGEST_FIELD = 2**27
DELIMITERS = ",;\t|^~"
NONE = "\x1f"  # stands in no text: there is one column
SEPARATOR = re.compile(r"sep=(.)\r?\n")  # a line that Excel puts first
QUOTED = re.compile(r'"[^"]*"')


def read_table(document: Document) -> Iterator[Passage]:
    """Give the rows of a table whose first row names the columns.

    A column named as a text ("text", "content", ...) is the claim, and others give its speaker,
    time and group; without one, a row reads "column: value; column: value". Raises
    ``MaterialError`` for a table that cannot be read.
    """
    header, rows = rows_of(document)
    people = People()
    for row in rows:
        if any(cell.strip() for cell in row):
            yield from _row(document, people, header, row)


def rows_of(document: Document) -> tuple[list[str], Iterator[list[str]]]:
    """Give the names of a table's columns, and its other rows."""
    text = decoded(document)
    csv.field_size_limit(LONGEST_FIELD)
    delimiter = _delimiter(document.name, text)
    told_by_excel = SEPARATOR.match(text)
    if told_by_excel:
        delimiter, text = told_by_excel[1], text[told_by_excel.end() :]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)

    def told() -> Iterator[list[str]]:
        try:
            yield from rows
        except csv.Error as error:
            raise MaterialError(f"cannot be read as a table: {error}", file=document.name) from None

    header = [name.strip() for name in next(told(), [])]
    return header, told()


def _row(
    document: Document, people: People, header: list[str], row: list[str]
) -> Iterator[Passage]:
    beyond = [cell for cell in row[len(header) :] if cell.strip()]
    fields = Fields({name: cell.strip() for name, cell in zip(header, row, strict=False)})
    if not fields.has(*TEXTS):
        if beyond:
            document.note("row with more cells than columns")
        labels = [*header, *[""] * (len(row) - len(header))]
        pairs = [(name, cell.strip()) for name, cell in zip(labels, row, strict=False)]
        text = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
        moment = fields.take(*TIMES)
        fields.skip(*header)
    else:
        if beyond:
            document.leave("cell beyond the columns left out", " ".join(beyond))
        text = fields.take(*TEXTS)
        moment = fields.take(*TIMES)
        if text is None:
            document.leave("row without text left out", " ".join(row))
            return
    speaker = fields.take(*SPEAKERS)
    yield Passage(
        text,
        group=fields.take(*GROUPS) or "",
        shared=True,
        source=people.name(speaker, fields.take("authorid", "senderid", "userid")) or "",
        moment=moment,
        id=fields.take(*IDS) or "",
        whole=True,
    )
    if fields.has(*TEXTS):
        fields.report(document)


def _delimiter(name: str, text: str) -> str:
    """Tell by the first row, which names the columns: texts hold any of these signs."""
    if PurePath(name).suffix.lower() == ".tsv":
        return "\t"
    header = QUOTED.sub("", text.lstrip().partition("\n")[0])
    return max(NONE + DELIMITERS, key=header.count)
