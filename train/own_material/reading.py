"""Which reader reads which file, and which files a folder gives."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath

from memenvs.errors import MaterialError
from memenvs.material.files import is_material_file
from memenvs.text.cache import Cache, content_key
from memenvs.text.encoder_files import DESCRIBED, FITTED
from memenvs.train.own_material.links import SUFFIX
from memenvs.train.own_material.passages import Document, Passage, whole_text

MARKUP, TABLES, CHATS, OFFICE = (
    f"memenvs.train.own_material.{module}" for module in ("markup", "tables", "chats", "office")
)
# By the end of a file's name; strings, so that a reader's parser is imported where it is needed.
READERS: dict[str, str] = {
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".org", ""), f"{MARKUP}:read_text"),
    **dict.fromkeys((".md", ".markdown"), f"{MARKUP}:read_markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), f"{MARKUP}:read_html"),
    **dict.fromkeys((".srt", ".vtt", ".ass", ".ssa", ".sub"), f"{TABLES}:read_subtitles"),
    **dict.fromkeys((".csv", ".tsv"), f"{TABLES}:read_table"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), f"{CHATS}:read_chat"),
    ".pdf": f"{OFFICE}:read_pdf",
    ".docx": f"{OFFICE}:read_docx",
}
SLOW = (".pdf", ".docx")  # what they hold is kept in the cache
VERSION = 1  # of what is kept: another reader reads anew


def find_documents(
    paths: Sequence[str], questions: str | os.PathLike[str] = ""
) -> tuple[list[tuple[str, Path]], dict[str, str]]:
    """Give the files of paths and of folders in them, by name, and why others are left out.

    A name is the file's own, or its path where two files share theirs. Files of a folder stand in
    the order of their paths; hidden ones are passed over, and so are the ``questions`` and what
    was built before. Raises ``MaterialError`` for a path that is not there, and for a file given
    by itself that cannot be read.
    """
    found: list[Path] = []
    left: dict[str, str] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not _hidden(p, path))
            reasons = {p: _reason(p, questions) for p in inside}
            found += [p for p, reason in reasons.items() if not reason]
            left |= {str(p): reason for p, reason in reasons.items() if reason}
        elif not path.is_file():
            raise MaterialError("is not there; name a file or a folder", file=given)
        elif path.suffix.lower() not in READERS:
            known = ", ".join(suffix for suffix in READERS if suffix)
            raise MaterialError(f"is of no kind that is read ({known})", file=given)
        else:
            found.append(path)
    files: dict[Path, Path] = {}
    for path in found:
        files.setdefault(path.resolve(), path)
    listed = list(files.values())
    unique = len({path.name for path in listed}) == len(listed)
    names = [whole_text(path.name if unique else path.as_posix()) for path in listed]
    return list(zip(names, listed, strict=True)), left


def _reason(path: Path, questions: str | os.PathLike[str]) -> str:
    """Say why a file of a folder is no document; "" if it is one."""
    if path.suffix.lower() not in READERS:
        return "of no kind that is read"
    if questions and path.resolve() == Path(questions).resolve():
        return "the questions"
    made = path.name.endswith((SUFFIX, DESCRIBED, FITTED)) or is_material_file(path)
    return "made by memenvs" if made else ""


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def read_document(name: str, path: Path, cache: Cache) -> tuple[Document, list[Passage] | None]:
    """Open a document; give its passages where the cache knows them.

    Raises ``MaterialError`` where the file cannot be opened or is empty.
    """
    try:
        document = Document(name, path.read_bytes())
    except OSError as error:
        raise MaterialError(f"cannot be read: {error.strerror}", file=os.fspath(path)) from None
    if not document.content.strip():
        raise MaterialError("is empty; leave it out", file=os.fspath(path))
    if path.suffix.lower() not in SLOW:
        return document, None
    key = _key(document)
    kept = cache.get([key]).get(key)
    if kept is None:
        return document, None
    stored = json.loads(kept)
    document.notes.update(stored["notes"])
    return document, [Passage(**fields) for fields in stored["passages"]]


def passages_of(document: Document, kept: list[Passage] | None, cache: Cache) -> Iterator[Passage]:
    """Give a document's passages one by one; what took long to read is kept in the cache."""
    if kept is not None:
        yield from kept
        return
    suffix = PurePath(document.name).suffix.lower()
    module, _, function = READERS[suffix].partition(":")
    read: Callable[[Document], Iterator[Passage]] = getattr(
        importlib.import_module(module), function
    )
    if suffix not in SLOW:
        yield from read(document)
        return
    passages = list(read(document))
    stored = {"notes": document.notes, "passages": [asdict(passage) for passage in passages]}
    cache.put({_key(document): json.dumps(stored).encode()})
    yield from passages


def _key(document: Document) -> bytes:
    return content_key(VERSION, PurePath(document.name).suffix.lower(), document.content)
