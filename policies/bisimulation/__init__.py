"""The action-conditioned bisimulation memory: what was tried where, pooled over equal states."""

from memenvs.policies.bisimulation.adapter import Adapter, Look, Shortlister, adapter_for
from memenvs.policies.bisimulation.constants import PAPER, Constants
from memenvs.policies.bisimulation.graph import FAILURE, NEITHER, SUCCESS
from memenvs.policies.bisimulation.graph_view import as_dot, as_html, graph_of
from memenvs.policies.bisimulation.memory import UNKNOWN, TransitionMemory
from memenvs.policies.bisimulation.pooling import Evidence
from memenvs.policies.bisimulation.rules import RULES, Rule, find_rule
from memenvs.policies.bisimulation.systems import SYSTEMS, System, find_system
from memenvs.policies.bisimulation.trail import Trail, detour

__all__ = [
    "FAILURE",
    "NEITHER",
    "PAPER",
    "RULES",
    "SUCCESS",
    "SYSTEMS",
    "UNKNOWN",
    "Adapter",
    "Constants",
    "Evidence",
    "Look",
    "Rule",
    "Shortlister",
    "System",
    "Trail",
    "TransitionMemory",
    "adapter_for",
    "as_dot",
    "as_html",
    "detour",
    "find_rule",
    "find_system",
    "graph_of",
]
