"""The file of a `WriteMemory`: what it holds, written whole and checked when it is read."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.files import write_whole
from memenvs.policies.learned.models import find_models
from memenvs.policies.names import NAMES
from memenvs.policies.predictor import State
from memenvs.policies.resolve import Given, is_path, label_of
from memenvs.text.encoders import Encoder, encoder_description, make_encoder

FORMAT = "memenvs.memory/1"
TEXT, NUMBERS = "memory.json", "arrays.npz"  # entries of the zip file
STATE = "state."  # how the names of a policy's state arrays begin


@dataclass(frozen=True)
class Content:
    """What is written of a memory."""

    settings: dict[str, Any]  # arguments of ``WriteMemory``
    claims: list[dict[str, Any]]  # the stored ones
    names: dict[str, Any]  # sources and groups that were heard
    arrays: dict[str, NDArray[Any]]
    state: State  # of the policy


def write_memory(path: str | os.PathLike[str], content: Content, encoder: Encoder | None) -> None:
    """Write a memory, whole or not at all; raises ``OSError``."""
    settings = dict(content.settings)
    given, digests = settings["policy"], None
    settings["policy"] = label_of(given)
    if is_path(given):
        digests = _digests(given)
        settings["policy"] = str(Path(given).absolute())
    elif encoder is not None:
        settings["encoder"] = encoder_description(encoder)
    text = {
        "format": FORMAT,
        "settings": settings,
        "claims": content.claims,
        "names": content.names,
        "models": digests,
    }
    states = {f"{STATE}{place}": array for place, array in enumerate(content.state)}
    numbers, whole = io.BytesIO(), io.BytesIO()
    np.savez_compressed(numbers, allow_pickle=False, **content.arrays, **states)
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(zipfile.ZipInfo(TEXT), json.dumps(text))
        archive.writestr(zipfile.ZipInfo(NUMBERS), numbers.getvalue())
    write_whole(Path(path), whole.getvalue())


def read_memory(path: str | os.PathLike[str], policy: Given | None = None) -> Content:
    """Read what ``write_memory`` wrote; raises ``ValueError`` for another file, or model."""
    file = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            text = json.loads(archive.read(TEXT))
            arrays = dict(np.load(io.BytesIO(archive.read(NUMBERS)), allow_pickle=False))
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, zipfile.BadZipFile):
        raise ValueError(f"{file}: is no memory that memenvs saved") from None
    if not isinstance(text, dict) or text.get("format") != FORMAT:
        raise ValueError(f"{file}: is no memory of the format {FORMAT}")
    for name in ("settings", "claims", "names", "models"):
        if name not in text:
            raise ValueError(f"{file}: '{name}' is missing, so it is no memory that memenvs saved")
    settings = text["settings"]
    if policy is not None:
        settings["policy"] = policy
    elif text["models"] is None and str(settings["policy"]).partition(":")[0] not in NAMES:
        raise ValueError(
            f"{file}: was written with the policy {settings['policy']!r:.60}, which a file may not "
            "choose; give it again: policy="
        )
    if text["models"] is not None and _digests(settings["policy"]) != text["models"]:
        raise ValueError(
            f"{settings['policy']}: is not the model that {file} was written with; its decisions "
            "would not go together"
        )
    if "encoder" in settings:
        settings["encoder"] = make_encoder(settings["encoder"])
    states = sum(name.startswith(STATE) for name in arrays)
    state = tuple(arrays.pop(f"{STATE}{place}") for place in range(states))
    return Content(settings, text["claims"], text["names"], arrays, state)


def _digests(policy: str) -> list[str]:
    return [hashlib.sha256(m.path.read_bytes()).hexdigest() for m in find_models(policy)]
