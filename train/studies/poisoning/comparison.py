"""Memories and policies on poisoned scenarios: a row for each, paired differences, orderings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memenvs.envs.poisoning.poisoning_env import BUDGET
from memenvs.material.incidence import FloatArray
from memenvs.materials.poisoning import SPLITS, Scenario, draw_set, scenario_set
from memenvs.materials.poisoning.attacks import attacked
from memenvs.policies.weighted_tree import CONFIGURATIONS, Constants
from memenvs.train.statistics import mean_interval
from memenvs.train.studies.poisoning.choose import choose_contexts
from memenvs.train.studies.poisoning.counts import Chosen, Memory, play, reasoner_key
from memenvs.train.studies.poisoning.metrics import METRICS, metrics
from memenvs.train.studies.poisoning.tree import TreeMemory

ABLATIONS = ("linear", "a1", "a2", "a3", "full")  # of the paper's Table 4
RULES = ("recent", "last-used", "relevant", "vote", "trusted-source", "logistic")
DEFAULT_POLICIES = (*ABLATIONS, "no-memory", *RULES, "oracle")
BASELINE = "full"
ORACLE = "oracle"
SEEDS = 10  # of the reasoner
SET = 0  # the set of a split that is played

Record = dict[str, Any]


@dataclass(frozen=True)
class Ordering:
    """One thing that the paper's text says of its Table 4: a metric is better in one memory."""

    metric: str
    better: str
    worse: str
    equal: bool = False


def _orderings() -> tuple[Ordering, ...]:
    """What the paper says: full is best in all of it; linear is worst; A1 shares persistence."""
    best = ("attack_success_rate", "poison_retrieval_rate", "blast_radius", "amplification_factor")
    others = ("linear", "a1", "a2", "a3")
    found = [
        Ordering(metric, "full", other)
        for metric in (*best, "task_success_rate", "prompt_tokens")
        for other in others
    ]
    worst = ("attack_success_rate", "blast_radius", "amplification_factor")
    found += [Ordering(metric, other, "linear") for metric in worst for other in others[1:]]
    found += [
        Ordering("infection_persistence", "full", "a1", equal=True),
        Ordering("infection_persistence", "a2", "linear", equal=True),
        Ordering("infection_persistence", "full", "a2"),
        Ordering("infection_persistence", "full", "linear"),
    ]
    return tuple(found)


ORDERINGS = _orderings()


@dataclass(frozen=True)
class Result:
    """What policies reached in the scenarios of a set."""

    split: str
    seeds: int
    values: dict[str, dict[str, FloatArray]]  # by policy and metric: (scenarios,), NaN undefined
    attack: str = "plain"

    def rows(self, seed: int = 0) -> list[Record]:
        """Give a row for each policy: means over scenarios, and their intervals."""
        rows = []
        for policy, values in self.values.items():
            defined = {name: found[~np.isnan(found)] for name, found in values.items()}
            means = {n: float(found.mean()) if len(found) else None for n, found in defined.items()}
            intervals = {n: mean_interval(found, seed) for n, found in defined.items()}
            rows.append(
                {
                    "policy": policy,
                    **means,
                    "privileged": policy == ORACLE,
                    "intervals": {n: i and list(i) for n, i in intervals.items()},
                }
            )
        return rows

    def difference(self, metric: str, policy: str, baseline: str, seed: int = 0) -> Record:
        """Mean of a policy less that of a baseline, paired by scenario, with its interval."""
        gaps = self.values[policy][metric] - self.values[baseline][metric]
        gaps = gaps[~np.isnan(gaps)]
        low, high = mean_interval(gaps, seed) or (None, None)
        return {
            "policy": policy,
            "baseline": baseline,
            "metric": metric,
            "difference": float(gaps.mean()) if len(gaps) else None,
            "low": low,
            "high": high,
        }

    def differences(self, baseline: str = BASELINE) -> list[Record]:
        """Give the differences of all policies from a baseline, where it was played."""
        return [
            self.difference(metric, policy, baseline)
            for policy in self.values
            if policy != baseline and baseline in self.values
            for metric in METRICS
        ]

    def orderings(self) -> list[Record]:
        """Say of each ordering of the paper, whose memories were played, whether it reproduces.

        Decided by the paired interval: ``reproduces``, ``contradicted``, or ``undecided`` where it
        holds 0. Equality ``reproduces`` where it holds 0, and is ``contradicted`` elsewhere.
        """
        found = []
        for each in ORDERINGS:
            if each.better in self.values and each.worse in self.values:
                gap = self.difference(each.metric, each.better, each.worse)
                found.append({**gap, "equal": each.equal, "verdict": _verdict(each, gap)})
        return found

    def as_document(self) -> Record:
        """Give the JSON form."""
        return {
            "split": self.split,
            "attack": self.attack,
            "scenarios": len(next(iter(next(iter(self.values.values())).values()))),
            "seeds": self.seeds,
            "rows": self.rows(),
            "differences": self.differences(),
            "orderings": self.orderings(),
        }


