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
    "reflexion": "memenvs.policies.today.queues:Reflexion",
    "generative-agents": "memenvs.policies.today.generative_agents:GenerativeAgents",
    "memorybank": "memenvs.policies.today.memorybank:MemoryBank",
    "memgpt": "memenvs.policies.today.queues:MemGPT",
    "letta": "memenvs.policies.today.queues:Letta",
    "memos": "memenvs.policies.today.memos:MemOS",
    "hipporag": "memenvs.policies.today.graphs:HippoRAG",
    "mem0": "memenvs.policies.today.merging:Mem0",
    "a-mem": "memenvs.policies.today.graphs:AMem",
    "graphiti": "memenvs.policies.today.merging:Graphiti",
    "lightmem": "memenvs.policies.today.merging:LightMem",
    "trust": "memenvs.policies.trust:Trust",
    "bayes": "memenvs.policies.bayes:Bayes",
    "supervised": "memenvs.policies.supervised:Supervised",
    "clairvoyant": "memenvs.policies.streaming:Clairvoyant",
    "greedy": "memenvs.policies.oracle:Greedy",
    "optimal": "memenvs.policies.oracle:Optimal",
}


def policy_class(name: str) -> type[Policy]:
    """Give the class behind NAME or NAME:VARIANT; raises ``ValueError`` that lists the names."""
    name = name.partition(":")[0]
    if name not in POLICIES:
        raise ValueError(f"no policy is named '{name}'; choose from {', '.join(POLICIES)}")
    module, _, attribute = POLICIES[name].partition(":")
    found: type[Policy] = getattr(import_module(module), attribute)
    return found


def make(name: str, env: Any, *, seed: int = 0, **options: Any) -> Policy:
    """Build the policy of that name for an environment, or for a vector of environments.

    ``name`` may be NAME:VARIANT; ``options`` are the policy's own, as ``judge`` of the memories in
    use today. Raises ``ValueError`` for an unknown name or variant.
    """
    built, (name, colon, variant) = policy_class(name), name.partition(":")
    if colon:
        if not hasattr(built, "variants"):
            raise ValueError(f"the policy '{name}' has no variant '{variant}'; it has none")
        options["variant"] = variant
    return built(env, seed, **options)
