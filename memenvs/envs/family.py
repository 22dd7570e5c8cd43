"""What tools know of a family of environments: what is played, what it ends with, who can play."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One family; its environments, scalar and vector, carry it as the attribute ``family``."""

    name: str
    instance: str  # option of ``reset`` that says what is played
    finals: tuple[str, ...]  # what ``info`` holds at the end of an episode
    score: str  # the final by which policies are compared, the higher the better
    policies: tuple[str, ...]  # what is compared where no policy is named


MEMORIZATION = Family(
    "memorization",
    instance="material",
    finals=("coverage", "precision", "water_inflation", "size", "utility", "settled"),
    score="utility",
    policies=("random", "fifo", "reservoir", "longest", "optimal"),
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
    policies=("random", "recent", "relevant", "logistic", "oracle"),
)
GUI = Family(
    "gui",
    instance="instance",
    finals=("success",),
    score="success",
    policies=("random", "scripted"),
)
