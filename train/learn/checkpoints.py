"""Checkpoints: one file each, written whole or not at all; the last good one is gone on with."""

from __future__ import annotations

import io
import json
import logging
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from memenvs.storage.reading import digest_of
from memenvs.storage.trusted import forget, remember, remembered
from memenvs.storage.whole import write_durably

LOG = logging.getLogger("memenvs")
KEPT = 2  # the newest
MODEL, REPLAY, PROGRESS = "model.zip", "replay.pkl", "progress.json"
CARRIED = "carried.pkl"


def save_checkpoint(
    folder: Path, model: Any, progress: dict[str, Any], carried: Any = None
) -> Path:
    """Write where ``model`` stands, and what was measured so far; older ones are removed.

    ``carried`` is what the environments keep from episode to episode, if there is anything.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{model.num_timesteps:012d}.zip"

    def write(stream: IO[bytes]) -> None:
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(PROGRESS, json.dumps(progress))
            parameters = io.BytesIO()
            model.save(parameters)
            archive.writestr(MODEL, parameters.getvalue())
            if getattr(model, "replay_buffer", None) is not None:
                with archive.open(REPLAY, "w", force_zip64=True) as entry:
                    pickle.dump(model.replay_buffer, entry)
            if carried is not None:
                archive.writestr(CARRIED, pickle.dumps(carried))

    write_durably(target, write)
    remember(digest_of(target))
    for old in checkpoints(folder)[KEPT:]:
        forget(digest_of(old))
        old.unlink(missing_ok=True)
    return target


def last_checkpoint(folder: Path) -> Path | None:
    """Find the newest checkpoint, if there is one."""
    found = checkpoints(folder)
    return found[0] if found else None


def load_last(
    folder: Path,
    load: Callable[[IO[bytes]], Any],
    carry: Callable[[Any], None] = lambda carried: None,
) -> tuple[Any, dict[str, Any]] | None:
    """Load the newest checkpoint that is good, if there is any; see ``load_checkpoint``.

    Where all are damaged, or foreign, raises ``ValueError`` for the newest.
    """
    fault: ValueError | None = None
    for path in checkpoints(folder):
        try:
            found = load_checkpoint(path, load, carry)
        except ValueError as error:
            fault = fault or error
            continue
        if fault is not None:
            LOG.warning("%s; going on from %s", fault, path)
        return found
    if fault is not None:
        raise fault
    return None


def load_checkpoint(
    path: Path,
    load: Callable[[IO[bytes]], Any],
    carry: Callable[[Any], None] = lambda carried: None,
) -> tuple[Any, dict[str, Any]]:
    """Let ``load`` read the model; gives it, its replay buffer filled, and what was measured.

    ``carry`` is given what the environments kept from episode to episode.

    It holds pickles, and so has to be of this user's own making. Raises ``ValueError`` where it is
    not, or is damaged.
    """
    if remembered(digest_of(path)) is None:
        raise ValueError(
            f"{path}: is no checkpoint that was written here, or was damaged since; remove it, or, "
            f"if you trust its maker, run: memenvs trust {path}"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            progress: dict[str, Any] = json.loads(archive.read(PROGRESS))
            model = load(io.BytesIO(archive.read(MODEL)))
            if REPLAY in archive.namelist():
                with archive.open(REPLAY) as entry:
                    model.load_replay_buffer(io.BytesIO(entry.read()))
            if CARRIED in archive.namelist():
                carry(pickle.loads(archive.read(CARRIED)))
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: is not a checkpoint: {error}; remove it") from None
    return model, progress


def checkpoints(folder: Path) -> list[Path]:
    """List the checkpoints of a folder, the newest first."""
    return sorted(folder.glob("[0-9]*.zip"), reverse=True)
