"""An encoder that remembers on disk what it encoded, by the content of each text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memenvs.material.incidence import FloatArray
from memenvs.text.cache import Cache, content_key
from memenvs.text.encoders import Encoder, encoder_description

BATCH = 256  # texts between two writes: what an interruption can lose


@dataclass(frozen=True, eq=False)
class CachedEncoder:
    """Encode only texts that the cache has not; its description is the inner encoder's."""

    inner: Encoder
    cache: Cache
    progress: Callable[[int], None] | None = None  # is told how many texts are done, each time

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.inner.dimension

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows, as the inner encoder does, float32 as they are kept."""
        description: dict[str, Any] = encoder_description(self.inner)
        keys = [content_key(description, text) for text in texts]
        found = self.cache.get(dict.fromkeys(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if self.progress:
            self.progress(len(texts) - len(missing))
        left = list(missing.items())
        for start in range(0, len(left), BATCH):
            part = left[start : start + BATCH]
            rows = self.inner.encode([text for _, text in part]).astype(np.float32)
            fresh = {key: row.tobytes() for (key, _), row in zip(part, rows, strict=True)}
            self.cache.put(fresh)
            found |= fresh
            if self.progress:
                self.progress(len(part))
        if not keys:
            return np.zeros((0, self.dimension))
        rows = np.stack([np.frombuffer(found[key], np.float32) for key in keys])
        return rows.astype(np.float64)
