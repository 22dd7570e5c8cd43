"""Gymnasium environments in which an agent learns what to remember."""

from memenvs.envs.registry import register_material, register_table, registered_envs
from memenvs.envs.registry_file import register_packaged, register_users
from memenvs.errors import MaterialError
from memenvs.material.files import load_material, load_materials, save_materials
from memenvs.material.material import Evaluation, Material
from memenvs.material.records import Claim, Item, Query
from memenvs.optimal.curve import Frontier, frontier

__version__ = "0.1.0"

__all__ = [
    "Claim",
    "Evaluation",
    "Frontier",
    "Item",
    "Material",
    "MaterialError",
    "Query",
    "frontier",
    "load_material",
    "load_materials",
    "register_material",
    "registered_envs",
    "save_materials",
]

register_table()
register_users()
register_packaged()
