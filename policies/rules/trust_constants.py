"""TrustConstants of the rule `trust`, a row for each tier, tuned on validation materials alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class TrustConstants:
    """What the rule `trust` leaves open."""

    power: float  # p: exponent of trust
    penalty: float  # a: of sources whose claims look important in the mean
    own: float  # weight of the claim's own record beside its source's
    neighbours: float  # weight of the records of sources of the same style
    apart: float  # similarity up to which two claims are held to say different things
    same: float  # similarity from which on they would be held to say the same
    counts: float = 1.0  # settled queries that a topic is granted beforehand


# By `memenvs study tuning TIER ...` in the environments of level 2: 60 random
# rows and two rounds of one constant at a time over 128 validation materials; the best 8 compared
# on 512.
# Tiers of 128 claims: 25 (worlds: 10) random rows over 48 materials, 128 to compare; of 1,000
# claims: the rows of the other tiers over 16, 24 to compare.
TABLE: Mapping[str, TrustConstants] = MappingProxyType(
    {
        "readable": TrustConstants(
            power=6, penalty=1, own=1, neighbours=1, apart=0.5, same=0.9, counts=0.3
        ),
        "hidden": TrustConstants(
            power=4, penalty=3, own=10, neighbours=0.25, apart=0.6, same=0.95, counts=0.3
        ),
        "worlds": TrustConstants(
            power=4, penalty=1, own=3, neighbours=0.5, apart=0.8, same=0.9, counts=3
        ),
        "composite": TrustConstants(
            power=4, penalty=4, own=3, neighbours=0.5, apart=0.8, same=1.1, counts=0.3
        ),
        "end-to-end": TrustConstants(
            power=4, penalty=2, own=1, neighbours=0.5, apart=0.7, same=1, counts=10
        ),
        "conflicting": TrustConstants(
            power=8, penalty=3, own=3, neighbours=0.25, apart=0.5, same=0.85, counts=0.3
        ),
        "probe": TrustConstants(
            power=3, penalty=0.5, own=3, neighbours=0, apart=0.4, same=0.85, counts=1
        ),
        "read-limited": TrustConstants(
            power=4, penalty=4, own=3, neighbours=0.25, apart=0.5, same=0.95, counts=10
        ),
        "readable-128": TrustConstants(
            power=2, penalty=0.5, own=10, neighbours=1, apart=0.8, same=1, counts=1
        ),
        "hidden-128": TrustConstants(
            power=6, penalty=4, own=30, neighbours=0.5, apart=0.8, same=1, counts=1
        ),
        "worlds-128": TrustConstants(
            power=4, penalty=2, own=1, neighbours=0.5, apart=0.7, same=0.95, counts=0.3
        ),
        "composite-128": TrustConstants(
            power=8, penalty=2, own=1, neighbours=0.5, apart=0.8, same=1.1, counts=0.3
        ),
        "end-to-end-128": TrustConstants(
            power=4, penalty=4, own=30, neighbours=0.5, apart=0.8, same=1, counts=3
        ),
        "conflicting-128": TrustConstants(
            power=4, penalty=3, own=10, neighbours=0.25, apart=0.6, same=0.95, counts=0.3
        ),
        "probe-128": TrustConstants(
            power=2, penalty=0.5, own=30, neighbours=0, apart=0.4, same=0.85, counts=0.3
        ),
        "read-limited-128": TrustConstants(
            power=2, penalty=3, own=10, neighbours=0, apart=0.4, same=1, counts=0.3
        ),
        "readable-1000": TrustConstants(
            power=4, penalty=1, own=3, neighbours=0.25, apart=0.7, same=1.1, counts=0.3
        ),
        "hidden-1000": TrustConstants(
            power=6, penalty=4, own=30, neighbours=0.5, apart=0.8, same=1, counts=1
        ),
        "worlds-1000": TrustConstants(
            power=6, penalty=4, own=30, neighbours=0.5, apart=0.8, same=1, counts=1
        ),
    }
)
# For materials of no tier: a middle way between the rows.
DEFAULT = TrustConstants(power=4, penalty=2, own=1, neighbours=0.5, apart=0.6, same=1.0)
