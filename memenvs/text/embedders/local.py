"""Models on disk: sentence-transformers and model2vec, by the path of their folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.incidence import FloatArray
from memenvs.text.embedders.files import describe_path, described_path
from memenvs.text.encoders import unit_rows

STATIC = '"normalize"'  # a field of config.json that model2vec writes, and no transformer


@dataclass(frozen=True)
class SentenceTransformersEncoder:
    """A sentence-transformers model in a folder; nothing is fetched. Needs that package."""

    path: str
    kind: ClassVar[str] = "sentence-transformers"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.encode([""]).shape[1])

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows of length 1."""
        if not texts:
            return np.zeros((0, self.dimension))
        model = _sentence_transformer(_folder(self.path))
        return _units(model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True))

    def describe(self) -> dict[str, Any]:
        """Give path and digest."""
        return describe_path(self.path)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> SentenceTransformersEncoder:
        """Find the same model again."""
        return cls(described_path(description))


@dataclass(frozen=True)
class Model2VecEncoder:
    """A model2vec model (static vectors of tokens) in a folder; nothing is fetched."""

    path: str
    kind: ClassVar[str] = "model2vec"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(_static_model(_folder(self.path)).dim)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows of length 1; zeros for a text without known tokens."""
        model = _static_model(_folder(self.path))
        if not texts:
            return np.zeros((0, self.dimension))
        return _units(model.encode(list(texts), use_multiprocessing=False))

    def describe(self) -> dict[str, Any]:
        """Give path and digest."""
        return describe_path(self.path)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Model2VecEncoder:
        """Find the same model again."""
        return cls(described_path(description))


def local_encoder(name: str) -> Any:
    """Give the encoder of a model on disk, by what its files say it is.

    A folder whose ``config.json`` says whether to normalise is model2vec's, one with
    ``modules.json`` is that of sentence-transformers; a file ``.onnx``, or a folder with one, is
    run by ONNX Runtime. Raises ``MaterialError`` for anything else.
    """
    from memenvs.text.embedders.onnx import OnnxEncoder, onnx_file

    place = Path(name).absolute()  # who reads the description may stand elsewhere
    path = str(place)
    if place.is_file() and place.suffix == ".onnx":
        return OnnxEncoder(path)
    if not place.exists():
        raise MaterialError(
            "is no encoder: give tfidf, hashing, the path of a model, or an endpoint's address",
            record=f"'{name}'",
        )
    _folder(path)
    config = place / "config.json"
    if config.is_file() and STATIC in config.read_text("utf-8"):
        return Model2VecEncoder(path)
    if (place / "modules.json").is_file():
        return SentenceTransformersEncoder(path)
    if onnx_file(place):
        return OnnxEncoder(path)
    raise MaterialError(
        "is no model known here; name a folder of sentence-transformers or model2vec, or an "
        ".onnx file beside its tokenizer.json",
        file=path,
    )


def _folder(path: str) -> str:
    if not Path(path).is_dir():
        raise MaterialError("is no folder; name the folder of a model", file=path)
    return path


@cache
def _sentence_transformer(path: str) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return SentenceTransformer(path, local_files_only=True)


@cache
def _static_model(path: str) -> Any:
    from model2vec import StaticModel

    return StaticModel.from_pretrained(path)


def _units(rows: Any) -> FloatArray:
    return unit_rows(np.asarray(rows, dtype=np.float64))
