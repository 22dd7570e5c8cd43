"""Compares policies in a game: as writers against opponents, or as writers of one memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memenvs.train.experiment import Experiment
from memenvs.train.games.arena import Record, make_arena
from memenvs.train.games.payoff import STAKES, payoffs
from memenvs.train.games.sharing import sharing
from memenvs.train.track import Track, untracked


@dataclass(frozen=True)
class GameComparison:
    """Rows of a comparison in a game, and what the writers of a matrix can lose."""

    game: str
    stake: str  # what the cells of a matrix show; "" where nobody plays against the writers
    rows: list[Record]
    exploitability: list[Record]

    def as_document(self) -> Record:
        """Give the JSON form."""
        found: Record = {"game": self.game, "rows": self.rows}
        return found | ({"exploitability": self.exploitability} if self.stake else {})


def compare_in_game(experiment: Experiment, track: Track[Any] = untracked) -> GameComparison:
    """Run an experiment in its game; raises ``ValueError`` for one that cannot be run."""
    arena = make_arena(experiment)
    if arena.opponent is None:
        return GameComparison(arena.game, "", sharing(arena, track), [])
    return GameComparison(arena.game, STAKES[arena.opponent], *payoffs(arena, track))
