"""Readers of PDF and DOCX."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator

from memenvs.errors import MaterialError
from memenvs.train.own_material.passages import Document, Passage

HYPHENATED = re.compile(r"(\w)[-\u00ad]\n(?=[a-zäöüßéèàçñ])")
HEADING = re.compile(r"(heading|title|überschrift|titre|título)", re.IGNORECASE)


def read_pdf(document: Document) -> Iterator[Passage]:
    """Give the text of each page; words broken at a line's end are joined.

    Raises ``MaterialError`` where the file is damaged, locked or holds pictures of text alone.
    """
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports what it mends
    pages = []
    try:
        reader = PdfReader(io.BytesIO(document.content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise MaterialError("is locked by a password; unlock it first", file=document.name)
        pages = [page.extract_text() for page in reader.pages]
    except MaterialError:
        raise
    except Exception as error:  # damage shows itself in any part of the parser
        raise _damaged("PDF", error, document) from None
    if not any(page.strip() for page in pages):
        raise MaterialError(
            "holds no text, perhaps pictures of it; recognise the text (OCR) first",
            file=document.name,
        )
    empty = sum(not page.strip() for page in pages)
    if empty:
        document.note("page without text left out", empty)
    for number, page in enumerate(pages, start=1):
        for part in re.split(r"\n\s*\n", HYPHENATED.sub(r"\1", page)):
            yield Passage(part, group=f"page {number}")


def read_docx(document: Document) -> Iterator[Passage]:
    """Give paragraphs and table rows, each under its heading.

    Raises ``MaterialError`` where the file is damaged.
    """
    import docx
    from docx.table import Table

    passages: list[Passage] = []
    heading = ""
    try:
        for block in docx.Document(io.BytesIO(document.content)).iter_inner_content():
            if isinstance(block, Table):
                for row in block.rows:
                    cells = dict.fromkeys(cell.text.strip() for cell in row.cells)  # merged: once
                    text = "; ".join(filter(None, cells))
                    passages.append(Passage(text, group=heading, whole=True))
                continue
            style = block.style.name if block.style is not None else ""
            if style and HEADING.match(style) and block.text.strip():
                heading = block.text.strip()
            passages.append(Passage(block.text, group=heading))
    except Exception as error:  # zip, XML and the parts between have errors of their own
        raise _damaged("DOCX", error, document) from None
    yield from passages


def _damaged(kind: str, error: Exception, document: Document) -> MaterialError:
    said = " ".join(str(error).split()) or type(error).__name__
    return MaterialError(f"cannot be read as {kind}: {said:.120}", file=document.name)
