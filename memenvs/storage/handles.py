"""What stays open: one owner at a time among processes, threads and objects."""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

from memenvs.errors import MaterialError
from memenvs.storage.whole import lock, sweep, sync_folder, write_durably

Method = TypeVar("Method", bound=Callable[..., Any])

ELSEWHERE = "is open elsewhere; close it there first"


class Guard:
    """A mutex that a process made by a fork has anew: there nobody can hold it."""

    def __init__(self) -> None:
        self._process, self._lock = os.getpid(), threading.RLock()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), threading.RLock()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        """Be made anew in a copy."""
        return Guard, ()


def one_at_a_time(method: Method) -> Method:
    """Let one thread at a time into the methods of an object with a ``guard``."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self.guard:
            return method(self, *args, **kwargs)

    return guarded  # type: ignore[return-value]


class Handle:
    """A file that is open to be written on, by this process and this object alone.

    It is known by its real path, whatever the folder becomes that the process stands in. Raises
    ``MaterialError`` where it cannot be opened, or is open elsewhere; later ``ValueError`` once it
    was closed, in another process after a fork, or when the file was replaced or removed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(path))
        self.file = os.fspath(path)  # as the user calls it
        self._process = os.getpid()
        self._stream = self._open()
        _OPEN.add(self)

    @property
    def stream(self) -> FileIO:
        """The file, without a buffer; raises ``ValueError`` where it must not be used."""
        if self._process != os.getpid():
            raise MaterialError(
                "was opened by another process, before a fork; open it in one of them alone",
                file=self.file,
            )
        if self._stream.closed:
            raise MaterialError("is closed; open it again", file=self.file)
        if not _same(self._stream.fileno(), self.path):
            raise MaterialError(
                "was replaced or removed since it was opened; save under another name",
                file=self.file,
            )
        return self._stream

    def rewrite(self, content: bytes) -> None:
        """Replace all of it, whole or not at all, and go on with it; raises ``OSError``."""
        old = self.stream

        def adopt(number: int) -> None:
            self._stream = FileIO(os.dup(number), "r+b")  # shares the lock

        write_durably(self.path, lambda stream: stream.write(content), adopt)
        old.close()

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _open(self) -> FileIO:
        while True:
            try:
                sweep(self.path.parent)
                if not self.path.exists():
                    with suppress(FileExistsError):
                        self.path.open("xb").close()
                        sync_folder(self.path.parent)
                stream = FileIO(os.open(self.path, os.O_RDWR | os.O_NONBLOCK), "r+b")
            except OSError as error:
                raise MaterialError(f"cannot be opened: {error.strerror}", file=self.file) from None
            except ValueError as error:  # a NUL in the name
                raise MaterialError(f"cannot be opened: {error}", file=repr(self.file)) from None
            if not lock(stream.fileno()):
                stream.close()
                raise MaterialError(ELSEWHERE, file=self.file)
            if _same(stream.fileno(), self.path):
                return stream
            stream.close()  # replaced before it was locked


@contextmanager
def unopened(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep others from opening a file while it is replaced.

    Raises ``MaterialError`` where it is open: what its owner would write would be lost.
    """
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:  # it is not there, or writing says what is wrong
        yield
        return
    try:
        if not lock(number):
            raise MaterialError(ELSEWHERE, file=os.fspath(path))
        yield
    finally:
        os.close(number)


@contextmanager
def owned_folder(path: str | os.PathLike[str]) -> Iterator[None]:
    """Own a folder, made if it is not there, against others who would write the same files.

    What killed writers left in it is removed; if it is still empty in the end, so is it. Raises
    ``MaterialError`` where it is owned already, ``OSError`` where it cannot be made.
    """
    real = Path(os.path.realpath(path))
    while True:
        made = [each for each in (real, *real.parents) if not each.exists()]
        real.mkdir(parents=True, exist_ok=True)
        if sys.platform == "win32":
            yield
            return
        number = os.open(real, os.O_RDONLY)
        if lock(number) and _same(number, real):
            break
        os.close(number)
        if real.exists():
            raise MaterialError("is being written by another training", file=os.fspath(path))
    try:
        for folder in (real, *(each for each in real.rglob("*") if each.is_dir())):
            sweep(folder)
        yield
    finally:
        with suppress(OSError):  # it is not empty
            for each in made:
                each.rmdir()
        os.close(number)


_OPEN: weakref.WeakSet[Handle] = weakref.WeakSet()


def _let_go() -> None:
    """Leave the files of a parent to it: a child that lived longer would keep them locked."""
    for handle in list(_OPEN):
        handle._stream.close()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_let_go)


def _same(number: int, path: Path) -> bool:
    if sys.platform == "win32":
        return path.exists()
    try:
        there, here = path.stat(), os.fstat(number)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
