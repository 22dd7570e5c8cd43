"""Plays every policy in the same units at every capacity, into one table of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from memenvs.envs.family import MEMORIZATION
from memenvs.reading.layer import Layer
from memenvs.train.measures import query_of
from memenvs.train.named_policy import NamedPolicy
from memenvs.train.optima import Optima, load_of
from memenvs.train.places import Place
from memenvs.train.play import Ended
from memenvs.train.playing import EPISODES, Outcome, Playing
from memenvs.train.scores import Row, Scores
from memenvs.train.setting import Setting
from memenvs.train.terminal import Track, untracked
from memenvs.train.units import Unit, units

Watch: TypeAlias = Callable[[Row, Unit, Ended], None]  # is shown what is played, beside its row


def unwatched(row: Row, unit: Unit, ended: Ended) -> None:
    """Look at nothing."""


@dataclass(frozen=True)
class Evaluated:
    """The scores, and the policies behind each name at each capacity."""

    scores: Scores
    named: dict[tuple[int | None, str], NamedPolicy]  # by capacity, policy


def evaluate(
    setting: Setting,
    policies: Sequence[str],
    *,
    episodes: int,
    seed: int = 0,
    optima: Optima | None = None,
    layer: Layer | None = None,
    scores: Scores | None = None,
    track: Track[Any] = untracked,
    watch: Watch = unwatched,
) -> Evaluated:
    """Play each policy at each capacity, ``episodes`` times in each instance.

    Each seed of a training plays them all. ``layer`` answers queries from each memory. Rows that
    ``scores`` hold are not played again; an episode that fails costs its own row. ``watch`` is
    shown every episode that was played to its end. Raises ``ValueError`` for an unknown policy
    before anything is played.
    """
    optima = optima or Optima()
    scores = scores or Scores(setting.place.family)
    played = units(setting.instances, episodes, seed)
    playings = {
        capacity: Playing(place, episodes=len(played), seed=seed, optima=optima, layer=layer)
        for capacity, place in setting.places.items()
    }
    by_name = {(c, name): playings[c].named(name) for c, name in product(playings, policies)}
    jobs = []
    for (capacity, name), named in by_name.items():
        for member in range(named.size):
            key = {"policy": name, "member": member, "capacity": capacity}
            left = [unit for unit in played if scores.missing(key | _key(unit))]
            if named.learns and left:  # what it does depends on the episodes before
                left = played
            chunks = [left[start : start + EPISODES] for start in range(0, len(left), EPISODES)]
            jobs += [(capacity, name, member, chunk) for chunk in chunks]
    for capacity, name, member, chunk in track(jobs, "episodes"):
        playing = playings[capacity]
        key = {"policy": name, "member": member, "capacity": capacity}
        for unit, outcome in playing.play(name, member, chunk):
            if scores.missing(key | _key(unit)):
                row = key | row_of(playing.place, unit, outcome)
                row |= _against(setting, playing.place, unit, row, optima)
                scores.add(row)
                if isinstance(outcome, Ended):
                    watch(row, unit, outcome)
    return Evaluated(scores, by_name)


def row_of(place: Place, unit: Unit, outcome: Outcome) -> Row:
    """Give the row of a unit that was played, but for who played it."""
    family = place.family
    row: Row = {
        "family": "" if family is None else family.name,
        "env": place.id,
        "split": place.split or "",
        **_key(unit),
        "seed": unit.seed,
    }
    if isinstance(outcome, Ended):
        return row | outcome.values | {"status": "ok", "reason": ""}
    reason = " ".join(f"{type(outcome).__name__}: {outcome}".split())
    return row | {"status": "failed", "reason": reason}


def _key(unit: Unit) -> Row:
    return {"instance": unit.instance.name, "episode": unit.episode}


def _against(setting: Setting, place: Place, unit: Unit, row: Row, optima: Optima) -> Row:
    """Give the best that a memory is held against, where there are memories."""
    rules = place.rules
    if place.family is not MEMORIZATION or rules is None or row["status"] != "ok":
        return {}
    load = row["size"] if rules.budget is None else row["cost"]
    limit, _ = load_of(rules)
    also = map(float, setting.envs) if rules.budget is None else [limit]
    best = optima.reference(unit.instance.value, rules, load, also, query_of(row))
    return {
        "load": load,
        "frontier": best.own.bound,
        "frontier_at_capacity": best.at_capacity.bound,
        "attained_at_capacity": best.at_capacity.value,
        "saturated": best.saturated,
        "full_context": best.full,
        "arrival": best.arrival.total,
        "proved": best.own.proved and best.at_capacity.proved,
    }
