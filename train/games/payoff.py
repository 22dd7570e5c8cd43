"""The matrix of payoffs: every writer against every opponent, and what the strongest takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from memenvs.games.vector_game import VectorGame
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.policies.learned.models import WRITER, is_model
from memenvs.policies.opponents.opponents import (
    SCRIPTED,
    TrainedOpponent,
    make_opponent,
    opponents_of,
)
from memenvs.policies.predictor import Predictor
from memenvs.train.games.episodes import MEASURES, Values, play
from memenvs.train.games.game_setting import GameSetting, Record, ends, stacked, total
from memenvs.train.named_policy import NamedPolicy
from memenvs.train.terminal import Track, untracked

# By the kind of opponent: the measure that it minimises, and the one that does no harm.
PAYOFF = {"poisoner": "utility", "asker": "answered"}
HARMLESS = {"poisoner": "wait", "asker": "honest"}


@dataclass(frozen=True)
class Cell:
    """A writer against an opponent, K pairs of their seeds in n materials or episodes."""

    policy: str
    opponent: str
    values: Values  # (K, n) each
    named: NamedPolicy  # of the writer


def payoffs(
    setting: GameSetting, track: Track[Any] = untracked
) -> tuple[list[Record], list[Record]]:
    """Play every pair; gives a record each, and one for what each writer can lose.

    Of trainings with several seeds, the seeds of both sides meet in their order. Raises
    ``ValueError`` for unknown names, and for what does not fit.
    """
    kind = setting.opponent
    assert kind is not None
    asked = list(dict.fromkeys(setting.experiment.opponent)) or list(SCRIPTED[kind])
    trained = [name for name in asked if name not in SCRIPTED[kind]]
    met = dict.fromkeys([*asked, *([HARMLESS[kind]] if trained else [])])
    rows, lost = [], []
    for capacity, game in setting.games():
        policies = {
            name: setting.named(name, game) for name in dict.fromkeys(setting.experiment.policy)
        }
        against = {name: _members(name, game, setting.experiment.seed) for name in met}
        cells = {
            (policy, opponent): _cell(
                setting, game, (policy, policies[policy]), (opponent, players)
            )
            for policy, (opponent, players) in track(
                list(product(policies, against.items())), f"pairs at S = {capacity}"
            )
        }
        rows += [_row(setting, capacity, cells[pair]) for pair in product(policies, asked)]
        for policy in policies if trained else ():
            faced = [cells[policy, name] for name in met]
            lost.append(_exploitability(setting, capacity, cells[policy, HARMLESS[kind]], faced))
    return rows, lost


def _members(name: str, game: VectorGame, seed: int) -> list[Predictor]:
    """Give who plays under the name of an opponent: one, or the models of a training."""
    if is_model(name):
        return [TrainedOpponent(game, seed, model=model) for model in opponents_of(name)]
    return [make_opponent(name, game, seed)]


def _cell(
    setting: GameSetting,
    game: VectorGame,
    writer: tuple[str, NamedPolicy],
    opponent: tuple[str, list[Predictor]],
) -> Cell:
    (policy, named), (name, players) = writer, opponent
    (agent,) = (agent for agent in game.possible_agents if not agent.startswith(WRITER))
    reached = []
    for k in range(max(named.size, len(players))):

        def players_of(material: Material, k: int = k) -> dict[str, Predictor]:
            return {
                f"{WRITER}_0": named.player(material.name, k % named.size),
                agent: players[k % len(players)],
            }

        reached.append(play(game, players_of, setting.materials, setting.seeds))
    return Cell(policy, name, setting.averaged(stacked(reached)), named)


def _row(setting: GameSetting, capacity: int, cell: Cell) -> Record:
    seeds = len(cell.values["precision"])
    row: Record = {
        "policy": cell.policy,
        "opponent": cell.opponent,
        "capacity": capacity,
        "seeds": seeds,
        "materials": len(setting.base.materials),
        "episodes": len(setting.materials),
    }
    for name in MEASURES:
        row |= {name: float(cell.values[name].mean())}
        row |= ends(name, cell.values[name], setting.experiment.seed, nested=cell.named.nested)
    illegal = {"illegal": total(cell.values["illegal"], setting)}
    return row | setting.told(cell.policy, cell.named) | illegal


def _exploitability(
    setting: GameSetting, capacity: int, harmless: Cell, faced: Sequence[Cell]
) -> Record:
    """Say what the strongest of all opponents that were faced takes from a writer, seed by seed.

    It is the payoff without an opponent less the payoff against it: a lower bound of what a writer
    can lose, scripted opponents and the harmless one among them.
    """
    payoff = PAYOFF[setting.opponent or ""]

    def taken(cell: Cell) -> FloatArray:
        before, after = harmless.values[payoff], cell.values[payoff]
        return before[[k % len(before) for k in range(len(after))]] - after

    strongest = max(faced, key=lambda cell: float(taken(cell).mean()))
    found = taken(strongest)
    return {
        "policy": harmless.policy,
        "capacity": capacity,
        "opponent": strongest.opponent,
        "exploitability": float(found.mean()),
        **ends("exploitability", found, setting.experiment.seed, nested=harmless.named.nested),
    }
