"""The games as data, and their registration with PettingZoo: ``import memenvs.games`` does it."""

from __future__ import annotations

from dataclasses import dataclass

import pettingzoo

MODULE = "memenvs.games"


@dataclass(frozen=True)
class GameRow:
    """One game; its module has ``env``, ``parallel_env`` and ``vector_env``."""

    name: str
    module: str
    seats: tuple[str, ...]  # kinds of agents: "writer" stands for writer_0, writer_1, ...

    @property
    def id(self) -> str:
        """Name in PettingZoo's registry."""
        return f"memenvs/{self.name.replace('-', '_')}-v0"


GAMES: tuple[GameRow, ...] = (
    GameRow("shared-writers", f"{MODULE}.shared_writers_v0", ("writer",)),
    GameRow("poisoner-writer", f"{MODULE}.poisoner_writer_v0", ("writer", "poisoner")),
    GameRow("asker-writer", f"{MODULE}.asker_writer_v0", ("writer", "asker")),
)


def register_games() -> None:
    """Register every game in both of PettingZoo's registries, once."""
    for game in GAMES:
        if game.id not in pettingzoo.parallel_registry:
            pettingzoo.register("parallel", game.id, f"{game.module}:parallel_env")
            pettingzoo.register("aec", game.id, f"{game.module}:env")
