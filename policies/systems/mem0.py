"""The real mem0 (the package mem0ai), run on this machine: no language model, no network.

Its plain `add` (`infer=False`) stores every statement; a Qdrant in a temporary folder holds the
vectors, which are those of an encoder of memenvs. Telemetry and its notices are off.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from memenvs.text.encoders import HashingEncoder

USER = "memenvs"
DIMENSION = 256
ALL = 100_000  # entries that are listed


class Mem0:
    """A `Memory` of mem0, as a system to be measured.

    It knows no capacity: it keeps everything, so that what lies beyond is cut by the rule for all
    systems. Raises ``ModuleNotFoundError`` without the extra `mem0`.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="memenvs-mem0-")
        # Both are read once, where the package is imported; it may have been before.
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ.setdefault("MEM0_DIR", self._folder.name)
        from mem0 import Memory
        from mem0.memory import main, telemetry
        from mem0.utils.factory import EmbedderFactory

        main.MEM0_TELEMETRY = telemetry.MEM0_TELEMETRY = False
        EmbedderFactory.provider_to_class["langchain"] = f"{__name__}.Embedder"
        path = os.path.join(self._folder.name, "store")  # noqa: PTH118 - mem0 wants a string
        self._memory: Any = Memory.from_config(
            {
                "embedder": {"provider": "langchain", "config": {"embedding_dims": DIMENSION}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": path, "embedding_model_dims": DIMENSION, "on_disk": True},
                },
                # It is made, and never asked.
                "llm": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": ":memory:",
            }
        )

    def add(self, text: str, **facts: Any) -> None:
        """Store a statement as it is, its facts as metadata."""
        metadata = {f"memenvs_{name}": value for name, value in facts.items()}
        self._memory.add(text, user_id=USER, metadata=metadata, infer=False)

    def contents(self) -> list[dict[str, Any]]:
        """List what is stored, by the time it was created."""
        found = self._memory.get_all(filters={"user_id": USER}, top_k=ALL)["results"]
        return [_entry(each) for each in sorted(found, key=lambda each: each["created_at"])]

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Ask its own search: vectors and, where it has them, key words and entities."""
        if not query.strip():
            return []
        found = self._memory.search(query, filters={"user_id": USER}, top_k=k, threshold=0.0)
        return [_entry(each) for each in found["results"]]

    def close(self) -> None:
        """Close the store and remove it."""
        self._memory.vector_store.client.close()
        self._memory.close()
        self._folder.cleanup()


class Embedder:
    """What mem0 asks for vectors: stands in for its providers, all of which load a model."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self._encoder = HashingEncoder(DIMENSION)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Give one vector."""
        row: list[float] = self._encoder.encode([text])[0].tolist()
        return row

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """Give one vector a text."""
        rows: list[list[float]] = self._encoder.encode(texts).tolist()
        return rows


def _entry(found: dict[str, Any]) -> dict[str, Any]:
    return {"text": found["memory"], "id": (found.get("metadata") or {}).get("memenvs_id")}
