"""The systems of the ladder: each changes one thing, and everything downstream is shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class System:
    """What is kept of the policy's actions, and how they are named."""

    rule: str | None  # of the memory that reranks; None: nothing is kept, the policy decides
    shortlist: bool = True  # whether it takes the detours off the policy's first choice
    templates: Literal["labels", "elements", "pages"] = "labels"  # how actions are named


SYSTEMS: dict[str, System] = {
    # Controls.
    "memoryless": System(rule=None, shortlist=False),
    "shortlist-control": System(rule=None),
    # Prior merge rules.
    "identity": System("identity"),
    "observation": System("observation"),
    "successor-representation": System("successor-representation"),
    # The rule, and what it is without one of its parts.
    "action-conditioned": System("action-conditioned"),
    "guarded": System("guarded"),
    "as-written": System("as-written"),
    "no-action-conditioning": System("no-action-conditioning"),
    "without-label": System("without-label"),
    "element-actions": System("action-conditioned", templates="elements"),
    "page-actions": System("action-conditioned", templates="pages"),
}


def find_system(name: str) -> System:
    """Give the system of that name; raises ``ValueError`` that lists the names."""
    if name not in SYSTEMS:
        raise ValueError(f"no system is named '{name}'; choose from {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
