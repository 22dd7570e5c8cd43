"""`wrapper:` puts a memory around the environments of a training, by name."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import SyncVectorEnv, VectorEnv
from stable_baselines3.common.vec_env import VecEnv

from memenvs.envs.family import GUI, MEMORIZATION
from memenvs.policies.bisimulation.adapter import adapter_for
from memenvs.train.config_files import unknown
from memenvs.train.learn.settings import Wrapper
from memenvs.wrappers import VectorBisimulationMemory, VectorWeightedTreeMemory

WRAPPERS = ("weighted-tree", "bisimulation")
RULE = "guarded"
BASE = "trust"  # the write policy whose shortlists the bisimulation memory reads


def wrapped(batch: VectorEnv[Any, Any, Any], wrapper: Wrapper) -> VectorEnv[Any, Any, Any]:
    """Put a memory around a batch.

    Raises ``ValueError`` for an unknown name or option, and where it does not fit.
    """
    if wrapper.name not in WRAPPERS:
        raise ValueError(f"wrapper '{wrapper.name}' {unknown(wrapper.name, WRAPPERS)}")
    if wrapper.name == "weighted-tree":
        return _weighted_tree(batch, wrapper)
    return _bisimulation(batch, wrapper)


def _weighted_tree(batch: VectorEnv[Any, Any, Any], wrapper: Wrapper) -> VectorWeightedTreeMemory:
    if _family(batch) is not MEMORIZATION:
        raise ValueError("wrapper 'weighted-tree' is for memorization environments; leave it out")
    if wrapper.mode == "act":
        raise ValueError(
            "wrapper 'weighted-tree' with mode 'act' takes every decision itself, so that there is "
            "nothing to learn; set mode: advise"
        )
    if wrapper.rule is not None or wrapper.policy is not None:
        raise ValueError("wrapper 'weighted-tree' has neither 'rule' nor 'policy'; leave them out")
    return VectorWeightedTreeMemory(batch, wrapper.mode)


def _bisimulation(batch: VectorEnv[Any, Any, Any], wrapper: Wrapper) -> VectorBisimulationMemory:
    family = _family(batch)
    if family not in (GUI, MEMORIZATION):
        raise ValueError(
            "wrapper 'bisimulation' reads graphical and memorization environments alone; leave it "
            "out"
        )
    inner = batch.unwrapped
    single = isinstance(inner, SyncVectorEnv)
    return VectorBisimulationMemory(
        batch,
        wrapper.policy or ("scripted" if family is GUI else BASE),
        wrapper.rule or RULE,
        wrapper.mode,
        adapter=adapter_for(inner.envs[0]) if single else None,  # type: ignore[attr-defined]
    )


def _family(batch: VectorEnv[Any, Any, Any]) -> Any:
    inner: Any = batch.unwrapped
    owner = inner.envs[0].unwrapped if isinstance(inner, SyncVectorEnv) else inner
    return getattr(owner, "family", None)


def carried_by(env: VecEnv) -> Any:
    """Give what the environments of a batch keep from episode to episode; None for nothing."""
    batch = getattr(env.unwrapped, "batch", None)
    return batch.learner if isinstance(batch, VectorBisimulationMemory) else None


def carry(env: VecEnv, carried: Any) -> None:
    """Let the episodes to come go on with what others kept."""
    batch = getattr(env.unwrapped, "batch", None)
    if isinstance(batch, VectorBisimulationMemory):
        batch.learner, batch.memory = carried, carried.memory
