"""Compare policies: rows for each material, and a summary over them with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from memenvs.material.incidence import FloatArray
from memenvs.policies.resolve import given_names
from memenvs.reading.layer import Layer
from memenvs.train.cast import any_seen, facts
from memenvs.train.experiment import DEFAULT_POLICIES, Experiment
from memenvs.train.measures import MEASURES, measure
from memenvs.train.optima import Curve, Reference, mean_curve, references
from memenvs.train.places import Setting, make_setting
from memenvs.train.play import EpisodeResult, Track, evaluate, untracked
from memenvs.train.statistics import (
    Interval,
    Statistic,
    difference,
    improvement,
    interquartile_mean,
    interval,
    mean_interval,
    normalised_interval,
    normalised_score,
)

RANDOM = "random"  # the zero of the normalised score
EPISODES = 20  # of a single material

OPTIMUM = "frontier_at_capacity"
SHOWN = tuple(name for name in MEASURES if name not in ("load", "illegal"))

# Of the precision beside that of the baseline: the difference of means, and how often it is better.
COMPARED: dict[str, Statistic] = {"difference": difference, "improvement": improvement}

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str, int]  # policy, material, capacity


@dataclass(frozen=True)
class Group:
    """What one policy reached at one capacity, with K seeds: in E episodes, or M materials."""

    values: dict[str, FloatArray]  # of each measure: (K, E), or (K, M); NaN where undefined

    def mean(self, name: str) -> float | None:
        """Mean of a measure where it is defined."""
        defined = self.defined(name)
        return float(defined.mean()) if defined.size else None

    def defined(self, name: str) -> FloatArray:
        """Values of a measure where it is defined: for a material it is by every seed, or none."""
        return self.values[name][:, ~np.isnan(self.values[name]).any(axis=0)]


@dataclass(frozen=True)
class Comparison:
    """Rows and summary as JSON has them, and the mean frontier where a plot is wanted."""

    rows: tuple[Record, ...]
    summary: tuple[Record, ...]
    baseline: str
    curve: Curve | None
    layer: Layer | None  # what ``answered`` means, where it was measured

    def as_document(self) -> Record:
        """Give the JSON form."""
        return {"rows": list(self.rows), "summary": list(self.summary)}


def compare(
    experiment: Experiment,
    policies: Mapping[str, Any] | None = None,
    *,
    curve: bool = False,
    track: Track[Any] = untracked,
) -> Comparison:
    """Run an experiment; ``curve`` solves the frontier between the capacities too.

    ``policies`` play besides those that the experiment names: by the names that they are given,
    whatever ``memenvs.policies.make`` takes, as a function, a class or a network. Each policy plays
    the same episodes. The random policy, for the normalised score, and the baseline, for the
    differences, are played besides those asked for. Raises ``ValueError`` for an experiment that
    cannot be run.
    """
    with given_names(policies):
        return _compare(experiment, list(policies or ()), curve=curve, track=track)


def _compare(
    experiment: Experiment, given: Sequence[str], *, curve: bool, track: Track[Any]
) -> Comparison:
    for name in ("opponent", "game_option"):
        if name in experiment.model_fields_set:
            raise ValueError(f"--{name.replace('_', '-')} belongs to --game NAME; give that, too")
    setting = make_setting(experiment)
    layer = make_layer(experiment, setting)
    asked = list(dict.fromkeys([*experiment.policy, *given])) or _default_policies(setting)
    played = list(dict.fromkeys([*asked, RANDOM, experiment.baseline]))
    episodes = experiment.episodes or (EPISODES if len(setting.materials) == 1 else 1)
    played_by = evaluate(
        setting, played, episodes=episodes, seed=experiment.seed, layer=layer, track=track
    )
    results = played_by.results
    best = references(setting, results, time_limit=experiment.time_limit, track=track)
    groups = _groups(setting, results, best)
    rows, summary = [], []
    for capacity in setting.envs:
        for policy in asked:
            own = [
                _row(groups, policy, material.name, capacity, best[material.name, capacity])
                for material in setting.materials
            ]
            cast = played_by.casts[capacity, policy]
            for row in own:
                row["seen"] = cast.has_seen(row["material"])
            rows += own
            nested = cast.nested or played_by.casts[capacity, experiment.baseline].nested
            summary.append(_summary(setting, groups, policy, capacity, experiment, own, nested))
            summary[-1]["remark"] = cast.remark()
    drawn = mean_curve(setting, time_limit=experiment.time_limit, track=track) if curve else None
    return Comparison(tuple(rows), tuple(summary), experiment.baseline, drawn, layer)


def make_layer(experiment: Experiment, setting: Setting) -> Layer | None:
    """Give the end-to-end layer of an experiment, where the utility is end-to-end.

    Raises ``ValueError`` for unknown names, and for any without that utility.
    """
    names = ("reader", "reasoner", "correct")
    given = {name: value for name in names if (value := getattr(experiment, name)) is not None}
    if setting.utility == "end-to-end":
        return Layer(**given)
    if given:
        raise ValueError(f"--{min(given)} belongs to --utility end-to-end; give that, too")
    return None


def _default_policies(setting: Setting) -> list[str]:
    """Policies to play where none is named; the longest text only where there are texts."""
    texts = all(env.unwrapped.layout.limits.texts for env in setting.envs.values())  # type: ignore[attr-defined]
    return [name for name in DEFAULT_POLICIES if texts or name != "longest"]


def _groups(
    setting: Setting,
    results: Sequence[EpisodeResult],
    best: dict[tuple[str, int], Reference],
) -> dict[Key, Group]:
    """Measure every episode, by policy, material and capacity; seeds and episodes in order."""

    def key(result: EpisodeResult) -> Key:
        return result.policy, result.material, result.capacity

    groups = {}
    for name, members in groupby(
        sorted(results, key=lambda r: (*key(r), r.member, r.episode)), key
    ):
        played = list(members)
        measured = [measure(r, best[r.material, r.capacity], setting.budget) for r in played]
        shape = (played[-1].member + 1, -1)
        groups[name] = Group(
            {m: np.array([each[m] for each in measured]).reshape(shape) for m in MEASURES}
        )
    return groups


def _row(
    groups: dict[Key, Group], policy: str, material: str, capacity: int, best: Reference
) -> Record:
    own, lowest = groups[policy, material, capacity], groups[RANDOM, material, capacity]
    precision = own.values["precision"]
    at_capacity = own.values["frontier_at_capacity"]
    loads = own.values["load"].ravel().tolist()
    return {
        "policy": policy,
        "material": material,
        "capacity": capacity,
        "seeds": len(precision),
        "episodes": precision.shape[1],
        **_means(own),
        "frontier_proved": all(best.proved[load] for load in [*loads, best.limit]),
        "normalised": normalised_score(precision, lowest.values["precision"], at_capacity),
        "illegal": int(own.values["illegal"].sum()),
    }


def _summary(
    setting: Setting,
    groups: dict[Key, Group],
    policy: str,
    capacity: int,
    experiment: Experiment,
    rows: Sequence[Record],
    nested: bool,
) -> Record:
    """Average over materials, or over the episodes of the only one, with paired intervals.

    ``nested``: each material has models of its own.
    """
    own, lowest, baseline = (
        _units(setting, groups, name, capacity) for name in (policy, RANDOM, experiment.baseline)
    )
    reached, zero, one = own.values["precision"], lowest.values["precision"], own.values[OPTIMUM]
    against = [reached, baseline.values["precision"]]
    seed = experiment.seed
    intervals = {name: mean_interval(own.defined(name), seed, nested=nested) for name in SHOWN}
    intervals["normalised"] = normalised_interval(reached, zero, one, seed, nested=nested)
    intervals["iqm"] = interval([reached], interquartile_mean, seed, nested=nested)
    if policy == experiment.baseline:  # it is itself, whichever seeds are drawn
        against = [reached.mean(axis=0, keepdims=True)] * 2
    for name, statistic in COMPARED.items():
        intervals[name] = interval(against, statistic, seed, nested=nested)
    told = facts(policy)
    return {
        "policy": policy,
        "capacity": capacity,
        "precision": own.mean("precision"),
        **_ends("", intervals["precision"]),
        "interval_over": "episodes" if len(setting.materials) == 1 else "materials",
        "materials": len(setting.materials),
        "seeds": len(reached),
        "episodes": sum(row["episodes"] for row in rows),
        **{name: mean for name, mean in _means(own).items() if name != "precision"},
        "frontier_proved": all(row["frontier_proved"] for row in rows),
        "normalised": normalised_score(reached, zero, one),
        "iqm": float(interquartile_mean(reached)),
        **_ends("iqm_", intervals["iqm"]),
        **{
            key: value
            for name, statistic in COMPARED.items()
            for key, value in (
                (name, float(statistic(*against))),
                *_ends(f"{name}_", intervals[name]).items(),
            )
        },
        "baseline": experiment.baseline,
        "privileged": told.privileged,
        "knows": told.knows,
        "taught_by": told.taught_by,
        "seen": any_seen(row["seen"] for row in rows),
        "illegal": sum(row["illegal"] for row in rows),
        "intervals": {name: found and list(found) for name, found in intervals.items()},
    }


def _ends(prefix: str, found: Interval | None) -> Record:
    low, high = found or (None, None)
    return {f"{prefix}low": low, f"{prefix}high": high}


def _means(group: Group) -> Record:
    return {name: group.mean(name) for name in SHOWN}


def _units(setting: Setting, groups: dict[Key, Group], policy: str, capacity: int) -> Group:
    """Give the units that are averaged: materials, each by its mean, or else episodes."""
    each = [groups[policy, material.name, capacity] for material in setting.materials]
    if len(each) == 1:
        return each[0]
    return Group(
        {name: np.stack([g.values[name].mean(axis=1) for g in each], axis=1) for name in MEASURES}
    )
