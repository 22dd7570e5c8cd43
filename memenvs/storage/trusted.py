"""What this user made or trusts on this machine, by content, in the user's own state folder."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from memenvs.storage.whole import write_whole

VARIABLE = "MEMENVS_STATE"  # names another folder
HEX = frozenset("0123456789abcdef")
LONGEST = 4096  # of a path


def state_folder() -> Path:
    """Give the folder that platformdirs gives; raises ``RuntimeError`` for a user without a home.

    platformdirs is not imported: it comes with an extra alone.
    """
    if given := os.environ.get(VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "memenvs"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "memenvs"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "memenvs"


def remember(digest: str, place: str = "") -> None:
    """Note that the user made or trusts what has this SHA-256, and where it lies.

    Where the folder cannot be written nothing is noted: it will be asked for again.
    """
    with suppress(OSError, RuntimeError, UnicodeEncodeError):
        folder = state_folder() / "trusted"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(folder / digest, place.encode())


def forget(digest: str) -> None:
    """Trust no longer what has this SHA-256; it is gone."""
    with suppress(OSError, RuntimeError):
        (state_folder() / "trusted" / digest).unlink(missing_ok=True)


def remembered(digest: str) -> str | None:
    """Give where it lies, or "", if ``remember`` was told of it; else None."""
    if len(digest) != 64 or not HEX.issuperset(digest):  # it may stand in a file
        return None
    try:
        with (state_folder() / "trusted" / digest).open("rb") as stream:
            return stream.read(LONGEST).decode()
    except (OSError, RuntimeError, UnicodeDecodeError):
        return None
