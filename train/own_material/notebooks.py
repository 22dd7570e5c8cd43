"""Reader of Jupyter notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memenvs.errors import MaterialError
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.fields import strings
from memenvs.train.own_material.markdown import markdown_passages
from memenvs.train.own_material.passages import Document, Headings, Passage


def read_notebook(document: Document) -> Iterator[Passage]:
    """Give the passages of cells in Markdown, and cells of code whole; outputs are left out.

    Raises ``MaterialError`` where the file is no notebook.
    """
    try:
        value = json.loads(decoded(document))
    except (ValueError, RecursionError):
        raise MaterialError("is not valid JSON", file=document.name) from None
    cells = value.get("cells") if isinstance(value, dict) else None
    if cells is None and isinstance(value, dict) and value.get("worksheets"):  # before version 4
        cells = [cell for sheet in value["worksheets"] for cell in sheet.get("cells", ())]
    if not isinstance(cells, list):
        raise MaterialError("is no notebook: it has no cells", file=document.name)
    headings = Headings(document)
    for cell in cells:
        source = _text(cell.get("source", cell.get("input", "")))
        kind = cell.get("cell_type")
        if kind == "markdown":
            yield from markdown_passages(document, source, headings)
        elif kind == "heading":
            headings.add(int(cell.get("level", 1)), source)
        elif source.strip():
            yield Passage(source, group=headings.path(), whole=True)
        for output in cell.get("outputs") or ():
            document.leave("output of a cell left out", " ".join(strings(_shown(output))))
        for name, content in (cell.get("attachments") or {}).items():
            document.leave("attachment left out", name if content else "")
    headings.end()


def _text(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)


def _shown(output: dict[str, Any]) -> list[Any]:
    data = output.get("data") or {}
    return [output.get("text"), output.get("traceback"), data.get("text/plain")]
