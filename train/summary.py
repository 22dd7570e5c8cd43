"""Rows of scores summed up: a record for each instance and policy, and one over the instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from memenvs.envs.family import MEMORIZATION, Family
from memenvs.material.incidence import FloatArray
from memenvs.train.experiment import Experiment
from memenvs.train.measures import HIDDEN, measure, measures_of, score_of
from memenvs.train.named_policy import any_seen, facts
from memenvs.train.optima import objective_name
from memenvs.train.scores import Row, Scores
from memenvs.train.setting import Setting
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
OPTIMUM = "frontier_at_capacity"
# Beside the score of the baseline: the difference of means, and how often it is better.
COMPARED: dict[str, Statistic] = {"difference": difference, "improvement": improvement}

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str, int | None]  # policy, instance, capacity


@dataclass(frozen=True)
class Group:
    """What one policy reached at one capacity, with K seeds: in E episodes, or M instances."""

    values: dict[str, FloatArray]  # of each measure: (K, E), or (K, M); NaN where undefined
    proved: bool = True  # whether every optimum behind them is
    width: float = 0.0  # widest interval of an optimum at S, relative to its upper end

    def mean(self, name: str) -> float | None:
        """Mean of a measure where it is defined."""
        defined = self.defined(name)
        return float(defined.mean()) if defined.size else None

    def defined(self, name: str) -> FloatArray:
        """Values of a measure in the units in which it is defined for every seed."""
        return self.values[name][:, ~np.isnan(self.values[name]).any(axis=0)]


def groups_of(setting: Setting, scores: Scores) -> dict[Key, Group]:
    """Measure every episode, by policy, instance and capacity; seeds and episodes in order."""
    family = setting.place.family
    names = measures_of(family)
    found: dict[Key, dict[tuple[int, int], Row]] = {}
    for row in scores.rows.values():
        key = row["policy"], row["instance"], row["capacity"]
        found.setdefault(key, {})[row["member"], row["episode"]] = row
    groups = {}
    for key, own in found.items():
        ordered = [own[place] for place in sorted(own)]
        measured = [measure(row, family) for row in ordered]
        shape = (ordered[-1]["member"] + 1, -1)
        values = {m: np.array([each[m] for each in measured]).reshape(shape) for m in names}
        proved = all(row.get("proved", True) for row in ordered)
        groups[key] = Group(values, proved, max(map(_width, ordered)))
    return groups


def row_of_instance(setting: Setting, groups: dict[Key, Group], key: Key) -> Record:
    """Average over the episodes of one instance, and over the seeds of a training."""
    policy, instance, capacity = key
    own, lowest = groups[key], groups[RANDOM, instance, capacity]
    family = setting.place.family
    score = score_of(family)
    row = {
        "policy": policy,
        kind_of(family): instance,
        "capacity": capacity,
        "seeds": len(own.values[score]),
        "episodes": own.values[score].shape[1],
        **_means(own, family),
    }
    if family is MEMORIZATION:
        reached = _shared(own.values[score], lowest.values[score], own.values[OPTIMUM])
        rules = setting.places[capacity].rules
        assert rules is not None
        row["objective"] = objective_name(rules)
        row["frontier_proved"] = own.proved
        row["frontier_width"] = own.width
        row["normalised"] = normalised_score(*reached) if reached[0].size else None
    return row | {"illegal": int(np.nansum(own.values["illegal"]))}


def summary_of(
    setting: Setting,
    groups: dict[Key, Group],
    policy: str,
    capacity: int | None,
    experiment: Experiment,
    rows: Sequence[Record],
    nested: bool,
) -> Record:
    """Average over instances, or over the episodes of the only one, with paired intervals.

    ``nested``: each instance has models of its own.
    """
    own, lowest, baseline = (
        _units(setting, groups, name, capacity) for name in (policy, RANDOM, experiment.baseline)
    )
    family, seed = setting.place.family, experiment.seed
    score, kinds = score_of(family), f"{kind_of(family)}s"
    against = _shared(own.values[score], baseline.values[score])
    if policy == experiment.baseline:  # it is itself, whichever seeds are drawn
        against = [against[0].mean(axis=0, keepdims=True)] * 2
    intervals = {
        name: mean_interval(own.defined(name), seed, nested=nested) for name in shown(family)
    }
    optimum: Record = {}
    if family is MEMORIZATION:
        reached, zero, one = _shared(own.values[score], lowest.values[score], own.values[OPTIMUM])
        optimum["objective"] = rows[0]["objective"]
        optimum["frontier_proved"] = all(row["frontier_proved"] for row in rows)
        optimum["frontier_width"] = max(row["frontier_width"] for row in rows)
        optimum["normalised"] = normalised_score(reached, zero, one) if reached.size else None
        intervals["normalised"] = normalised_interval(reached, zero, one, seed, nested=nested)
    reached = own.defined(score)
    intervals["iqm"] = interval([reached], interquartile_mean, seed, nested=nested)
    for name, statistic in COMPARED.items():
        intervals[name] = interval(against, statistic, seed, nested=nested)
    told = facts(policy)
    return {
        "policy": policy,
        "capacity": capacity,
        score: own.mean(score),
        **_ends("", intervals[score]),
        "interval_over": "episodes" if len(setting.instances) == 1 else kinds,
        kinds: len(setting.instances),
        "seeds": len(reached),
        "episodes": sum(row["episodes"] for row in rows),
        **{name: mean for name, mean in _means(own, family).items() if name != score},
        **optimum,
        "iqm": float(interquartile_mean(reached)) if reached.size else None,
        **_ends("iqm_", intervals["iqm"]),
        **{
            key: value
            for name, statistic in COMPARED.items()
            for key, value in (
                (name, float(statistic(*against)) if against[0].size else None),
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


def _width(row: Row) -> float:
    """How far the optimum at S may lie below its bound, relative to that."""
    bound = row.get("frontier_at_capacity") or 0.0
    return (bound - row["attained_at_capacity"]) / bound if bound > 0 else 0.0


def kind_of(family: Family | None) -> str:
    """Say what an instance is called."""
    return "instance" if family is None else family.instance


def shown(family: Family | None) -> tuple[str, ...]:
    """Name the measures whose means and intervals are given."""
    return tuple(name for name in measures_of(family) if name not in HIDDEN)


def _shared(*tables: FloatArray) -> list[FloatArray]:
    """Leave out the units in which something is undefined: an episode failed."""
    kept = ~np.any([np.isnan(table).any(axis=0) for table in tables], axis=0)
    return [table[:, kept] for table in tables]


def _ends(prefix: str, found: Interval | None) -> Record:
    low, high = found or (None, None)
    return {f"{prefix}low": low, f"{prefix}high": high}


def _means(group: Group, family: Family | None) -> Record:
    return {name: group.mean(name) for name in shown(family)}


def _units(setting: Setting, groups: dict[Key, Group], policy: str, capacity: int | None) -> Group:
    """Give the units that are averaged: instances, each by its mean, or else episodes."""
    each = [groups[policy, instance.name, capacity].values for instance in setting.instances]
    if len(each) == 1:
        return Group(each[0])
    names = each[0].keys()
    return Group({name: mean_defined(np.stack([v[name] for v in each], axis=1)) for name in names})


def mean_defined(values: FloatArray) -> FloatArray:
    """Mean over the episodes in which a measure is defined: ``(..., E)`` to ``(...)``, or NaN."""
    defined = ~np.isnan(values)
    counts = defined.sum(axis=-1)
    sums = np.where(defined, values, 0.0).sum(axis=-1)
    undefined = np.full(counts.shape, np.nan)
    return np.asarray(np.divide(sums, counts, out=undefined, where=counts > 0))
