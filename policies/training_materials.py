"""The tier of generated materials that an environment plays, and what to fit a policy on."""

from __future__ import annotations

from typing import Any

from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS, Split, Tier
from memenvs.materials.library import find_materials, source_of
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


def training_materials(env: Any, variant: str | None, count: int) -> list[Material] | None:
    """Give the materials of a name or file, or the first of the train split of what is played.

    None where nothing is named and the environment's materials are of no tier.
    """
    tokens = attribute(env, "rules").budget is not None
    if variant is not None:
        split = "train" if isinstance(source_of(variant), Tier) else None
        return list(find_materials(variant, split, count, tokens=tokens))
    tier = tier_of(env)
    return None if tier is None else list(tier.split("train", tokens=tokens)[:count])
