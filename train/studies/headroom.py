"""Headroom: how far every environment lets rules, beliefs and oracles come towards the optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.envs.registry import ENTRY_POINT, EnvRow, registered_envs
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import TIERS
from memenvs.optimal.curve import frontier
from memenvs.policies import make
from memenvs.train.batches import (
    episode_seeds,
    make_batch,
    materials_of,
    of_split,
    play_batches,
)
from memenvs.train.statistics import Interval, mean_interval, normalised_interval

HAND_RULES = ("trust", "confidence", "reservoir", "fifo")  # of these the best on validation
REFERENCES = ("random", "hand", "bayes", "clairvoyant")
CHOOSING = 48  # episodes by which the best rule is chosen
CHOOSING_SEED = 1  # of those episodes where a material is fixed; the table's own is 0
TIME_LIMIT = 20.0  # seconds for the frontier of a material


@dataclass(frozen=True)
class Cell:
    """What one reference reached: its mean, and its share of the optimum, with 95% intervals."""

    mean: float
    interval: Interval | None
    share: float | None  # None where the optimum is 0
    share_interval: Interval | None


@dataclass(frozen=True)
class Headroom:
    """One environment's row of the table."""

    id: str
    units: str  # what the intervals are over: "materials" or "episodes"
    count: int
    hand: str  # the best hand-written rule on validation
    cells: dict[str, Cell]  # by the names of REFERENCES, and "optimum"
    proved: bool  # whether every optimum is; else it is an upper bound

    def as_document(self) -> dict[str, Any]:
        """Give the JSON form."""
        cells = {
            name: {
                "mean": cell.mean,
                "interval": cell.interval and list(cell.interval),
                "share": cell.share,
                "share_interval": cell.share_interval and list(cell.share_interval),
            }
            for name, cell in self.cells.items()
        }
        return {
            "id": self.id,
            "units": self.units,
            "count": self.count,
            "hand": self.hand,
            "proved": self.proved,
            **cells,
        }


def find_rows(ids: Sequence[str]) -> list[EnvRow]:
    """Give the rows of memorization environments: those asked for, or all but the scenarios.

    A scenario is not about how much of the mass is kept, but about which claims.
    Raises ``ValueError`` for an id that is none of them.
    """
    rows = {row.id: row for row in registered_envs() if row.entry_point == ENTRY_POINT}
    for identifier in ids:
        if identifier not in rows:
            raise ValueError(
                f"'{identifier}' is no memorization environment; `memenvs envs` lists them"
            )
    if ids:
        return [rows[identifier] for identifier in ids]
    return [row for row in rows.values() if "scenario" not in row.tags]


def headroom(
    rows: Sequence[EnvRow],
    *,
    split: str,
    count: int,
    jobs: int = 1,
    done: Callable[[Headroom], None] = lambda row: None,
) -> list[Headroom]:
    """Measure every row over ``count`` materials of a split, or episodes of a fixed material.

    Gives them in order, whatever the number of processes; ``done`` is told of each.
    """
    # What a row's arguments are frozen in cannot be sent to a process.
    tasks = [(replace(row, kwargs=dict(row.kwargs)), split, count) for row in rows]
    if jobs == 1:
        return _told(map(_measure, tasks), done)
    # Large ones first, so that no process is left with one at the end.
    order = sorted(range(len(tasks)), key=lambda place: -_size(rows[place]))
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = _told(pool.map(_measure, [tasks[place] for place in order]), done)
    by_place = dict(zip(order, found, strict=True))
    return [by_place[place] for place in range(len(rows))]


def _told(found: Iterable[Headroom], done: Callable[[Headroom], None]) -> list[Headroom]:
    rows = []
    for row in found:
        done(row)
        rows.append(row)
    return rows


def _size(row: EnvRow) -> int:
    tier = TIERS.get(row.kwargs["material"])
    return tier.parameters.size.claims if tier else 0


