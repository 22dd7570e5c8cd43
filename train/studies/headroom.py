"""Headroom: how far every environment lets rules, beliefs and oracles come towards the optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from memenvs.envs.registry import register_row, registered_envs
from memenvs.envs.table import ENTRY_POINT, EnvRow
from memenvs.material.incidence import FloatArray
from memenvs.materials.generator.tiers import TIERS
from memenvs.objective import Objective
from memenvs.train.measures import query_of
from memenvs.train.optima import Optima, load_of
from memenvs.train.places import Place, place_of_id
from memenvs.train.play import Ended
from memenvs.train.playing import Playing
from memenvs.train.statistics import Interval, mean_interval, normalised_interval
from memenvs.train.units import Unit, units_of

HAND_RULES = ("trust", "confidence", "reservoir", "fifo")  # of these the best on validation
REFERENCES = ("random", "hand", "bayes", "bayes-queries", "clairvoyant")
CHOOSING = 48  # episodes by which the best rule is chosen
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
    scores: tuple[dict[str, Any], ...]  # a row for each unit and reference, besides the JSON form

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
                f"'{identifier}' has no optimum to measure against; headroom is of memorization "
                "environments (`memenvs envs` lists them)"
            )
    if ids:
        return [rows[identifier] for identifier in ids]
    return [row for row in rows.values() if "scenario" not in row.tags]


def headroom(
    rows: Sequence[EnvRow],
    *,
    split: str,
    count: int,
    time_limit: float = TIME_LIMIT,
    seed: int = 0,
    jobs: int = 1,
    done: Callable[[Headroom], None] = lambda row: None,
) -> list[Headroom]:
    """Measure every row over ``count`` materials of a split, or episodes of a fixed material.

    ``time_limit`` are the seconds for a material's frontier. Gives the rows in order, whatever the
    number of processes; ``done`` is told of each.
    """
    # What a row's arguments are frozen in cannot be sent to a process.
    rows = [replace(row, kwargs=dict(row.kwargs)) for row in rows]
    tasks = [(row, split, count, time_limit, seed) for row in rows]
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


def _measure(task: tuple[EnvRow, str, int, float, int]) -> Headroom:
    row, split, count, time_limit, seed = task
    if row.id not in {known.id for known in registered_envs()}:  # in a process of its own
        register_row(row)
    optima = Optima(time_limit)
    playing, played = _playing(row, split, count, seed, optima)
    hand = _best_rule(row, count, seed + 1, optima)  # in other episodes of a fixed material
    ended = {name: _play(playing, hand if name == "hand" else name, played) for name in REFERENCES}
    optimum, proved = _optima(playing.place, played, ended["random"], optima)
    reached = {name: _utilities(own) for name, own in ended.items()} | {"optimum": optimum}
    return Headroom(
        id=row.id,
        units="materials" if len(playing.place.instances) > 1 else "episodes",
        count=count,
        hand=hand,
        cells={name: _cell(values, optimum) for name, values in reached.items()},
        proved=proved,
        scores=tuple(
            {
                "env": row.id,
                "split": playing.place.split or "",
                "policy": hand if name == "hand" else name,
                "reference": name,
                "instance": unit.instance.name,
                "episode": unit.episode,
                "seed": unit.seed,
                "utility": float(value),
                "proved": proved,
            }
            for name, values in reached.items()
            for unit, value in zip(played, values, strict=True)
        ),
    )


def _playing(
    row: EnvRow, split: str, count: int, seed: int, optima: Optima
) -> tuple[Playing, list[Unit]]:
    """Make a row's place ready, and list ``count`` units of it."""
    generated = row.kwargs["material"] in TIERS
    place = place_of_id(row.id, split=split if generated else None, count=count)
    if generated and len(place.instances) < count:
        raise ValueError(f"the split '{split}' has {len(place.instances)} materials, not {count}")
    return Playing(place, episodes=count, optima=optima), units_of(place.instances, count, seed)


def _play(playing: Playing, policy: str, played: Sequence[Unit]) -> list[Ended]:
    ended = playing.all(policy, played)
    if any(each.values["illegal"] for each in ended):
        raise AssertionError(f"'{policy}' broke the mask")
    return ended


def _utilities(ended: Sequence[Ended]) -> FloatArray:
    """Utility of the final memories; at level 0, whether the query is answered: ``(M,)``."""
    return np.array([each.values["utility"] for each in ended])


def _best_rule(row: EnvRow, count: int, seed: int, optima: Optima) -> str:
    """Choose the hand-written rule that does best on validation, or in other episodes."""
    chosen = min(CHOOSING, count)
    playing, played = _playing(row, "validation", chosen, seed, optima)
    return best_of({rule: _utilities(_play(playing, rule, played)) for rule in HAND_RULES})


def best_of(reached: Mapping[str, FloatArray]) -> str:
    """Name what reached most on average; of equals the first."""
    return max(reached, key=lambda name: float(reached[name].mean()))


def _optima(
    place: Place, played: Sequence[Unit], ended: Sequence[Ended], optima: Optima
) -> tuple[FloatArray, bool]:
    """Best utility of any memory, ``(M,)``, or upper bounds, and whether all are proved.

    At level 0 it is that of the query that was asked, as an episode that ``ended`` tells.
    """
    rules = place.rules
    assert rules is not None
    limit, slots = load_of(rules)
    best = [
        optima.best(
            unit.instance.value, Objective.of(rules).asking(query_of(each.values)), [limit], slots
        )[limit]
        for unit, each in zip(played, ended, strict=True)
    ]
    return np.array([each.bound for each in best]), all(each.proved for each in best)


def _cell(values: FloatArray, optimum: FloatArray) -> Cell:
    if optimum.mean() == 0:
        return Cell(float(values.mean()), mean_interval(values), None, None)
    return Cell(
        mean=float(values.mean()),
        interval=mean_interval(values),
        share=float(values.mean() / optimum.mean()),
        share_interval=normalised_interval(values, np.zeros_like(values), optimum),
    )
