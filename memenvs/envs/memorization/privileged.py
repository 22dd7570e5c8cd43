"""What no agent may know, for oracles: the material behind an episode and where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memenvs.material.incidence import IntArray
from memenvs.material.material import Material


@dataclass(frozen=True)
class Privileged:
    """One running episode, as environments of every kind give it to oracles."""

    number: int  # of its material, among those that were prepared: equal numbers, one material
    considered: int | None  # claim to be decided about; None while one is to be picked
    slots: IntArray  # (S,) stored claims, EMPTY where none
    load: Callable[[], Material]  # makes the material, where the environment does not keep it
    query: int | None = None  # the only one that is asked, at level 0
