"""Which files the paths of a build give, and which of them are no documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath

from memenvs.errors import MaterialError
from memenvs.material.files import is_material_file
from memenvs.text.encoder_files import DESCRIBED, FITTED
from memenvs.text.normal import normal_text
from memenvs.train.own_material.exports.twitter import JAVASCRIPT, is_twitter_file
from memenvs.train.own_material.links import SUFFIX
from memenvs.train.own_material.reading import READERS
from memenvs.train.own_material.zipped import ZIP, unpack

NO_FILE_BUT_LINK = "a link to a folder, or to nothing; name what it stands for"


@dataclass(frozen=True)
class Found:
    """A file to be read."""

    name: str
    path: Path
    given: bool  # by itself, not as one of a folder
    shown: str  # its path as the user knows it: of a file in an archive, the archive's before it


def find_documents(
    paths: Sequence[str],
    questions: str | os.PathLike[str] = "",
    exclude: Sequence[str] = (),
    room: Path | None = None,
) -> tuple[list[Found], dict[str, str]]:
    """Give the files of paths and of folders in them, and why others are left out.

    A name is the file's own, or its path where two files share theirs. Files of a folder stand in
    the order of their paths; hidden ones are passed over, and so are the ``questions``, what was
    built before, and what a pattern of ``exclude`` fits by its name or its path in the folder. A
    zip file is read as a folder where there is ``room``, an empty folder to unpack it into, which
    has to stay until its files were read. Raises ``MaterialError`` for a path that is not there,
    for an archive that cannot be unpacked, and for a file given by itself that is of no kind that
    is read.
    """
    found: dict[Path, tuple[Path, str, bool]] = {}  # by where they really lie
    left: dict[str, str] = {}
    for number, given in enumerate(dict.fromkeys(paths)):
        path = folder = Path(given)
        if room is not None and path.suffix.lower() == ZIP and path.is_file():
            folder = room / str(number) / (path.stem.strip(".") or "archive")
            others = unpack(path, folder, lambda name: PurePath(name).suffix.lower() in READERS)
            left |= {str(path / name): reason for name, reason in others.items()}
        if folder.is_dir():
            for inside in sorted(folder.rglob("*")):
                within = inside.relative_to(folder)
                shown = str(path / within)
                linked = inside.is_symlink()
                hidden = any(part.startswith(".") for part in within.parts)
                if hidden or (inside.is_dir() and not linked):
                    continue
                if not inside.is_file():
                    left[shown] = NO_FILE_BUT_LINK if linked else "no file"
                    continue
                reason = _reason(inside, within, questions, exclude)
                if reason:
                    left[shown] = reason
                else:
                    found.setdefault(inside.resolve(), (inside, shown, False))
        elif not path.is_file():
            raise MaterialError("is not there; name a file or a folder", file=given)
        elif not _is_read(path):
            known = ", ".join(suffix for suffix in (*READERS, ZIP) if suffix)
            raise MaterialError(f"is of no kind that is read ({known})", file=given)
        else:
            first, shown, _ = found.get(path.resolve(), (path, given, True))
            found[path.resolve()] = (first, shown, True)
    listed = list(found.values())
    unique = len({path.name for path, *_ in listed}) == len(listed)
    return [
        Found(normal_text(path.name if unique else Path(shown).as_posix()), path, by_itself, shown)
        for path, shown, by_itself in listed
    ], left


def _reason(
    path: Path, within: Path, questions: str | os.PathLike[str], exclude: Sequence[str]
) -> str:
    """Say why a file of a folder is no document; "" if it is one."""
    for pattern in exclude:
        if fnmatch(path.name, pattern) or fnmatch(within.as_posix(), pattern):
            return f"excluded by '{pattern}'"
    if not _is_read(path):
        return "of no kind that is read"
    if questions and path.resolve() == Path(questions).resolve():
        return "the questions"
    made = path.name.endswith((SUFFIX, DESCRIBED, FITTED)) or is_material_file(path)
    return "made by memenvs" if made else ""


def _is_read(path: Path) -> bool:
    """Whether a reader takes a file; one of JavaScript only where it holds data of Twitter's."""
    suffix = path.suffix.lower()
    return suffix in READERS and (suffix != JAVASCRIPT or is_twitter_file(path))
