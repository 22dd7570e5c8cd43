"""Constants of the tree as a write policy, a row for each tier, tuned on validation alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memenvs.policies.weighted_tree.constants import Constants

# For materials of no tier: an unknown outcome is worth less than a success, and nothing decays.
WRITING = Constants(weight=1.0, decay=1.0, action=0.5)
# By `memenvs study tuning --policy weighted-tree TIER ...` in the environments of level 2: 60
# random rows and two rounds of one constant at a time over 128 validation materials; the best 8
# compared on 512. Tiers of 128 claims: 25 random rows and one round over 48 materials, 128 to
# compare; of 1,000 claims: 8 random rows over 8, 16 to compare.
TABLE: Mapping[str, Constants] = MappingProxyType(
    {
        "readable": Constants(
            success=0.9,
            failure=0.05,
            task=0.1,
            action=0.3,
            decay=0.95,
            gamma=0.5,
            threshold=0.1,
            priority=3,
            weight=1,
        ),
        "hidden": Constants(
            success=0.9, failure=0, task=0.1, action=0.2, decay=1, alpha=0, threshold=0, weight=1
        ),
        "worlds": Constants(
            failure=0, task=0.1, action=0.3, decay=1, beta=0.6, gamma=0.5, threshold=0.2, weight=1
        ),
        "composite": Constants(
            success=1,
            failure=0,
            task=0.3,
            action=0.5,
            decay=1,
            gamma=0.5,
            threshold=0.2,
            weight=0.9,
        ),
        "end-to-end": Constants(
            success=0.9,
            failure=0,
            task=0.3,
            action=0.3,
            decay=1,
            gamma=0.5,
            threshold=0.2,
            priority=3,
            weight=1,
        ),
        "conflicting": Constants(
            success=1, failure=0, task=0.3, action=0.3, decay=1, threshold=0.2, weight=1
        ),
        "probe": Constants(
            success=0.9,
            failure=0.05,
            action=0.3,
            decay=1,
            alpha=0,
            beta=1,
            gamma=0.5,
            threshold=0.2,
            weight=0.9,
        ),
        "read-limited": Constants(
            success=1,
            failure=0,
            task=0.3,
            action=0.3,
            decay=0.98,
            threshold=0.2,
            priority=3,
            weight=1,
        ),
        "readable-128": Constants(
            failure=0.1, action=0.2, decay=1, alpha=0, beta=1, gamma=0.5, threshold=0.2, weight=1
        ),
        "hidden-128": Constants(
            failure=0, action=0.3, decay=1, gamma=0.5, threshold=0.2, priority=3, weight=1
        ),
        "worlds-128": Constants(
            success=1,
            failure=0,
            task=0.1,
            action=0.3,
            decay=1,
            alpha=0,
            gamma=0.5,
            threshold=-1,
            weight=1,
        ),
        "composite-128": Constants(
            success=0.9,
            failure=0.05,
            task=0.3,
            action=0.3,
            decay=1,
            alpha=0,
            beta=1,
            gamma=0.5,
            threshold=0.2,
            weight=1,
        ),
        "end-to-end-128": Constants(
            success=1, failure=0.05, task=0.1, action=0.3, decay=1, gamma=0.5, threshold=0, weight=1
        ),
        "conflicting-128": Constants(
            success=0.9, failure=0, action=0.3, decay=1, alpha=0, threshold=0, weight=1
        ),
        "probe-128": Constants(
            failure=0, action=0.2, decay=1, alpha=0, beta=0.6, gamma=0.5, threshold=-1, weight=1
        ),
        "read-limited-128": Constants(
            success=1,
            failure=0,
            task=0.3,
            action=0.5,
            decay=1,
            gamma=0.5,
            threshold=0.2,
            priority=3,
            weight=1,
        ),
        "readable-1000": Constants(
            success=0.9, failure=0, task=0.1, action=0.2, decay=1, alpha=0, threshold=0, weight=1
        ),
        "hidden-1000": Constants(
            success=0.9, failure=0, task=0.1, action=0.2, decay=1, alpha=0, threshold=0, weight=1
        ),
        "worlds-1000": Constants(
            success=0.9, failure=0, task=0.1, action=0.2, decay=1, alpha=0, threshold=0, weight=1
        ),
    }
)
