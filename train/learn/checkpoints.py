"""Checkpoints: one file each, written whole or not at all; the last good one is gone on with."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from memenvs.material.files import write_durably

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
    for old in _all(folder)[:-KEPT]:
        old.unlink(missing_ok=True)
    return target


def last_checkpoint(folder: Path) -> Path | None:
    """Find the newest checkpoint, if there is one."""
    found = _all(folder)
    return found[-1] if found else None


def load_checkpoint(
    path: Path,
    load: Callable[[IO[bytes]], Any],
    carry: Callable[[Any], None] = lambda carried: None,
) -> tuple[Any, dict[str, Any]]:
    """Let ``load`` read the model; gives it, its replay buffer filled, and what was measured.

    ``carry`` is given what the environments kept from episode to episode.

    Raises ``ValueError`` where the file is damaged.
    """
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


def _all(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.zip"))
