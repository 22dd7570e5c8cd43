"""Zip files of exports, unpacked as the folders that they hold, within bounds."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from memenvs.errors import MaterialError

ZIP = ".zip"
LONGEST = 2**30  # bytes of all documents of an archive
ENTRIES = 100_000  # files of an archive
ENCRYPTED = 1  # bit of an entry's flags


def unpack(path: Path, folder: Path, wanted: Callable[[str], bool]) -> dict[str, str]:
    """Write the ``wanted`` files of a zip file into a folder; say why others are left out.

    ``wanted`` is asked with a file's name. No file is written outside of ``folder``. Raises
    ``MaterialError`` for what is no zip file, is damaged, or unpacks to more than is read.
    """
    file = os.fspath(path)
    left: dict[str, str] = {}
    folder.mkdir(parents=True)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > ENTRIES:
                raise MaterialError(f"has more than {ENTRIES:,} files; unpack it", file=file)
            taken: set[Path] = set()
            size = 0
            for entry in entries:
                within = PurePosixPath(entry.filename.replace("\\", "/"))  # of Windows
                target = folder.joinpath(*(part for part in within.parts if part not in (".", "/")))
                if ".." in within.parts or target in taken:
                    left[str(within)] = "a second file of its name, or one outside of the archive"
                elif not wanted(within.name):
                    left[str(within)] = "of no kind that is read"
                elif entry.flag_bits & ENCRYPTED:
                    left[str(within)] = "encrypted; unpack it with its password"
                else:
                    size += entry.file_size
                    if size > LONGEST:
                        raise MaterialError(
                            f"unpacks to more than {LONGEST:,} bytes; unpack it, and name files "
                            "of it",
                            file=file,
                        )
                    taken.add(target)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(entry) as stream, target.open("xb") as out:
                        shutil.copyfileobj(stream, out)
    except MaterialError:
        raise
    except Exception as error:  # zipfile and zlib raise a dozen kinds for what is damaged
        said = " ".join(str(error).split()) or type(error).__name__
        raise MaterialError(f"cannot be unpacked: {said:.120}", file=file) from None
    return left