def _measure(task: tuple[EnvRow, str, int]) -> Headroom:
    row, split, count = task
    env = make_batch(row.kwargs, count, split)
    materials, seeds = materials_of(env, count), episode_seeds(count)
    hand = _best_rule(row, count)
    optimum, proved = _optima(row, split, materials, seeds)
    reached = {}
    for name in REFERENCES:
        policy = hand if name == "hand" else name
        reached[name] = _play(env, policy, materials, seeds)
    reached["optimum"] = optimum
    distinct = len({material.name for material in materials})
    return Headroom(
        id=row.id,
        units="materials" if distinct > 1 else "episodes",
        count=count,
        hand=hand,
        cells={name: _cell(values, optimum) for name, values in reached.items()},
        proved=proved,
    )


def _play(
    env: MemorizationVectorEnv, policy: str, materials: Sequence[Material], seeds: Sequence[int]
) -> FloatArray:
    """Utility of the final memories; at level 0, whether the query was answered: ``(M,)``."""
    ended = play_batches(env, lambda batch: make(policy, batch), materials, seeds)
    if ended["illegal_action"].any():
        raise AssertionError(f"'{policy}' broke the mask")
    return ended["settled" if env.rules.disclosure == "one" else "utility"]


def _best_rule(row: EnvRow, count: int) -> str:
    """Choose the hand-written rule that does best on validation, or in other episodes."""
    chosen = min(CHOOSING, count)
    env = make_batch(row.kwargs, chosen, "validation")
    materials = materials_of(env, chosen)
    seeds = episode_seeds(chosen, CHOOSING_SEED)
    means = {rule: _play(env, rule, materials, seeds).mean() for rule in HAND_RULES}
    return max(HAND_RULES, key=lambda rule: means[rule])


def _optima(
    row: EnvRow, split: str, materials: Sequence[Material], seeds: Sequence[int]
) -> tuple[FloatArray, bool]:
    """Best utility of any memory, ``(M,)``, or upper bounds, and whether all are proved.

    Under end-to-end utility it is that of precision: among true claims none is named wrongly.
    """
    env = MemorizationEnv(**of_split(row.kwargs, split))
    if env.rules.disclosure == "one":
        answerable = [_answerable(env, m, s) for m, s in zip(materials, seeds, strict=True)]
        return np.array(answerable, dtype=np.float64), True
    known: dict[int, tuple[float, bool]] = {}
    for material in materials:
        if id(material) not in known:
            known[id(material)] = _optimum(env, material)
    bounds, proved = zip(*(known[id(material)] for material in materials), strict=True)
    return np.array(bounds), all(proved)


def _optimum(env: MemorizationEnv, material: Material) -> tuple[float, bool]:
    slots, budget = env.rules.capacity, env.rules.budget
    best = frontier(
        material,
        "coverage" if env.rules.utility == "coverage" else "precision",
        [slots if budget is None else budget],
        costs=np.ones(len(material.claims)) if budget is None else None,
        max_claims=slots,
        time_limit=TIME_LIMIT,
    )
    return float(best.upper_bounds[0]), bool(best.optimal[0])


def _answerable(env: MemorizationEnv, material: Material, seed: int) -> bool:
    """Say whether some memory answers the only query of an episode."""
    env.reset(seed=seed, options={"material": material})
    episode = env.episode
    assert episode is not None
    assert episode.known_query is not None
    true = material.incidence.truth == 1.0
    return any(
        len(route.support) <= env.rules.capacity and true[list(route.support)].all()
        for route in episode.prepared.routes(episode.known_query)
    )


def _cell(values: FloatArray, optimum: FloatArray) -> Cell:
    if optimum.mean() == 0:
        return Cell(float(values.mean()), mean_interval(values), None, None)
    return Cell(
        mean=float(values.mean()),
        interval=mean_interval(values),
        share=float(values.mean() / optimum.mean()),
        share_interval=normalised_interval(values, np.zeros_like(values), optimum),
    )
