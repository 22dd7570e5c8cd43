"""Write policies: everything that chooses what a memory keeps, by name."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memenvs.policies.base import Policy
    from memenvs.policies.live.write_memory import WriteMemory as WriteMemory

POLICIES: dict[str, str] = {
    "random": "memenvs.policies.rules.simple:Random",
    "fifo": "memenvs.policies.rules.simple:FirstInFirstOut",
    "reservoir": "memenvs.policies.rules.simple:Reservoir",
    "longest": "memenvs.policies.rules.simple:Longest",
    "confidence": "memenvs.policies.rules.simple:Confidence",
    "reflexion": "memenvs.policies.published.queues:Reflexion",
    "generative-agents": "memenvs.policies.published.generative_agents:GenerativeAgents",
    "memorybank": "memenvs.policies.published.memorybank:MemoryBank",
    "memgpt": "memenvs.policies.published.queues:MemGPT",
    "letta": "memenvs.policies.published.queues:Letta",
    "memos": "memenvs.policies.published.memos:MemOS",
    "hipporag": "memenvs.policies.published.graphs:HippoRAG",
    "mem0": "memenvs.policies.published.merging:Mem0",
    "a-mem": "memenvs.policies.published.graphs:AMem",
    "graphiti": "memenvs.policies.published.merging:Graphiti",
    "lightmem": "memenvs.policies.published.merging:LightMem",
    "weighted-tree": "memenvs.policies.weighted_tree.policy:WeightedTreePolicy",
    "trust": "memenvs.policies.rules.trust:Trust",
    "bayes": "memenvs.policies.beliefs.bayes:Bayes",
    "supervised": "memenvs.policies.learned.supervised:Supervised",
    "estimator": "memenvs.policies.learned.estimator:Estimator",
    "estimator-ranker": "memenvs.policies.learned.estimator:EstimatorRanker",
    "bisimulation": "memenvs.policies.bisimulation.policy:Bisimulation",
    "clairvoyant": "memenvs.policies.oracles.clairvoyant:Clairvoyant",
    "greedy": "memenvs.policies.oracles.oracle:Greedy",
    "optimal": "memenvs.policies.oracles.oracle:Optimal",
}
# Those that ask something outside of this package: they have to be told what, or where it is.
OUTSIDE: dict[str, str] = {
    "system": "memenvs.policies.systems.policy:PythonSystem",
    "process": "memenvs.policies.systems.policy:Process",
    "llm-writer": "memenvs.policies.systems.llm_writer:LLMWriter",
}
# Of environments of other families, by the family's name ("" of none of ours).
ELSEWHERE: dict[str, dict[str, str]] = {
    "poisoning": {
        "random": "memenvs.policies.rules.legal:AnyLegal",
        "recent": "memenvs.policies.poisoning:Recent",
        "relevant": "memenvs.policies.poisoning:Relevant",
        "logistic": "memenvs.policies.poisoning:Logistic",
        "oracle": "memenvs.policies.poisoning:Oracle",
    },
    "gui": {
        "random": "memenvs.policies.rules.legal:AnyLegal",
        "scripted": "memenvs.policies.gui.scripted:ScriptedPolicy",
    },
    "": {"random": "memenvs.policies.rules.legal:AnyLegal"},
}
TRAINED = "memenvs.policies.learned.trained:Trained"


def policy_class(name: str, family: str = "memorization") -> type[Policy]:
    """Give the class behind NAME, NAME:VARIANT or the path of a trained model.

    ``family`` is that of the environment to play. Raises ``ValueError`` that lists the names.
    """
    known = ELSEWHERE.get(family) or POLICIES | OUTSIDE
    entry = TRAINED if is_path(name) else known.get(name.partition(":")[0])
    if entry is None:
        raise ValueError(
            f"no policy is named '{name.partition(':')[0]}'; choose from {', '.join(known)}, or "
            "name the folder or file of a trained model"
        )
    module, _, attribute = entry.partition(":")
    found: type[Policy] = getattr(import_module(module), attribute)
    return found


def make(name: str, env: Any, *, seed: int = 0, **options: Any) -> Policy:
    """Build the policy of that name for an environment, or for a vector of environments.

    ``name`` may be NAME:VARIANT, or a path as ``load`` takes it; ``options`` are the policy's own,
    as ``judge`` of the memories in use today. Raises ``ValueError`` for an unknown name or variant.
    """
    if is_path(name):
        return load(name, env, seed=seed, **options)
    built, (name, colon, variant) = policy_class(name, family_of(env)), name.partition(":")
    if colon:
        if not hasattr(built, "variants"):
            raise ValueError(f"the policy '{name}' has no variant '{variant}'; it has none")
        options["variant"] = variant
    return built(env, seed, **options)


def family_of(env: Any) -> str:
    """Name the family of an environment: "" for one that is not of this package."""
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "layout") and hasattr(inner, "rules"):
        return "memorization"
    family = getattr(inner, "family", None)
    if family is not None:
        return str(family.name)
    if hasattr(inner, "envs"):
        return family_of(inner.envs[0])
    foreign = hasattr(inner, "action_space") and not hasattr(inner, "get_attr")
    return "" if foreign else "memorization"


def load(
    path: str | os.PathLike[str],
    env: Any = None,
    *,
    seed: int = 0,
    device: str = "auto",
    trust: bool = False,
) -> Policy:
    """Load a trained model as a policy: a run's folder, its ``best_model.zip``, or several seeds.

    Several models of a folder decide together, by their mean probabilities or priorities. Without
    ``env`` the policy is for streams of the rules that the model was trained with. A model that can
    be loaded by its pickles alone is refused, unless it was trained on this machine or ``trust``
    says that whatever they run may run. Raises ``ValueError`` where there is no model, or it does
    not fit the environment.
    """
    from memenvs.policies.learned.loading import build
    from memenvs.policies.learned.models import find_models

    return build(find_models(path, trust=trust), env, seed=seed, device=device)


def is_path(name: str) -> bool:
    """Tell the path of a trained model from the name of a policy."""
    from memenvs.policies.learned.models import is_model

    return name.partition(":")[0] not in POLICIES | OUTSIDE and is_model(name)


def __getattr__(name: str) -> Any:
    if name == "WriteMemory":  # it imports this module
        return import_module("memenvs.policies.live.write_memory").WriteMemory
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
