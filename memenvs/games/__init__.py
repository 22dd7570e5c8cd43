"""Games of several agents over one memory, by PettingZoo's conventions."""

from memenvs.games.registry import GAMES, GameRow, register_games

__all__ = ["GAMES", "GameRow", "register_games"]

register_games()
