"""The matrix of payoffs: every writer against every opponent, on the same episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from memenvs.envs.levels import LEVELS
from memenvs.incidence import FloatArray
from memenvs.material import Material
from memenvs.materials.generator.tiers import Tier
from memenvs.materials.library import find_materials, source_of
from memenvs.multi.asker import AskerWriter
from memenvs.multi.poison import WRITER, PoisonerWriter
from memenvs.multi.vector import VectorGame
from memenvs.policies.askers import ASKERS
from memenvs.policies.poisoners import POISONERS
from memenvs.train.batches import EPISODES, episode_seeds
from memenvs.train.cast import Cast
from memenvs.train.evaluate import Track, untracked
from memenvs.train.report import make_console
from memenvs.train.statistics import mean_interval

MEASURES = ("precision", "settled")


def run_payoffs(
    policies: Sequence[str],
    opponents: Sequence[str],
    *,
    material: str = "hidden",
    materials: int = 100,
    split: str | None = None,
    capacity: int | None = None,
    poison: int = 6,
    seed: int = 0,
    track: Track[Any] = untracked,
) -> list[dict[str, Any]]:
    """Play every pair; gives one record each: means over materials and seeds, with intervals.

    A policy is a name or a trained model, of which every seed plays. Raises ``ValueError`` for
    names that are unknown, and for opponents of two kinds.
    """
    source = source_of(material)
    tier = source if isinstance(source, Tier) else None
    played = list(find_materials(material, split, materials if tier else None))
    rules = {**LEVELS["2"], **tier.preset} if tier else dict(LEVELS["1b"])
    if capacity is not None:
        rules["capacity"] = capacity
    game = _game(opponents, poison)(played, num_envs=min(EPISODES, len(played)), **rules)
    casts = {name: Cast(name, game, seed, [m.name for m in played]) for name in policies}
    rows = []
    for policy, opponent in track(list(product(policies, opponents)), "pairs"):
        values = _play(game, casts[policy], opponent, played, seed)
        row: dict[str, Any] = {"policy": policy, "opponent": opponent}
        for name, reached in values.items():
            low, high = mean_interval(reached, seed, nested=casts[policy].nested) or (None, None)
            row |= {name: float(reached.mean()), f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return rows


def print_payoffs(rows: Sequence[dict[str, Any]]) -> None:
    """Print precision as a matrix: a row for each writer, a column for each opponent."""
    from rich.table import Table

    opponents = list(dict.fromkeys(row["opponent"] for row in rows))
    table = Table("writer", *opponents, title="expected precision of the final memory")
    for policy in dict.fromkeys(row["policy"] for row in rows):
        table.add_row(policy, *(_cell(row) for row in rows if row["policy"] == policy))
    make_console().print(table)


def _cell(row: dict[str, Any]) -> str:
    low, high = row["precision_low"], row["precision_high"]
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{row['precision']:.3f}{interval}"


def _game(opponents: Sequence[str], poison: int) -> Callable[..., VectorGame]:
    """Find the game in which all the opponents play."""
    unknown = [name for name in opponents if name not in (*POISONERS, *ASKERS)]
    if unknown:
        known = ", ".join((*POISONERS, *ASKERS))
        raise ValueError(f"no opponent is named '{unknown[0]}'; choose from {known}")
    if all(name in ASKERS for name in opponents):
        return AskerWriter
    if all(name in POISONERS for name in opponents):
        return lambda *given, **settings: PoisonerWriter(*given, poison=poison, **settings)
    raise ValueError("poisoners and askers play different games; give opponents of one kind")


def _play(
    game: VectorGame, cast: Cast, opponent: str, materials: Sequence[Material], seed: int
) -> dict[str, FloatArray]:
    """Play one episode of each material with every member of a cast: ``(members, M)`` each."""
    seeds = episode_seeds(len(materials), seed)
    found: dict[str, list[list[float]]] = {name: [] for name in MEASURES}
    for member in range(cast.size):
        reached: dict[str, list[float]] = {name: [] for name in MEASURES}
        for start in range(0, len(materials), game.num_envs):
            chunk = materials[start : start + game.num_envs]
            ended = _play_chunk(game, cast, member, opponent, chunk, seeds[start:], seed)
            for name in MEASURES:
                reached[name] += ended[name][: len(chunk)].tolist()
        for name in MEASURES:
            found[name].append(reached[name])
    return {name: np.array(values) for name, values in found.items()}


def _play_chunk(
    game: VectorGame,
    cast: Cast,
    member: int,
    opponent: str,
    materials: Sequence[Material],
    seeds: Sequence[int],
    seed: int,
) -> dict[str, FloatArray]:
    """Play one episode in every row of a game; materials are repeated where they are fewer."""
    filled = [place % len(materials) for place in range(game.num_envs)]
    (other,) = (name for name in game.possible_agents if name != WRITER)
    players: dict[str, Any] = {
        WRITER: cast.player(materials[0].name, member),
        other: {**POISONERS, **ASKERS}[opponent](game, seed),
    }
    seen, _ = game.reset(
        seed=[seeds[place] for place in filled],
        options={"material": [materials[place] for place in filled]},
    )
    over, begun = np.zeros(game.num_envs, dtype=bool), np.ones(game.num_envs, dtype=bool)
    states: dict[str, Any] = dict.fromkeys(players)
    ended = {name: np.zeros(game.num_envs) for name in MEASURES}
    while not over.all():
        actions = {}
        for name, player in players.items():
            actions[name], states[name] = player.predict(seen[name], states[name], begun)
        seen, _, _, _, infos = game.step(actions)
        begun = infos[WRITER].get("final", np.zeros(game.num_envs, dtype=bool))
        now = begun & ~over
        for name in MEASURES if now.any() else ():
            ended[name][now] = infos[WRITER][name][now]
        over |= now
    return ended
