"""Sets of scenarios of exact size, and their splits by disjoint seed ranges.

A set has the counts of the paper's corpus (001, A.3): 100 scenarios, 297 subtasks, 1,118 entries,
of them 709 benign and 409 poisoned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import overload

import numpy as np

from memenvs.errors import MaterialError
from memenvs.materials.poisoning.draw import Shape, draw_scenario
from memenvs.materials.poisoning.records import Scenario

SCENARIOS, SUBTASKS, BENIGN, POISONED = 100, 297, 709, 409
SMALLEST, LARGEST = 2, 4  # subtasks of a scenario
FEWEST, MOST = 3, 6  # entries of a subtask
# Disjoint ranges of seeds. Nothing is chosen by looking at the test set.
SPLITS: Mapping[str, range] = MappingProxyType(
    {"train": range(0, 20), "validation": range(1000, 1004), "test": range(2000, 2001)}
)
MAX_ENTRIES = LARGEST * MOST  # of a scenario


@dataclass(frozen=True)
class Split(Sequence[Scenario]):
    """Scenarios of a split by number, set after set; a set is drawn when it is asked for."""

    name: str

    def __post_init__(self) -> None:
        """Refuse a name that no split has."""
        if self.name not in SPLITS:
            raise MaterialError(
                f"poisoning scenarios have no split '{self.name}'; choose from {', '.join(SPLITS)}"
            )

    def __len__(self) -> int:
        return SCENARIOS * len(SPLITS[self.name])

    @overload
    def __getitem__(self, number: int) -> Scenario: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[Scenario, ...]: ...

    def __getitem__(self, number: int | slice) -> Scenario | tuple[Scenario, ...]:
        if isinstance(number, slice):
            return tuple(self[place] for place in range(*number.indices(len(self))))
        if not -len(self) <= number < len(self):
            raise IndexError(f"{self.name} has {len(self)} scenarios, no number {number}")
        number %= len(self)
        return scenario_set(self.name, number // SCENARIOS)[number % SCENARIOS]


@lru_cache(maxsize=64)
def scenario_set(split: str, number: int) -> tuple[Scenario, ...]:
    """Give set ``number`` of a split, the same in every process."""
    seed = SPLITS[split][number]
    return draw_set(f"poisoning-{split}-{number}", seed)


def draw_set(name: str, seed: int) -> tuple[Scenario, ...]:
    """Draw the scenarios of a set; equal seeds give equal sets."""
    generator = np.random.default_rng(seed)
    return tuple(
        draw_scenario(f"{name}-{place}", shapes, generator)
        for place, shapes in enumerate(_shapes(generator))
    )


def _shapes(generator: np.random.Generator) -> list[list[Shape]]:
    """Share the subtasks, the entries and the poison out, so that the totals are exact."""
    sizes = np.full(SCENARIOS, 3)
    larger = int(generator.integers(20, 31))
    smaller = larger + 3 * SCENARIOS - SUBTASKS
    chosen = generator.permutation(SCENARIOS)
    sizes[chosen[:larger]] = LARGEST
    sizes[chosen[larger : larger + smaller]] = SMALLEST
    owner = np.repeat(np.arange(SCENARIOS), sizes)
    entries = np.full(SUBTASKS, FEWEST)
    _add(entries, BENIGN + POISONED - entries.sum(), np.full(SUBTASKS, MOST), generator)
    poisoned = np.zeros(SUBTASKS, dtype=np.int64)
    for scenario in range(SCENARIOS):  # at least one in each
        poisoned[generator.choice(np.flatnonzero(owner == scenario))] = 1
    _add(poisoned, POISONED - poisoned.sum(), entries - 1, generator)
    return [
        [
            Shape(int(n - bad), int(bad))
            for n, bad in zip(entries[owner == s], poisoned[owner == s], strict=True)
        ]
        for s in range(SCENARIOS)
    ]


def _add(
    counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    total: int,
    most: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    generator: np.random.Generator,
) -> None:
    """Add one at a time to counts that are still below ``most``, ``total`` in all."""
    for _ in range(total):
        counts[generator.choice(np.flatnonzero(counts < most))] += 1
