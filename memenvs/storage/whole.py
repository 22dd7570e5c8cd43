"""Files written whole: a reader sees the old one or the new one, also after a kill or full disk."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

BINARY = getattr(os, "O_BINARY", 0)
PREFIX = ".memenvs-"  # of a file that is being written


def write_whole(target: Path, content: bytes) -> None:
    """Write a file durably: readers see the old one or the new one, and after a kill, too.

    Raises ``OSError``, and then leaves no trace.
    """
    real = Path(os.path.realpath(target))
    if real.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(real))
    if real.exists() and not real.is_file():
        real.write_bytes(content)  # a pipe or /dev/null must not be replaced by a file
        return
    write_durably(real, lambda stream: stream.write(content))


def write_durably(
    target: Path,
    write: Callable[[IO[bytes]], object],
    then: Callable[[int], object] = lambda number: None,
) -> None:
    """Let ``write`` fill a file under another name, bring it to disk, then rename it.

    A link stays a link; mode and owner of the old file stay. Until the end nobody else may read
    what is written. The file is locked until ``then`` was told its number. Raises ``OSError``, and
    then the old file still stands and no part of a new one.
    """
    target = Path(os.path.realpath(target))
    sweep(target.parent)
    with _temporary(target.parent) as (stream, temporary):
        write(stream)
        stream.flush()
        _take_after(target, stream.fileno())
        os.fsync(stream.fileno())
        if sys.platform == "win32":
            stream.close()
        temporary.replace(target)
        sync_folder(target.parent)
        if sys.platform != "win32":
            then(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk, too, where folders can be opened."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sweep(folder: Path) -> None:
    """Remove what killed writers left in a folder; what is being written now is locked, and stays.

    Where nothing may be removed it does nothing.
    """
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(folder) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(PREFIX)]
        for path in left:
            with suppress(OSError):
                number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    if lock(number):
                        os.unlink(path)  # noqa: PTH108 - beside the number that is open
                finally:
                    os.close(number)


def lock(number: int) -> bool:
    """Lock an open file against other processes, without waiting; says whether that was granted.

    The system lets go when the file is closed, however the process ends.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Open a new file that its owner alone may read, locked; it is gone in the end, if not moved.

    One that a sweep took between its making and its lock is made again.
    """
    while True:
        path = folder / f"{PREFIX}{secrets.token_hex(8)}"
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY, 0o600)
        if lock(number) and os.fstat(number).st_nlink:
            break
        os.close(number)
    stream = os.fdopen(number, "w+b")
    try:
        with stream:
            yield stream, path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _take_after(target: Path, number: int) -> None:
    """Give a new file mode and owner of the old one, or what a new file has here."""
    if sys.platform == "win32":
        return
    try:
        old = target.stat()
    except FileNotFoundError:
        os.fchmod(number, 0o666 & ~_umask())
        return
    new = os.fstat(number)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(number, old.st_uid, old.st_gid)
        except PermissionError:
            with suppress(PermissionError):  # at least those who share it can go on reading
                os.fchown(number, -1, old.st_gid)
    os.fchmod(number, stat.S_IMODE(old.st_mode))


def _umask() -> int:
    """Read the mask of new files, without changing it for other threads where the system tells."""
    with suppress(OSError, ValueError, IndexError):
        told = Path("/proc/self/status").read_text("ascii", "replace")
        return int(told.partition("\nUmask:")[2].split(None, 1)[0], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
