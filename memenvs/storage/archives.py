"""Zip files of our own: entries known beforehand, bounded before they are unpacked, checked."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.errors import MaterialError
from memenvs.storage.messages import clipped
from memenvs.storage.reading import CHANGED, read_bounded

TEXT = 2**26  # bytes of an entry that is JSON
ENTRIES = 4096  # that an archive may have
KINDS = "biuf"  # of arrays: numbers and truth values


class Archive:
    """A zip file in memory, whose entries together unpack to at most ``longest`` bytes.

    ``read_archive`` opens one. Raises ``MaterialError`` that names the file.
    """

    def __init__(self, content: bytes, longest: int, what: str, file: str) -> None:
        self.file, self.what = file, what
        with self._reading():
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            entries = self._zip.infolist()
        self.names = tuple(entry.filename for entry in entries)
        if len(entries) > ENTRIES or len(set(self.names)) < len(entries):
            raise MaterialError(f"is no {what} that memenvs saved", file=file)
        if sum(entry.file_size for entry in entries) > longest:
            raise MaterialError(
                f"unpacks to more than {longest:,} bytes, which no {what} has", file=file
            )

    def read(self, name: str, longest: int | None = None) -> bytes:
        """Unpack an entry, of at most ``longest`` bytes if that is said."""
        if name not in self.names:
            raise MaterialError(
                f"holds no '{clipped(name)}', so it is no {self.what} that memenvs saved",
                file=self.file,
            )
        if longest is not None and self._zip.getinfo(name).file_size > longest:
            raise MaterialError(
                f"unpacks to more than {longest:,} bytes",
                record=f"'{clipped(name)}'",
                file=self.file,
            )
        with self._reading():
            return self._zip.read(name)

    def digest(self, name: str) -> str:
        """Give the SHA-256 of an entry, without holding all of it."""
        with self._reading(), self._zip.open(name) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]

    def check(self, digests: object, *others: str) -> None:
        """Raise ``MaterialError`` unless the entries but for ``others`` have these digests."""
        own = [name for name in self.names if name not in others]
        if not isinstance(digests, dict) or {*digests} != {*own}:
            raise MaterialError(CHANGED, file=self.file)
        for name in own:
            if digests[name] != self.digest(name):
                raise MaterialError(CHANGED, record=f"'{clipped(name)}'", file=self.file)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Read every entry NAME.npy as an array of numbers, by NAME; nothing is unpickled."""
        suffix = ".npy"
        return {
            name.removesuffix(suffix): self._array(name)
            for name in self.names
            if name.endswith(suffix)
        }

    def _array(self, name: str) -> NDArray[Any]:
        content = io.BytesIO(self.read(name))
        try:
            if np.lib.format.read_magic(content) != (1, 0):
                raise ValueError
            shape, fortran, kind = np.lib.format.read_array_header_1_0(content)
            size = kind.itemsize * int(np.prod([int(n) for n in shape], dtype=object))
            rest = content.read()
            if kind.kind not in KINDS or fortran or min(shape, default=0) < 0 or size != len(rest):
                raise ValueError
            return np.frombuffer(bytearray(rest), dtype=kind).reshape(shape)
        except Exception:  # whatever numpy raises for a header that it cannot read
            raise MaterialError(
                "is no array of numbers", record=f"'{clipped(name)}'", file=self.file
            ) from None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except MemoryError:
            raise
        except Exception:  # zipfile and zlib raise a dozen kinds for what is damaged
            raise MaterialError(
                f"is no {self.what} that memenvs saved, or it is damaged", file=self.file
            ) from None


def read_archive(path: str | os.PathLike[str], longest: int, what: str) -> Archive:
    """Open a zip file that unpacks to at most so many bytes."""
    return Archive(read_bounded(path, longest), longest, what, os.fspath(path))


def packed(entries: Mapping[str, bytes], *, compress: bool = True) -> bytes:
    """Make a zip file; no time of writing is in it: equal entries, equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            archive.writestr(entry, content)
    return stream.getvalue()


def digests_of(entries: Mapping[str, bytes]) -> dict[str, str]:
    """Give the SHA-256 of each entry, for ``Archive.check``."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in entries.items()}


def array_entries(arrays: Iterable[tuple[str, NDArray[Any]]]) -> dict[str, bytes]:
    """Give the entries of arrays, for ``packed``."""
    entries = {}
    for name, array in arrays:
        stream = io.BytesIO()
        np.lib.format.write_array(
            stream, np.ascontiguousarray(array).reshape(array.shape), (1, 0), allow_pickle=False
        )
        entries[f"{name}.npy"] = stream.getvalue()
    return entries
