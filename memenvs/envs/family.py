"""What tools know of a family of environments: what is played, what it ends with, who can play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Family:
    """One family; its environments, scalar and vector, carry it as the attribute ``family``."""

    name: str
    instance: str  # option of ``reset`` that says what is played
    finals: tuple[str, ...]  # what ``info`` holds at the end of an episode
    score: str  # the final by which policies are compared, the higher the better
    policies: tuple[str, ...] = ()  # what is compared where no policy is named
    types: Mapping[str, type] = field(default_factory=lambda: MappingProxyType({}))  # else float

    def blank(self) -> dict[str, Any]:
        """Give what stands in place of the finals before the end: zeros of their types.

        NaN would say more, but Gymnasium's ``check_env`` takes it for an environment that is not
        deterministic. ``info["final"]`` says whether the finals are there.
        """
        return {name: self.types.get(name, float)(0) for name in self.finals}


_MEMORY = ("coverage", "precision", "water_inflation", "size", "utility", "settled")
_SIZE = MappingProxyType({"size": int})

MEMORIZATION = Family(
    "memorization",
    instance="material",
    finals=_MEMORY,
    score="utility",
    policies=("random", "fifo", "reservoir", "longest", "pretrained", "optimal"),
    types=_SIZE,
)
POISONING = Family(
    "poisoning",
    instance="scenario",
    finals=(
        "accuracy",
        "attack_success_rate",
        "poison_retrieval_rate",
        "blast_radius",
        "prompt_tokens",
        "utility",
        "settled",
    ),
    score="utility",
    policies=(
        "random",
        "recent",
        "relevant",
        "last-used",
        "vote",
        "trusted-source",
        "logistic",
        "oracle",
    ),
)
GUI = Family(
    "gui",
    instance="instance",
    finals=("success",),
    score="success",
    policies=("random", "scripted"),
    types=MappingProxyType({"success": bool}),
)
GAME = Family(  # of several agents, who share the memory that it ends with
    "game", instance="material", finals=(*_MEMORY, "answered"), score="utility", types=_SIZE
)
