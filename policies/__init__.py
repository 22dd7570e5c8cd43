"""Write policies: everything that chooses what a memory keeps, by name."""

from memenvs.policies.learned.loading import load
from memenvs.policies.learned.saving import save
from memenvs.policies.live.write_memory import WriteMemory
from memenvs.policies.names import OUTSIDE, POLICIES
from memenvs.policies.resolve import from_torch, is_path, make, policy_class

__all__ = [
    "OUTSIDE",
    "POLICIES",
    "WriteMemory",
    "from_torch",
    "is_path",
    "load",
    "make",
    "policy_class",
    "save",
]
