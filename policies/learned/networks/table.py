"""The networks by name: the class that SB3 builds, and its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_POINTER = "memenvs.policies.learned.networks.pointer:PointerPolicy"
_ESTIMATOR_POINTER = "memenvs.policies.learned.networks.estimator_pointer:EstimatorPointerPolicy"
_SHARED_POINTER = "memenvs.policies.learned.networks.shared_pointer:SharedPointerPolicy"

# Of the writer.
NETWORKS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "pointer": (_POINTER, {"sets": "deep-sets"}),
        "set-transformer": (_POINTER, {"sets": "set-transformer"}),
        "estimator-pointer": (_ESTIMATOR_POINTER, {"sets": "deep-sets"}),
        "shared-pointer": (_SHARED_POINTER, {"sets": "deep-sets"}),
        "priority": (
            "memenvs.policies.learned.networks.priority:PriorityPolicy",
            {"sets": "deep-sets"},
        ),
        "scorer": ("memenvs.policies.learned.networks.scorer:ScorerPolicy", {}),
        "slot-scorer": ("memenvs.policies.learned.networks.scorer:SlotScorerPolicy", {}),
    }
)
# Of one who chooses the context of prompts.
CONTEXT_NETWORKS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {"pointer": ("memenvs.policies.learned.networks.entry_pointer:EntryPointerPolicy", {})}
)
# Of one who acts on pages beside a memory that advises.
GUI_NETWORKS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {"advised": ("memenvs.policies.gui.advised:AdvisedPolicy", {})}
)
# By family of environments. `mlp`, the network of stable-baselines3 itself, is for every one.
FAMILIES = {"memorization": NETWORKS, "poisoning": CONTEXT_NETWORKS, "gui": GUI_NETWORKS}
# Of a poisoner or an asker.
OPPONENTS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {"opponent": ("memenvs.policies.learned.networks.opponent:OpponentPolicy", {})}
)
