"""The page on the memories in use today: what is compared, and where, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memenvs.policies.published import TODAY
from memenvs.policies.published.judge import stand_in_alone
from memenvs.policies.published.readers import K, reader_for
from memenvs.reading.utility import end_to_end
from memenvs.train.compare import Comparison, compare
from memenvs.train.experiment import Experiment
from memenvs.train.play import Ended
from memenvs.train.scores import Row
from memenvs.train.statistics import Interval, mean_interval
from memenvs.train.units import Unit

SIMPLE = ("random", "fifo", "reservoir", "confidence")
TIERS = ("readable", "hidden", "worlds", "composite", "end-to-end", "conflicting", "probe")


@dataclass(frozen=True)
class Section:
    """One table of the page."""

    title: str
    settings: dict[str, Any]  # of the experiment
    # Policies beside the simple ones and today's.
    more: tuple[str, ...] = ("trust", "bisimulation:learning", "optimal")
    data: str = ""  # kind of the data set that it needs; "": comes with the package

    @property
    def policies(self) -> tuple[str, ...]:
        """Everything that is played, in the order of the table."""
        return (*SIMPLE, *TODAY, "weighted-tree", *self.more)


FITTED = ("trust", "supervised", "bisimulation", "bisimulation:learning")
REFERENCES = (*FITTED, "bayes", "bayes-queries", "optimal")
SECTIONS: tuple[Section, ...] = (
    Section("Odyssey", {"material": ["odyssey"], "capacity": [3]}),
    Section("Odyssey with a false claim", {"material": ["odyssey-noisy"], "capacity": [3]}),
    *(Section(f"Tier {tier}", {"material": [tier]}, REFERENCES) for tier in TIERS),
    Section("Level 1b", {"env": "memenvs/DisclosedQueries-v0"}, REFERENCES),
    Section(
        "LoCoMo",
        {"capacity": [50, 100, 200]},
        ("longest", "pretrained", *FITTED, "optimal"),
        "locomo",
    ),
    Section(
        "EntailmentBank",
        {"capacity": [50, 100]},
        ("longest", "pretrained", *FITTED, "optimal"),
        "entailment-bank",
    ),
)


@dataclass(frozen=True)
class OwnReader:
    """End-to-end utility of what a policy itself holds, read as it reads."""

    mean: float
    interval: Interval | None


@dataclass(frozen=True)
class Measured:
    """One section, played."""

    section: Section
    comparison: Comparison
    readings: dict[tuple[str, int], OwnReader]  # by policy, capacity
    scores: list[dict[str, Any]]  # a row for each episode, policy and capacity


@stand_in_alone()
def run_section(
    section: Section, *, files: Sequence[str], materials: int, seed: int = 0
) -> Measured:
    """Compare the section's policies, then let each memory read what it holds itself.

    ``files`` hold the materials of a section that needs data; ``materials`` are played of a tier.
    No model is asked, whatever is configured: the page tells of the observable stand-in.
    """
    settings = dict(section.settings) | ({"material": list(files)} if section.data else {})
    experiment = Experiment(
        policy=list(section.policies), materials=materials, seed=seed, **settings
    )
    read: dict[tuple[str, int, str, int], float] = {}

    def read_own(row: Row, unit: Unit, ended: Ended) -> None:
        reader = reader_for(row["policy"], K)
        read[_key(row)] = float(end_to_end(unit.instance.value, ended.own, reader))

    comparison = compare(experiment, watch=read_own)
    scores = [
        {"section": section.title, **row, "own_reader": read[_key(row)]}
        for row in comparison.scores
        if row["policy"] in section.policies
    ]
    values: dict[tuple[str, int], list[float]] = {}
    for (policy, capacity, *_), value in read.items():
        values.setdefault((policy, capacity), []).append(value)
    readings = {
        key: OwnReader(float(np.mean(own)), mean_interval(np.array(own), seed))
        for key, own in values.items()
    }
    return Measured(section, comparison, readings, scores)


def _key(row: Mapping[str, Any]) -> tuple[str, int, str, int]:
    return row["policy"], row["capacity"], row["instance"], row["episode"]
