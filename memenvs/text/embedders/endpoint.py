"""An OpenAI-compatible endpoint for embeddings; texts leave this machine only if it is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.incidence import FloatArray
from memenvs.storage.messages import clipped
from memenvs.text.encoders import unit_rows
from memenvs.text.model_server import ModelServer
from memenvs.text.origins import configured_address, key_for, shown_address

ROLE = "embeddings"  # MEMENVS_EMBEDDINGS_URL and _KEY, so that no file holds the key
BATCH = 64
LONGEST = 2**26  # bytes of an answer: 64 vectors of 4096 numbers in text, with room


@dataclass(frozen=True)
class EndpointEncoder:
    """Ask a server for embeddings: ``url`` ends before "/embeddings".

    The environment variable ``MEMENVS_EMBEDDINGS_KEY`` is sent to the server of
    ``MEMENVS_EMBEDDINGS_URL``, and to no other. Raises ``ServerError`` where the server is absent,
    refuses or sends anything but one vector a text.
    """

    url: str
    model: str
    dimension: int
    kind: ClassVar[str] = "endpoint"

    @classmethod
    def at(cls, url: str, model: str) -> EndpointEncoder:
        """Learn the vectors' length from the server."""
        return cls(url, model, len(_vectors(url, model, ["length"], 0)[0]))

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows of length 1."""
        rows = np.zeros((len(texts), self.dimension))
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            rows[start : start + len(part)] = _vectors(self.url, self.model, part, self.dimension)
        return unit_rows(rows)

    def describe(self) -> dict[str, Any]:
        """Give address, model and length."""
        return {"url": shown_address(self.url), "model": self.model, "dimension": self.dimension}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> EndpointEncoder:
        """Make it of what was described, at the address that the user set; nothing is asked yet.

        A file never says where texts are sent: raises ``MaterialError`` where its address is not
        that of ``MEMENVS_EMBEDDINGS_URL``.
        """
        described, own = str(description["url"]), configured_address(ROLE)
        if own is None or shown_address(own).rstrip("/") != described.rstrip("/"):
            raise MaterialError(
                f"its texts would be sent to {clipped(shown_address(described))}, which a file "
                "names; if you want that, set MEMENVS_EMBEDDINGS_URL to this address, or give "
                "encoder="
            )
        return cls(own, str(description["model"]), int(description["dimension"]))


def _vectors(url: str, model: str, texts: list[str], dimension: int) -> list[list[float]]:
    server = ModelServer(url, "/embeddings", "encoder", key=key_for(ROLE, url), longest=LONGEST)
    # An empty text is refused by most servers.
    body = {"model": model, "input": [text or " " for text in texts]}
    return server.ask(body, lambda answer: _read(answer, len(texts), dimension))


def _read(answer: bytes, count: int, dimension: int) -> list[list[float]]:
    try:
        data = sorted(json.loads(answer)["data"], key=lambda entry: entry["index"])
        rows = np.array([entry["embedding"] for entry in data], dtype=np.float64)
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ValueError("did not send embeddings") from None
    wanted = (count, dimension or (rows.shape[1] if rows.ndim == 2 else 0))
    if rows.shape != wanted or not np.isfinite(rows).all() or not rows.size:
        raise ValueError(f"sent vectors of shape {rows.shape}, not {wanted}")
    vectors: list[list[float]] = rows.tolist()
    return vectors
