"""Reader of Word documents: all that a reader of them sees, and what their authors deleted.

The XML is walked as it stands, in its transitional and its strict form: content controls,
inserted text, text boxes, nested tables, headers, footers, notes and comments are all in it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memenvs.errors import MaterialError
from memenvs.train.own_material.passages import Document, Headings, Passage
from memenvs.train.own_material.word_parts import parsed, related, styles, tag_of, value_of

MAIN = "officeDocument"  # the relation of a file to its text
# Parts beside the text, by their relation to it, and what their passages stand under.
BESIDE = {
    "header": "header",
    "footer": "footer",
    "footnotes": "footnotes",
    "endnotes": "endnotes",
    "comments": "comments",
    "diagramData": "diagram",
    "chart": "chart",
}
GONE = ("del", "moveFrom", "delText")  # tracked changes that take text away
SILENT = ("instrText", "delInstrText", "pPr", "rPr", "tblPr", "trPr", "tcPr", "sectPr", "sdtPr")
INLINE = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
FORMULA = {"den": ("/", ""), "sup": ("^", ""), "sub": ("_", ""), "rad": ("√", ""), "d": ("(", ")")}
WORDLESS = ("footnoteRef", "endnoteRef", "annotationRef")


@dataclass
class _Part:
    """A part of the file on its way to passages."""

    document: Document
    headings: Headings
    levels: dict[str, int]  # of the styles of headings
    contents: set[str]  # styles of a table of contents
    source: str = ""
    moment: Any = None
    boxes: list[Any] = field(default_factory=list)  # text boxes that the paragraph holds

    def passage(self, text: str, whole: bool = False) -> Iterator[Passage]:
        if any(map(str.isalnum, text)):
            yield Passage(
                text, self.headings.path(), source=self.source, moment=self.moment, whole=whole
            )


def read_docx(document: Document) -> Iterator[Passage]:
    """Give paragraphs, table rows, notes and comments, each under its headings.

    A comment has its author and date. Text that was deleted with changes tracked, and tables of
    contents, are left out. Raises ``MaterialError`` where the file is damaged.
    """
    passages: list[Passage] = []
    try:
        with zipfile.ZipFile(io.BytesIO(document.content)) as archive:
            main = next(path for kind, path in related(archive, "") if kind == MAIN)
            levels, contents = styles(archive, main)
            passages += _walk_part(document, archive, main, "", levels, contents)
            seen: set[str] = set()
            for kind, path in related(archive, main):
                if kind not in BESIDE:
                    continue
                for passage in _walk_part(document, archive, path, BESIDE[kind], levels, contents):
                    if kind in ("header", "footer") and passage.text in seen:
                        document.leave("header or footer again left out", passage.text)
                    else:
                        seen.add(passage.text)
                        passages.append(passage)
    except Exception as error:  # zip, XML and the parts between have errors of their own
        said = " ".join(str(error).split()) or "it has no text in it"
        raise MaterialError(f"cannot be read as DOCX: {said:.120}", file=document.name) from None
    yield from passages


def _walk_part(
    document: Document,
    archive: zipfile.ZipFile,
    path: str,
    under: str,
    levels: dict[str, int],
    contents: set[str],
) -> Iterator[Passage]:
    headings = Headings(document, under)
    part = _Part(document, headings, levels if not under else {}, contents)
    root = parsed(archive, path)
    if under in ("diagram", "chart"):
        for paragraph in (e for e in root.iter() if tag_of(e) in ("p", "v") and e.text != ""):
            yield from part.passage("".join(_plain(paragraph)), whole=True)
    else:
        yield from _blocks(part, root)
    headings.end()


def _blocks(part: _Part, parent: Any) -> Iterator[Passage]:
    """Give the passages of paragraphs and tables, whatever wraps them."""
    for element in _children(parent):
        tag = tag_of(element)
        if tag == "p":
            yield from _paragraph(part, element)
        elif tag == "tbl":
            yield from _table(part, element)
        elif tag == "comment":
            part.source, part.moment = value_of(element, "author") or "", value_of(element, "date")
            yield from _blocks(part, element)
        elif tag in GONE:
            part.document.leave("deleted text (tracked change) left out", _gone(element))
        elif tag == "altChunk":
            part.document.note("embedded document left out")
        elif tag not in SILENT:
            yield from _blocks(part, element)


def _paragraph(part: _Part, element: Any) -> Iterator[Passage]:
    text = " ".join("".join(_inline(part, element)).split())
    boxes, part.boxes = part.boxes, []
    style, outline = "", None
    for child in element:
        if tag_of(child) == "pPr":
            for e in child:
                style = (value_of(e) or "") if tag_of(e) == "pStyle" else style
                outline = int(value_of(e) or 9) + 1 if tag_of(e) == "outlineLvl" else outline
    level = outline if outline is not None and outline < 10 else part.levels.get(style)
    if style in part.contents:
        if text:
            part.document.leave("table of contents left out", text)
    elif level is not None and any(map(str.isalnum, text)):
        part.headings.add(level, text)
    else:
        yield from part.passage(text)
    for box in boxes:
        yield from _blocks(part, box)


def _table(part: _Part, table: Any) -> Iterator[Passage]:
    """Give the rows of a table, its cells with semicolons between; tables in them come after."""
    for row in _wrapped(table, "tr"):
        cells, within = [], list[Any]()
        for cell in _wrapped(row, "tc"):
            texts = []
            for element in _leaves(cell):
                if tag_of(element) == "tbl":
                    within.append(element)
                elif tag_of(element) == "p":
                    texts.append(" ".join("".join(_inline(part, element)).split()))
                elif tag_of(element) in GONE:
                    part.document.leave("deleted text (tracked change) left out", _gone(element))
            cells.append(" ".join(filter(None, texts)))
        boxes, part.boxes = part.boxes, []
        yield from part.passage("; ".join(filter(None, cells)), whole=True)
        for inner in within:
            yield from _table(part, inner)
        for box in boxes:
            yield from _blocks(part, box)


def _wrapped(parent: Any, tag: str) -> Iterator[Any]:
    """Give the children of a kind, also those in content controls and tracked insertions."""
    for element in _children(parent):
        if tag_of(element) == tag:
            yield element
        elif tag_of(element) not in (*SILENT, *GONE, "p", "tbl", "tr", "tc"):
            yield from _wrapped(element, tag)


def _leaves(cell: Any) -> Iterator[Any]:
    """Give the paragraphs and tables of a cell, whatever wraps them."""
    for element in _children(cell):
        if tag_of(element) in ("p", "tbl", *GONE):
            yield element
        elif tag_of(element) not in SILENT:
            yield from _leaves(element)


def _inline(part: _Part, parent: Any) -> Iterator[str]:
    """Give the text of a paragraph; its text boxes are kept for later."""
    for element in _children(parent):
        tag = tag_of(element)
        if tag == "t":
            yield element.text or ""
        elif tag in INLINE:
            yield INLINE[tag]
        elif tag in GONE:
            part.document.leave("deleted text (tracked change) left out", _gone(element))
        elif tag == "txbxContent":
            part.boxes.append(element)
        elif tag == "docPr":
            shown = element.get("descr") or ""
            if any(map(str.isalnum, shown)):
                part.document.leave("description of a picture left out", shown)
        elif tag == "rt":
            yield f" ({''.join(_inline(part, element)).strip()}) "
        elif tag in FORMULA:
            before, after = FORMULA[tag]
            yield f"{before}{''.join(_inline(part, element))}{after}"
        elif tag not in SILENT and tag not in WORDLESS:
            yield from _inline(part, element)


def _children(parent: Any) -> Iterator[Any]:
    """Give the children; of alternatives for other programs one, and readings after their base."""
    children = [e for e in parent if isinstance(e.tag, str)]
    if tag_of(parent) == "AlternateContent":
        choice = next((e for e in children if any(map(str.strip, _plain(e)))), None)
        children = [choice] if choice is not None else children[:1]
    elif tag_of(parent) == "ruby":
        children.sort(key=lambda e: tag_of(e) == "rt")
    return iter(children)


def _plain(element: Any) -> Iterator[str]:
    for inner in element.iter():
        if tag_of(inner) in ("t", "v"):
            yield inner.text or ""


def _gone(element: Any) -> str:
    return "".join(e.text or "" for e in element.iter() if tag_of(e) in ("t", "delText"))
