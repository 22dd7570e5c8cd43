"""The merge rules: the one symbol B in which the memories differ, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Rule:
    """When two states are one."""

    compares: Literal["predictions", "elements", "occupancy", "nothing"]
    by_action: bool = True  # whether what followed is told apart by what was done
    labelled: bool = True  # whether states must carry one label
    closure: Literal["plain", "guarded"] = "plain"
    refined: bool = True  # False: equation 6 as it is written, which never leaves B0


RULES: dict[str, Rule] = {
    "action-conditioned": Rule("predictions"),
    "as-written": Rule("predictions", refined=False),
    "guarded": Rule("predictions", closure="guarded"),
    "without-label": Rule("predictions", labelled=False),
    "no-action-conditioning": Rule("predictions", by_action=False),
    "successor-representation": Rule("occupancy", by_action=False),
    "observation": Rule("elements"),
    "identity": Rule("nothing"),
}


def find_rule(name: str) -> Rule:
    """Give the rule of that name; raises ``ValueError`` that lists the names."""
    if name not in RULES:
        raise ValueError(f"no merge rule is named '{name}'; choose from {', '.join(RULES)}")
    return RULES[name]
