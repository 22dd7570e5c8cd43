"""The encoder of a material file: it lies beside the file, as "M.jsonl.encoder.json"."""

from __future__ import annotations

import json
import os
from pathlib import Path

from memenvs.errors import MaterialError
from memenvs.material.files import write_whole
from memenvs.strict_json import read_json
from memenvs.text.encoders import Encoder, encoder_description, make_encoder
from memenvs.text.tfidf import TfidfEncoder

DESCRIBED, FITTED = ".encoder.json", ".encoder.npz"


def save_encoder(encoder: Encoder, material: str | os.PathLike[str]) -> Path:
    """Write an encoder's description beside a material file, whole or not at all."""
    path = Path(f"{os.fspath(material)}{DESCRIBED}")
    write_whole(path, json.dumps(encoder_description(encoder)).encode())
    return path


def encoder_of(material: str | os.PathLike[str]) -> Encoder | None:
    """Give the encoder that lies beside a material file, if one does.

    Raises ``MaterialError`` where it cannot be made again.
    """
    described = Path(f"{os.fspath(material)}{DESCRIBED}")
    fitted = Path(f"{os.fspath(material)}{FITTED}")
    if described.is_file():
        description = read_json(described)
        if not isinstance(description, dict):
            raise MaterialError("describes no encoder", file=str(described))
        try:
            return make_encoder(description)
        except MaterialError as error:
            raise error.within(error.file or str(described)) from None
    return TfidfEncoder.load(fitted) if fitted.is_file() else None