def _verdict(ordering: Ordering, gap: Record) -> str:
    low, high = gap["low"], gap["high"]
    if low is None:
        return "undecided"
    if low <= 0 <= high:
        return "reproduces" if ordering.equal else "undecided"
    if ordering.equal:
        return "contradicted"
    lower = high < 0
    return "reproduces" if lower == METRICS[ordering.metric] else "contradicted"


def run_poisoning(
    policies: Sequence[str] = DEFAULT_POLICIES,
    *,
    split: str = "test",
    seeds: int = SEEDS,
    budget: int = BUDGET,
    constants: Constants | None = None,
    attack: str = "plain",
    set_seed: int | None = None,
    report: Callable[[str], None] = lambda policy: None,
) -> Result:
    """Play the first set of a split with every policy; each metric is a mean over the seeds.

    The set is as an ``attack`` of ``ATTACKS`` leaves it. A ``set_seed`` draws a set of its own.

    A policy is a configuration of the weighted tree, a name of ``CONTEXT_POLICIES``, or the folder
    of a trained model. Raises ``ValueError`` for another one, and for another split.
    """
    if split not in SPLITS:
        raise ValueError(f"split '{split}' is unknown; choose from {', '.join(SPLITS)}")
    drawn = scenario_set(split, SET)
    if set_seed is not None:
        split = f"seed {set_seed}"
        drawn = draw_set(f"poisoning-seed-{set_seed}", set_seed)
    scenarios = [attacked(scenario, attack, place) for place, scenario in enumerate(drawn)]
    clean = [scenario.without_poison() for scenario in scenarios]
    makers = {name: _maker(name, [*scenarios, *clean], budget, constants) for name in policies}
    values: dict[str, dict[str, FloatArray]] = {}
    for name, make in makers.items():
        report(name)
        rows = [
            _mean_metrics(scenario, clean[place], place, make, seeds)
            for place, scenario in enumerate(scenarios)
        ]
        values[name] = {metric: np.array([row[metric] for row in rows]) for metric in rows[0]}
    return Result(split, seeds, values, attack)


def _maker(
    name: str, scenarios: Sequence[Scenario], budget: int, constants: Constants | None
) -> Callable[[Scenario], Memory]:
    """Say how a policy's memory of one of the scenarios is made."""
    if name in CONFIGURATIONS:
        return lambda scenario: TreeMemory(scenario, name, constants, budget=budget)
    choice = choose_contexts(name, scenarios, budget=budget)
    places = {scenario.name: place for place, scenario in enumerate(scenarios)}
    return lambda scenario: Chosen(
        scenario, choice.contexts[places[scenario.name]], choice.milliseconds
    )


def _mean_metrics(
    scenario: Scenario,
    clean: Scenario,
    place: int,
    make: Callable[[Scenario], Memory],
    seeds: int,
) -> dict[str, float]:
    """Play a scenario, and it without its poison, under every seed; gives the means."""
    keys = [reasoner_key(seed, place) for seed in range(seeds)]
    played = [
        metrics(play(scenario, make(scenario), key), play(clean, make(clean), key)) for key in keys
    ]
    return {name: _mean([each[name] for each in played]) for name in METRICS}


def _mean(values: Sequence[float]) -> float:
    defined = [value for value in values if value == value]
    return sum(defined) / len(defined) if defined else float("nan")
