"""The setting of a comparison in a game: materials, seeds, rules, and the options it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from memenvs.games.vector_game import VectorGame
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.policies import is_path, policy_class
from memenvs.train.experiment import Experiment
from memenvs.train.games.episodes import EPISODES, Values, units_of
from memenvs.train.games.making import check_name, make_game, opposing
from memenvs.train.named_policy import NamedPolicy, any_seen, facts
from memenvs.train.places import preset_of
from memenvs.train.setting import Setting, make_setting
from memenvs.train.statistics import mean_interval

Record = dict[str, Any]

OF_ONE = 20  # episodes where there is only one material
ASKED = "game game_option material materials split capacity policy utility action budget episodes"
EVERYWHERE = frozenset([*ASKED.split(), "seed", "out"])
AGAINST, TOGETHER = frozenset(["opponent"]), frozenset(["baseline", "time_limit"])


@dataclass(frozen=True)
class GameSetting:
    """A game, and the materials that are played in it."""

    experiment: Experiment
    game: str
    base: Setting
    materials: list[Material]  # one for each episode
    seeds: list[int]

    @property
    def options(self) -> dict[str, Any]:
        """The game's own arguments."""
        return self.experiment.game_option

    @property
    def objective(self) -> Objective:
        """What the memory is worth, by the rules of the game."""
        rules = self.base.place.rules
        assert rules is not None  # games are played by the rules of memorization environments
        return Objective.of(rules)

    @property
    def opponent(self) -> str | None:
        """Kind of agent that plays against the writer, None where nobody does."""
        return opposing(self.game)

    def arguments(self, capacity: int) -> dict[str, Any]:
        """Arguments of the memorization environment by whose rules the game is played."""
        preset = preset_of(self.experiment.material)
        return {
            **preset,
            **self.experiment.overrides,
            "capacity": capacity,
            "material": list(self.base.materials),
        }

    def games(self) -> Iterator[tuple[int, VectorGame]]:
        """Make the game with each capacity, ascending."""
        count = min(EPISODES, len(self.materials))
        for capacity in self.base.envs:
            yield capacity, make_game(self.game, self.options, self.arguments(capacity), count)

    def named(self, name: str, place: Any) -> NamedPolicy:
        """Find the policies behind a name; raises ``ValueError`` for oracles."""
        if not is_path(name) and policy_class(name).privileged:
            raise ValueError(f"'{name}' is an oracle, and oracles cannot play in a game")
        names = [material.name for material in self.base.materials]
        return NamedPolicy(name, place, self.experiment.seed, names)

    def told(self, name: str, named: NamedPolicy) -> Record:
        """Give the facts about a policy that a table marks."""
        found = asdict(facts(name))
        return found | {"seen": any_seen(named.has_seen(m.name) for m in self.base.materials)}

    def averaged(self, values: Values) -> Values:
        """Give the units of an interval, materials or the episodes of one: ``(K, n)`` each."""
        return {name: self._averaged(array) for name, array in values.items()}

    def _averaged(self, values: FloatArray) -> FloatArray:
        materials = len(self.base.materials)
        if materials == 1:
            return values
        found: FloatArray = values.reshape(len(values), materials, -1).mean(axis=2)
        return found


def make_game_setting(experiment: Experiment) -> GameSetting:
    """Gather what is played; raises ``ValueError`` for what cannot be asked for in the game."""
    assert experiment.game is not None
    game = check_name(experiment.game)
    known = EVERYWHERE | (TOGETHER if opposing(game) is None else AGAINST)
    for name in sorted(experiment.model_fields_set - known):
        option = name.replace("_", "-")
        raise ValueError(f"--{option} is not an option of the game '{game}'; leave it out")
    if not experiment.policy:
        raise ValueError("--policy is missing: name the policies that write")
    setting = make_setting(experiment)
    episodes = experiment.episodes or (OF_ONE if len(setting.materials) == 1 else 1)
    materials, seeds = units_of(setting.instances, episodes, experiment.seed)
    return GameSetting(experiment, game, setting, materials, seeds)


def stacked(members: list[Values]) -> Values:
    """Put what each seed of a training reached ``(M,)`` into tables ``(K, M)``."""
    return {name: np.stack([each[name] for each in members]) for name in members[0]}


def ends(name: str, values: FloatArray, seed: int, *, nested: bool) -> Record:
    """Give the ends of the interval of a mean of ``(K, n)`` values, None for a single one."""
    low, high = mean_interval(values, seed, nested=nested) or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def total(counts: FloatArray, setting: GameSetting) -> int:
    """Sum counts ``(K, n)`` over seeds and episodes: units are means over theirs."""
    return round(float(counts.mean()) * len(counts) * len(setting.materials))
