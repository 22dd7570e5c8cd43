"""The frozen protocols, as data: what is played, how often, with which seeds, measured by what.

A protocol is never changed: a changed one gets a new name. A test pins the digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Part:
    """One table of the results."""

    name: str
    settings: dict[str, Any]  # of the comparison
    data: str = ""  # kind of the data set that it needs; "": comes with the package


@dataclass(frozen=True)
class Curve:
    """The sample complexity within an episode: how settling more often helps the final memory."""

    tier: str
    materials: int
    every: tuple[int | None, ...]  # decisions between settlements; None: none before the end


@dataclass(frozen=True)
class Protocol:
    """What a name of a protocol stands for."""

    name: str
    parts: tuple[Part, ...]
    curves: tuple[Curve, ...]
    split: str
    seed: int
    baseline: str
    time_limit: float  # seconds for the frontier of one material
    metrics: tuple[str, ...]  # of a summary

    @property
    def digest(self) -> str:
        """SHA-256 of everything that it says."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


_METRICS = (
    "precision",
    "low",
    "high",
    "iqm",
    "iqm_low",
    "iqm_high",
    "coverage",
    "water_inflation",
    "size",
    "share",
    "efficiency_loss",
    "regret",
    "normalised",
    "difference",
    "difference_low",
    "difference_high",
    "improvement",
    "improvement_low",
    "improvement_high",
    "settled",
    "illegal",
    "seeds",
    "materials",
    "episodes",
    "frontier_proved",
    "privileged",
    "knows",
    "taught_by",
    "seen",
)
_TIERS = ("readable", "hidden", "worlds", "composite", "end-to-end", "conflicting", "probe")
_EVERY = (None, 16, 8, 4, 2, 1)

V1 = Protocol(
    name="v1",
    parts=(
        *(Part(tier, {"material": [tier], "split": "test", "materials": 200}) for tier in _TIERS),
        Part("worlds-ood", {"material": ["worlds"], "split": "ood", "materials": 200}),
        Part("level-1b", {"env": "memenvs/DisclosedQueries-v0", "episodes": 50}),
        Part("level-1b-odyssey", {"env": "memenvs/OdysseyDisclosed-v0", "episodes": 50}),
        Part("locomo", {"capacity": [50, 100, 200], "episodes": 1}, "locomo"),
        Part("entailment-bank", {"capacity": [50, 100], "episodes": 1}, "entailment-bank"),
    ),
    curves=tuple(Curve(tier, 100, _EVERY) for tier in ("readable", "hidden", "worlds")),
    split="test",
    seed=0,
    baseline="trust",
    time_limit=60.0,
    metrics=_METRICS,
)
PROTOCOLS: Mapping[str, Protocol] = MappingProxyType({V1.name: V1})
