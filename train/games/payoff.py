"""The matrix of payoffs: every writer against every opponent, and what a best response takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from memenvs.games.vector import VectorGame
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
from memenvs.train.cast import Cast
from memenvs.train.games.arena import Arena, Record, ends, stacked, total
from memenvs.train.games.play import MEASURES, Values, play
from memenvs.train.track import Track, untracked

# By the opponent's seat: what it wants low, and who plays as if there were no opponent.
STAKES = {"poisoner": "utility", "asker": "answered"}
PEACE = {"poisoner": "wait", "asker": "honest"}


@dataclass(frozen=True)
class Cell:
    """A writer against an opponent, K pairs of their seeds in n materials or episodes."""

    policy: str
    opponent: str
    values: Values  # (K, n) each
    cast: Cast  # of the writer


def payoffs(arena: Arena, track: Track[Any] = untracked) -> tuple[list[Record], list[Record]]:
    """Play every pair; gives a record each, and one for what each writer can lose.

    Of trainings with several seeds, the seeds of both sides meet in their order. Raises
    ``ValueError`` for unknown names, and for what does not fit.
    """
    seat = arena.opponent
    assert seat is not None
    asked = list(dict.fromkeys(arena.experiment.opponent)) or list(SCRIPTED[seat])
    trained = [name for name in asked if name not in SCRIPTED[seat]]
    met = dict.fromkeys([*asked, *([PEACE[seat]] if trained else [])])
    rows, lost = [], []
    for capacity, game in arena.games():
        casts = {name: arena.cast(name, game) for name in dict.fromkeys(arena.experiment.policy)}
        against = {name: _members(name, game, arena.experiment.seed) for name in met}
        cells = {
            (policy, opponent): _cell(arena, game, (policy, casts[policy]), (opponent, players))
            for policy, (opponent, players) in track(
                list(product(casts, against.items())), f"pairs at S = {capacity}"
            )
        }
        rows += [_row(arena, capacity, cells[pair]) for pair in product(casts, asked)]
        for policy in casts if trained else ():
            peace = cells[policy, PEACE[seat]]
            responses = [cells[policy, name] for name in trained]
            lost.append(_exploitability(arena, capacity, peace, responses))
    return rows, lost


def _members(name: str, game: VectorGame, seed: int) -> list[Predictor]:
    """Give who plays under the name of an opponent: one, or the models of a training."""
    if is_model(name):
        return [TrainedOpponent(game, seed, model=model) for model in opponents_of(name)]
    return [make_opponent(name, game, seed)]


def _cell(
    arena: Arena, game: VectorGame, writer: tuple[str, Cast], opponent: tuple[str, list[Predictor]]
) -> Cell:
    (policy, cast), (name, players) = writer, opponent
    (agent,) = (agent for agent in game.possible_agents if not agent.startswith(WRITER))
    reached = []
    for k in range(max(cast.size, len(players))):

        def seat(material: Material, k: int = k) -> dict[str, Predictor]:
            return {
                f"{WRITER}_0": cast.player(material.name, k % cast.size),
                agent: players[k % len(players)],
            }

        reached.append(play(game, seat, arena.materials, arena.seeds))
    return Cell(policy, name, arena.averaged(stacked(reached)), cast)


def _row(arena: Arena, capacity: int, cell: Cell) -> Record:
    seeds = len(cell.values["precision"])
    row: Record = {
        "policy": cell.policy,
        "opponent": cell.opponent,
        "capacity": capacity,
        "seeds": seeds,
        "materials": len(arena.setting.materials),
        "episodes": len(arena.materials),
    }
    for name in MEASURES:
        row |= {name: float(cell.values[name].mean())}
        row |= ends(name, cell.values[name], arena.experiment.seed, nested=cell.cast.nested)
    illegal = {"illegal": total(cell.values["illegal"], arena)}
    return row | arena.told(cell.policy, cell.cast) | illegal


def _exploitability(arena: Arena, capacity: int, peace: Cell, responses: Sequence[Cell]) -> Record:
    """Say what the strongest best response takes from a writer, seed by seed.

    It is the stake without an opponent less the stake against it: a lower bound of what a writer
    can lose.
    """
    stake = STAKES[arena.opponent or ""]

    def taken(cell: Cell) -> FloatArray:
        before, after = peace.values[stake], cell.values[stake]
        return before[[k % len(before) for k in range(len(after))]] - after

    strongest = max(responses, key=lambda cell: float(taken(cell).mean()))
    found = taken(strongest)
    return {
        "policy": peace.policy,
        "capacity": capacity,
        "opponent": strongest.opponent,
        "exploitability": float(found.mean()),
        **ends("exploitability", found, arena.experiment.seed, nested=peace.cast.nested),
    }
