"""What a comparison plays: the same instances in places of several capacities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym

from memenvs.envs.memorization.rules import Utility
from memenvs.material.material import Material
from memenvs.train.experiment import Experiment
from memenvs.train.places import Instance, Place, place_of_id, place_of_materials


@dataclass(frozen=True)
class Setting:
    """What a comparison plays: the same instances at each capacity, ascending."""

    places: dict[int | None, Place]  # by capacity; None where there is no memory of slots
    instances: tuple[Instance, ...]

    @property
    def place(self) -> Place:
        """The place of the smallest capacity."""
        return next(iter(self.places.values()))

    @property
    def materials(self) -> tuple[Material, ...]:
        """The materials of memorization environments."""
        return tuple(instance.value for instance in self.instances)

    @property
    def envs(self) -> dict[int, gym.Env[Any, Any]]:
        """The scalar memorization environments by capacity."""
        return {capacity: p.env for capacity, p in self.places.items() if capacity is not None}

    @property
    def budget(self) -> float | None:
        """Bound on the summed cost of a memory."""
        return None if self.place.rules is None else self.place.rules.budget

    @property
    def utility(self) -> Utility | None:
        """What memorization environments pay."""
        return None if self.place.rules is None else self.place.rules.utility


def make_setting(experiment: Experiment) -> Setting:
    """Gather what an experiment plays.

    A tier is played by its own preset; other materials as a stream with hidden queries (level 1b),
    all in one environment, whose capacity is by default a quarter of the largest one's claims, at
    least 1. An environment's id keeps its own arguments, but for the split: the test split is
    played unless another is named. Raises ``ValueError`` for an experiment that names neither or
    both, or a tier beside other materials.
    """
    if bool(experiment.env) == bool(experiment.material):
        raise ValueError(
            "give what to play: --material NAME_OR_FILE, --env ID or a CONFIG, and only one of them"
        )
    asked: list[dict[str, Any]] = [{"capacity": c} for c in sorted(set(experiment.capacity))]
    first, *others = [{**experiment.overrides, **each} for each in asked or [{}]]
    if experiment.env:
        place = place_of_id(
            experiment.env, first, split=experiment.split, count=experiment.materials
        )
    else:
        place = place_of_materials(
            experiment.material, first, split=experiment.split, count=experiment.materials
        )
    places = [place, *(replace(place, arguments={**place.arguments, **each}) for each in others)]
    return Setting({each.capacity: each for each in places}, place.instances)
