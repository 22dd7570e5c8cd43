"""Who plays against the writer: scripted opponents by name, and trained ones by path."""

from __future__ import annotations

import os
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.games.vector_game import VectorGame
from memenvs.policies.base import Observation, Policy, State
from memenvs.policies.learned.models import WRITER, Model, check_columns, find_models, is_model
from memenvs.policies.learned.saved import names_of
from memenvs.policies.learned.trained import load_network
from memenvs.policies.opponents.askers import ASKERS
from memenvs.policies.opponents.poisoners import POISONERS
from memenvs.policies.resolve import find
from memenvs.policies.user_code import is_code

SCRIPTED: dict[str, dict[str, Any]] = {"poisoner": POISONERS, "asker": ASKERS}  # by seat
# Where a game keeps the columns of what an opponent sees.
COLUMNS = {"queries": "queries.columns", "sources": "source_columns", "context": "context_columns"}


class TrainedOpponent(Policy):
    """Take the legal action that a model prefers, whatever the number of queries and sources.

    Raises ``ValueError`` where the model plays another seat, sees other columns, or knows another
    number of levels of confidence.
    """

    def __init__(
        self, game: VectorGame, seed: int = 0, *, model: Model, device: str = "cpu"
    ) -> None:
        super().__init__(game, seed)
        agent, seat = opponent_of(game)
        if model.seat != seat:
            raise ValueError(
                f"{model.path}: was trained as {model.seat}, and the opponent in this game is "
                f"a {seat}"
            )
        check_columns(model, opponent_columns(game))
        self._network = load_network(model, device)
        trained = _levels(self._network.observation_space, self._network.action_space)
        here = _levels(game.observation_spaces[agent], game.action_spaces[agent])
        if trained != here:
            raise ValueError(
                f"{model.path}: was trained with {trained} levels of confidence; this game has "
                f"{here}"
            )

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Take the best legal action."""
        device = self._network.device
        tensors = {name: torch.as_tensor(a, device=device) for name, a in observation.items()}
        with torch.no_grad():
            logits = self._network.action_logits(tensors).cpu().numpy()
        return np.where(masks, logits, -np.inf).argmax(axis=1), state


def make_opponent(name: str, game: VectorGame, seed: int = 0) -> Policy:
    """Build the opponent of that name for a game, or the one that was trained at a path.

    Raises ``ValueError`` for unknown names, several models at the path, and what does not fit.
    """
    known = SCRIPTED[opponent_of(game)[1]]
    if name in known:
        built: Policy = known[name](game, seed)
        return built
    if is_code(name):
        own = find(name)
        if not (isinstance(own, type) and issubclass(own, Policy)):
            raise ValueError(f"the opponent '{name}' is no class that derives from Policy")
        return own(game, seed)
    if not is_model(name):
        raise ValueError(
            f"no opponent of this game is named '{name}'; choose from {', '.join(known)}, name "
            "the folder or file of a trained one, or a class of your own as FILE.py:NAME"
        )
    models = opponents_of(name)
    if len(models) > 1:
        raise ValueError(f"{name}: holds {len(models)} models; name one of them: {models[0].path}")
    return TrainedOpponent(game, seed, model=models[0])


def opponents_of(path: str | os.PathLike[str]) -> list[Model]:
    """List the trained opponents at a path, by seed; raises ``ValueError`` where there is none."""
    models = find_models(path)
    for model in models:
        if model.seat == WRITER:
            raise ValueError(
                f"{model.path}: was trained as the writer; it cannot play against one: name it "
                "with --policy"
            )
    return models


def opponent_of(game: VectorGame) -> tuple[str, str]:
    """Give the agent that plays against the writer, and its seat: ``("asker_0", "asker")``.

    Raises ``ValueError`` where the game has no opponent.
    """
    for agent in game.possible_agents:
        seat = agent.rpartition("_")[0]
        if seat != WRITER:
            return agent, seat
    raise ValueError(f"this game has no opponent of the {WRITER}s; leave --opponent out")


def opponent_columns(game: VectorGame) -> dict[str, list[str]]:
    """Name the columns of each array that the opponent of a game sees, as ``column_names``."""
    shown = game.observation_spaces[opponent_of(game)[0]].spaces
    return {
        name: names_of(attrgetter(path)(game)) for name, path in COLUMNS.items() if name in shown
    }


def _levels(seen: Any, actions: Any) -> int:
    """How many ways there are to attack a query as a source, or to ask one."""
    assert isinstance(seen, spaces.Dict)
    rows = [seen[name].shape for name in ("queries", "sources") if name in seen.spaces]
    pairs = int(np.prod([shape[0] for shape in rows if shape]))
    return (int(actions.n) - 1) // pairs
