"""The settings of the taxonomy (Table 1 of the paper) as presets of one environment."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

# The closing settlement holds about 15 queries: with fewer, the final memory hardly pays.
LEVELS: MappingProxyType[str, dict[str, Any]] = MappingProxyType(
    {
        # One material, one query, known before writing: retrieval.
        "0": {"access": "pool", "disclosure": "one", "closing": 1},
        # One material, p_D in the observation.
        "1a": {"access": "pool", "disclosure": "all", "closing": 15},
        # One material, p_D hidden and disclosed by settlements while the memory is rewritten.
        "1b": {"access": "stream", "disclosure": "settled", "every": 2, "closing": 15},
        # Fresh materials: as 1b; only the write rule can transfer.
        "2": {"access": "stream", "disclosure": "settled", "every": 2, "closing": 15},
        # Write everything, then answer.
        "static": {"access": "stream", "disclosure": "settled", "closing": 15},
    }
)
