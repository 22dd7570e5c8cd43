"""The distribution of materials p(D): tiers of generated materials, by name."""

from memenvs.materials.generator.assemble import generate
from memenvs.materials.generator.parameters import Family, Parameters, Size, World, draw_world
from memenvs.materials.generator.tiers import TIERS, Split, Tier

__all__ = [
    "TIERS",
    "Family",
    "Parameters",
    "Size",
    "Split",
    "Tier",
    "World",
    "draw_world",
    "generate",
]
