"""Which files the paths of a build give, and which of them are no documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from memenvs.errors import MaterialError
from memenvs.material.files import is_material_file
from memenvs.text.encoder_files import DESCRIBED, FITTED
from memenvs.text.normal import normal_text
from memenvs.train.own_material.links import SUFFIX
from memenvs.train.own_material.reading import READERS

NO_FILE_BUT_LINK = "a link to a folder, or to nothing; name what it stands for"


@dataclass(frozen=True)
class Found:
    """A file to be read."""

    name: str
    path: Path
    given: bool  # by itself, not as one of a folder


def find_documents(
    paths: Sequence[str],
    questions: str | os.PathLike[str] = "",
    exclude: Sequence[str] = (),
) -> tuple[list[Found], dict[str, str]]:
    """Give the files of paths and of folders in them, and why others are left out.

    A name is the file's own, or its path where two files share theirs. Files of a folder stand in
    the order of their paths; hidden ones are passed over, and so are the ``questions``, what was
    built before, and what a pattern of ``exclude`` fits by its name or its path in the folder.
    Raises ``MaterialError`` for a path that is not there, and for a file given by itself that is
    of no kind that is read.
    """
    found: dict[Path, tuple[Path, bool]] = {}  # by where they really lie
    left: dict[str, str] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            for inside in sorted(path.rglob("*")):
                within = inside.relative_to(path)
                linked = inside.is_symlink()
                hidden = any(part.startswith(".") for part in within.parts)
                if hidden or (inside.is_dir() and not linked):
                    continue
                if not inside.is_file():
                    left[str(inside)] = NO_FILE_BUT_LINK if linked else "no file"
                    continue
                reason = _reason(inside, within, questions, exclude)
                if reason:
                    left[str(inside)] = reason
                else:
                    found.setdefault(inside.resolve(), (inside, False))
        elif not path.is_file():
            raise MaterialError("is not there; name a file or a folder", file=given)
        elif path.suffix.lower() not in READERS:
            known = ", ".join(suffix for suffix in READERS if suffix)
            raise MaterialError(f"is of no kind that is read ({known})", file=given)
        else:
            first, _ = found.get(path.resolve(), (path, True))
            found[path.resolve()] = (first, True)
    listed = list(found.values())
    unique = len({path.name for path, _ in listed}) == len(listed)
    return [
        Found(normal_text(path.name if unique else path.as_posix()), path, given)
        for path, given in listed
    ], left


def _reason(
    path: Path, within: Path, questions: str | os.PathLike[str], exclude: Sequence[str]
) -> str:
    """Say why a file of a folder is no document; "" if it is one."""
    for pattern in exclude:
        if fnmatch(path.name, pattern) or fnmatch(within.as_posix(), pattern):
            return f"excluded by '{pattern}'"
    if path.suffix.lower() not in READERS:
        return "of no kind that is read"
    if questions and path.resolve() == Path(questions).resolve():
        return "the questions"
    made = path.name.endswith((SUFFIX, DESCRIBED, FITTED)) or is_material_file(path)
    return "made by memenvs" if made else ""
