"""Gymnasium environments in which an agent learns what to remember."""

from memenvs.errors import MaterialError
from memenvs.files import load_material, load_materials, save_materials
from memenvs.material import Evaluation, Material
from memenvs.records import Claim, Item, Query

__all__ = [
    "Claim",
    "Evaluation",
    "Item",
    "Material",
    "MaterialError",
    "Query",
    "load_material",
    "load_materials",
    "save_materials",
]
