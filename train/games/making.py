"""Makes the games of a training: a game by its name, and who plays its agents."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from memenvs.games.asker import AskerWriter
from memenvs.games.poison import PoisonerWriter
from memenvs.games.registry import GAMES
from memenvs.games.shared_writers import SharedWriters
from memenvs.games.vector_game import VectorGame
from memenvs.policies import is_path, make, policy_class
from memenvs.policies.learned.loading import build
from memenvs.policies.learned.mixture import Mixture
from memenvs.policies.learned.models import WRITER, find_models, is_model
from memenvs.policies.opponents.opponents import (
    SCRIPTED,
    TrainedOpponent,
    make_opponent,
    opponents_of,
)
from memenvs.policies.predictor import Predictor
from memenvs.train.config_files import unknown
from memenvs.train.games.vec_env import GameVecEnv

if TYPE_CHECKING:
    from memenvs.train.learn.settings import Game

CLASSES: dict[str, type[VectorGame]] = {
    "shared-writers": SharedWriters,
    "poisoner-writer": PoisonerWriter,
    "asker-writer": AskerWriter,
}
# What every game takes, and is said elsewhere.
ELSEWHERE = ("material", "settings", "num_envs", "autoreset")
WRITERS = ("trust",)  # who an opponent is trained against, unless it is said


def make_game(
    name: str, options: Mapping[str, Any], arguments: Mapping[str, Any], episodes: int
) -> VectorGame:
    """Make a batch of a game; ``arguments`` are those of ``MemorizationEnv``.

    Raises ``ValueError`` for a name or an option that is unknown.
    """
    return CLASSES[check_name(name)](
        **arguments, **checked_options(name, options), num_envs=episodes
    )


def check_name(name: str) -> str:
    """Give the name of a game; raises ``ValueError`` where it is none."""
    if name not in CLASSES:
        raise ValueError(f"game '{name}' {unknown(name, CLASSES)}")
    return name


def checked_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Check a game's own options against its signature; numbers may be written as texts."""
    parameters = inspect.signature(CLASSES[name], eval_str=True).parameters
    known = {key: p for key, p in parameters.items() if key not in ELSEWHERE}
    given = {}
    for key, value in options.items():
        if key not in known:
            raise ValueError(f"option '{key}' of {name} {unknown(key, known)}")
        adapter = TypeAdapter(known[key].annotation, config=ConfigDict())
        try:
            given[key] = adapter.validate_python(value)
        except ValidationError as error:
            wanted = error.errors(include_url=False)[0]["msg"].removeprefix("Input ")
            raise ValueError(f"option '{key}' of {name}: {wanted}, not {value!r:.40}") from None
    return given


def opposing(name: str) -> str | None:
    """Give the kind of agent that plays against the writer, if there is one."""
    (row,) = (row for row in GAMES if row.name == check_name(name))
    return next((seat for seat in row.seats if seat != WRITER), None)


def check_agents(game: Game) -> None:
    """Raise ``ValueError`` for an agent or an opponent that a game does not have."""
    other = opposing(game.name)
    seats = [WRITER] if other is None else [WRITER, other]
    if game.seat not in seats:
        raise ValueError(f"{game.name} has no agent '{game.seat}'; choose from {', '.join(seats)}")
    if other is None and game.opponents:
        raise ValueError(f"{game.name} has no agent against the writers; leave 'opponents' out")
    if game.self_play is not None and (other is None or game.seat != WRITER):
        raise ValueError("self-play is for the writer of a game that has an opponent")


def opponents_in(game: Game) -> list[str]:
    """Name the policies that play the other agent in a training."""
    other = opposing(game.name)
    if game.opponents or other is None:
        return game.opponents
    return list(SCRIPTED[other] if game.seat == WRITER else WRITERS)


def make_game_env(game: Game, seed: int, arguments: Mapping[str, Any], episodes: int) -> GameVecEnv:
    """Make a batch of a game for one model; a mixture of opponents plays the other agent.

    Row i meets opponent i mod K; of a run with several seeds each model is one.
    """
    batch = make_game(game.name, game.options, arguments, episodes)
    kinds = {agent: agent.rpartition("_")[0] for agent in batch.possible_agents}
    taken = [agent for agent, kind in kinds.items() if kind == game.seat]
    invited = _writers if game.seat != WRITER else _opponents
    others = {
        agent: Mixture(invited(batch, opponents_in(game), seed))
        for agent, kind in kinds.items()
        if kind != game.seat
    }
    return GameVecEnv(batch, taken, others)


def _opponents(game: VectorGame, names: Sequence[str], seed: int) -> list[Predictor]:
    found: list[Predictor] = []
    for name in names:
        if is_model(name):
            found += [TrainedOpponent(game, seed, model=model) for model in opponents_of(name)]
        else:
            found.append(make_opponent(name, game, seed))
    return found


def _writers(game: VectorGame, names: Sequence[str], seed: int) -> list[Predictor]:
    found: list[Predictor] = []
    for name in names:
        if is_path(name):
            found += [build((model,), game, seed=seed, device="cpu") for model in find_models(name)]
        elif policy_class(name).privileged:
            raise ValueError(f"'{name}' is an oracle, and oracles cannot play in a game")
        else:
            found.append(make(name, game, seed=seed))
    return found
