"""The encoder of a material file: it lies beside the file, as "M.jsonl.encoder.json"."""

from __future__ import annotations

import json
import os
from pathlib import Path

from memenvs.errors import MaterialError
from memenvs.storage.reading import read_bounded, read_sealed, sealed
from memenvs.storage.whole import write_whole
from memenvs.text.encoders import Encoder, encoder_description, make_encoder
from memenvs.text.tfidf import TfidfEncoder

FORMAT = "memenvs.encoder/1"
LONGEST = 2**28  # bytes of a description: a fitted encoder is in it
DESCRIBED, FITTED = ".encoder.json", ".encoder.npz"


def save_encoder(encoder: Encoder, material: str | os.PathLike[str]) -> Path:
    """Write an encoder's description beside a material file, whole or not at all."""
    path = Path(f"{os.fspath(material)}{DESCRIBED}")
    document = sealed({"format": FORMAT, **encoder_description(encoder)})
    write_whole(path, json.dumps(document).encode())
    return path


def encoder_of(material: str | os.PathLike[str]) -> Encoder | None:
    """Give the encoder that lies beside a material file, if one does.

    Raises ``MaterialError`` where it cannot be made again, and where it is a server's or a model's
    that this user never named.
    """
    described = Path(f"{os.fspath(material)}{DESCRIBED}")
    fitted = Path(f"{os.fspath(material)}{FITTED}")
    if described.is_file():
        content = read_bounded(described, LONGEST)
        try:
            return make_encoder(read_sealed(content, FORMAT, "encoder", str(described)))
        except MaterialError as error:
            raise error.within(error.file or str(described)) from None
    return TfidfEncoder.load(fitted) if fitted.is_file() else None
