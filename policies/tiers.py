"""The tier of generated materials that an environment plays, for policies with constants of one."""

from __future__ import annotations

from typing import Any

from memenvs.materials.generator.tiers import TIERS, Split, Tier
from memenvs.policies.base import attribute


def tier_of(env: Any) -> Tier | None:
    """Give the tier of an environment's materials; None where they are of no tier.

    A single material of a tier, played as a fixed one, tells it by its name, "TIER-SPLIT-NUMBER".
    """
    materials = attribute(env, "materials").fixed
    if isinstance(materials, Split):
        return materials.tier
    if not materials:  # drawn by a callable
        return None
    return TIERS.get(materials[0].name.rsplit("-", 2)[0])
