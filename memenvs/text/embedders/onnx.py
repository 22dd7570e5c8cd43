"""A text encoder in ONNX, with its tokenizer.json beside it, run on the processor."""

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

LONGEST = 256  # tokens of a text that are read: a claim is a sentence or a message
BATCH = 32


@dataclass(frozen=True)
class OnnxEncoder:
    """A transformer exported to ONNX: its sentence vector, or the mean of its tokens' vectors.

    ``path`` is the ``.onnx`` file or a folder that holds one (also under ``onnx/``). Inputs are
    those of the model among ``input_ids``, ``attention_mask`` and ``token_type_ids``; of its
    outputs the first of two axes is taken, else the first of three is averaged over the tokens.
    """

    path: str
    kind: ClassVar[str] = "onnx"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.encode(["a"]).shape[1])

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows of length 1."""
        if not texts:
            return np.zeros((0, self.dimension))
        parts = [
            self._batch(list(texts[start : start + BATCH])) for start in range(0, len(texts), BATCH)
        ]
        return unit_rows(np.concatenate(parts).astype(np.float64))

    def describe(self) -> dict[str, Any]:
        """Give path and digest."""
        return describe_path(self.path)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> OnnxEncoder:
        """Find the same model again."""
        return cls(described_path(description))

    def _batch(self, texts: list[str]) -> Any:
        tokenizer, session = _loaded(self.path)
        encoded = tokenizer.encode_batch(texts)
        mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([e.ids for e in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([e.type_ids for e in encoded], dtype=np.int64),
        }
        wanted = [node.name for node in session.get_inputs()]
        unknown = [name for name in wanted if name not in given]
        if unknown:
            raise MaterialError(
                f"wants the input '{unknown[0]}', which no text has", file=self.path
            )
        outputs = session.run(None, {name: given[name] for name in wanted})
        for axes in (2, 3):
            for output in outputs:
                if output.ndim == axes:
                    return output if axes == 2 else _mean(output, mask)
        raise MaterialError("gives neither vectors of texts nor of tokens", file=self.path)


def onnx_file(place: Path) -> Path | None:
    """Find the model in a folder: the first ``.onnx`` there, else under ``onnx/``."""
    if place.is_file():
        return place
    found = [*sorted(place.glob("*.onnx")), *sorted(place.glob("onnx/*.onnx"))]
    return found[0] if found else None


@cache
def _loaded(path: str) -> tuple[Any, Any]:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    model = onnx_file(Path(path))
    if model is None or not model.is_file():
        raise MaterialError("holds no .onnx file; name one", file=path)
    beside = [folder / "tokenizer.json" for folder in (model.parent, model.parent.parent)]
    files = [file for file in beside if file.is_file()]
    if not files:
        raise MaterialError("has no tokenizer.json beside it; put it there", file=str(model))
    try:
        tokenizer = Tokenizer.from_file(str(files[0]))
        session = InferenceSession(str(model), providers=["CPUExecutionProvider"])
    except Exception as error:  # both raise their own, undocumented
        problem = " ".join(str(error).split())
        raise MaterialError(f"cannot be loaded: {problem:.200}", file=str(model)) from None
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding()
    return tokenizer, session


def _mean(vectors: Any, mask: Any) -> Any:
    weights = mask[:, :, None].astype(np.float64)
    return (vectors * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
