"""Write policies: everything that chooses what a memory keeps, by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memenvs.policies.base import Policy

POLICIES: dict[str, str] = {
    "random": "memenvs.policies.simple:Random",
    "fifo": "memenvs.policies.simple:FirstInFirstOut",
    "reservoir": "memenvs.policies.simple:Reservoir",
    "longest": "memenvs.policies.simple:Longest",
    "confidence": "memenvs.policies.simple:Confidence",
    "greedy": "memenvs.policies.oracle:Greedy",
    "optimal": "memenvs.policies.oracle:Optimal",
}


def policy_class(name: str) -> type[Policy]:
    """Give the class behind a name; raises ``ValueError`` that lists the names."""
    if name not in POLICIES:
        raise ValueError(f"no policy is named '{name}'; choose from {', '.join(POLICIES)}")
    module, _, attribute = POLICIES[name].partition(":")
    found: type[Policy] = getattr(import_module(module), attribute)
    return found


def make(name: str, env: Any, *, seed: int = 0) -> Policy:
    """Build the policy of that name for an environment, or for a vector of environments."""
    return policy_class(name)(env, seed)
