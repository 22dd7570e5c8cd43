"""Which reader reads which file, and how a document's passages are had."""

from __future__ import annotations

import codecs
import importlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath

from memenvs.errors import MaterialError
from memenvs.text.cache import Cache, content_key
from memenvs.text.times import Order
from memenvs.train.own_material.passages import Document, Passage, finished

ROOM = "memenvs.train.own_material"
# By the end of a file's name; strings, so that a reader's parser is imported where it is needed.
READERS: dict[str, str] = {
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".org", ""), f"{ROOM}.plain:read_text"),
    **dict.fromkeys((".md", ".markdown"), f"{ROOM}.markdown:read_markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), f"{ROOM}.html:read_html"),
    **dict.fromkeys((".srt", ".vtt", ".ass", ".ssa", ".sub"), f"{ROOM}.subtitles:read_subtitles"),
    **dict.fromkeys((".csv", ".tsv"), f"{ROOM}.tables:read_table"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".js"), f"{ROOM}.exports:read_json"),
    **dict.fromkeys((".eml", ".mbox"), f"{ROOM}.mail:read_mail"),
    ".ipynb": f"{ROOM}.notebooks:read_notebook",
    ".pdf": f"{ROOM}.pdf:read_pdf",
    ".docx": f"{ROOM}.word:read_docx",
}
SLOW = (".pdf", ".docx")  # what they hold is kept in the cache
VERSION = 2  # of what is kept: another reader reads anew


@dataclass(frozen=True)
class Reading:
    """What the user says about how documents are to be read."""

    encoding: str | None = None  # of texts that are not UTF-8
    dates: Order | None = None  # the order of day, month and year, where numbers leave it open

    def __post_init__(self) -> None:
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(f"'{self.encoding}' is no encoding that Python knows") from None


def open_document(name: str, path: Path, encoding: str | None = None) -> Document:
    """Open a document; raises ``MaterialError`` where it cannot be read or is empty."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MaterialError(f"cannot be read: {error.strerror}", file=os.fspath(path)) from None
    if not content.strip():
        raise MaterialError("is empty; leave it out", file=name)
    return Document(name, content, path, encoding)


def passages_of(
    document: Document, cache: Cache, reading: Reading | None = None
) -> Iterator[Passage]:
    """Give a document's passages; what took long to read is kept in the cache.

    Raises ``MaterialError`` that names the document, whatever its parser stumbles over.
    """
    suffix = PurePath(document.name).suffix.lower()
    module, _, function = READERS[suffix].partition(":")
    read: Callable[[Document], Iterator[Passage]] = getattr(
        importlib.import_module(module), function
    )
    try:
        passages = _kept(document, suffix, read, cache) if suffix in SLOW else read(document)
        yield from finished(document, passages, reading.dates if reading else None)
    except MaterialError:
        raise
    except Exception as error:  # parsers of foreign formats have errors of every kind
        kind = suffix.removeprefix(".").upper() or "a text"
        said = " ".join(str(error).split()) or type(error).__name__
        raise MaterialError(f"cannot be read as {kind}: {said:.120}", file=document.name) from None


def _kept(
    document: Document, suffix: str, read: Callable[[Document], Iterator[Passage]], cache: Cache
) -> list[Passage]:
    key = content_key(VERSION, suffix, document.content)
    kept = cache.get([key]).get(key)
    if kept is not None:
        stored = json.loads(kept)
        document.notes.update(stored["notes"])
        document.words.update(stored["words"])
        return [Passage(**fields) for fields in stored["passages"]]
    passages = list(read(document))
    stored = {
        "notes": document.notes,
        "words": document.words,
        "passages": [asdict(passage) for passage in passages],
    }
    cache.put({key: json.dumps(stored).encode()})
    return passages
