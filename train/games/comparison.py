"""Compares policies in a game: as writers against opponents, or as writers of one memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memenvs.train.experiment import Experiment
from memenvs.train.games.game_setting import Record, make_game_setting
from memenvs.train.games.payoff import PAYOFF, payoffs
from memenvs.train.games.sharing import sharing
from memenvs.train.terminal import Track, untracked


@dataclass(frozen=True)
class GameComparison:
    """Rows of a comparison in a game, and what the writers of a matrix can lose."""

    game: str
    payoff: str  # what the cells of a matrix show; "" where nobody plays against the writers
    rows: list[Record]
    exploitability: list[Record]

    def as_document(self) -> Record:
        """Give the JSON form."""
        found: Record = {"game": self.game, "rows": self.rows}
        return found | ({"exploitability": self.exploitability} if self.payoff else {})


def compare_in_game(experiment: Experiment, track: Track[Any] = untracked) -> GameComparison:
    """Run an experiment in its game; raises ``ValueError`` for one that cannot be run."""
    setting = make_game_setting(experiment)
    if setting.opponent is None:
        return GameComparison(setting.game, "", sharing(setting, track), [])
    return GameComparison(setting.game, PAYOFF[setting.opponent], *payoffs(setting, track))
