"""The seeds of a batch: a generator for each environment, which gives the keys of its episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from memenvs.counter import episode_keys
from memenvs.envs.rows import Rows

AHEAD = 32  # keys that are taken from a generator at once

Seeds = int | Sequence[int | None] | None


class EpisodeKeys:
    """The keys that ``counter.episode_key`` would take one by one, for B environments."""

    def __init__(self, num_envs: int) -> None:
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._seeds = [-1] * num_envs
        self._ahead = np.zeros((num_envs, AHEAD), dtype=np.uint64)
        self._used = np.full(num_envs, AHEAD)

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """Generators of all environments."""
        self._fill_in()
        return tuple(generator for generator in self._generators if generator is not None)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of all environments."""
        self._fill_in()
        return tuple(self._seeds)

    def seed(self, seed: Seeds, rows: Rows) -> None:
        """Seed some environments: a number s seeds environment i with s + i.

        Raises ``ValueError`` for a sequence of another length, and Gymnasium's ``Error`` for what
        is no seed; nothing is seeded then.
        """
        each = self._each(seed)
        made = {
            number: seeding.np_random(each[number])
            for number in rows.numbers.tolist()
            if each[number] is not None
        }
        for number, (generator, given) in made.items():
            self._set(number, generator, given)
        self._fill_in()

    def take(self, rows: Rows) -> NDArray[np.uint64]:
        """Take the next key of each of some environments: ``(n,)``."""
        for number in rows.numbers[self._used[rows.at] == AHEAD].tolist():
            generator = self._generators[number]
            assert generator is not None
            self._ahead[number] = episode_keys(generator, AHEAD)
            self._used[number] = 0
        keys: NDArray[np.uint64] = self._ahead[rows.numbers, self._used[rows.at]]
        self._used[rows.at] += 1
        return keys

    def _each(self, seed: Any) -> list[int | None]:
        num_envs = len(self._seeds)
        if seed is None:
            return [None] * num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + i for i in range(num_envs)]
        if not isinstance(seed, Sequence | np.ndarray) or isinstance(seed, str):
            raise ValueError(f"seed={seed!r:.80} is not an integer or a sequence of integers")
        if len(seed) != num_envs:
            raise ValueError(f"{len(seed)} seeds were given for {num_envs} environments")
        return [each if each is None else int(each) for each in seed]

    def _fill_in(self) -> None:
        for number, generator in enumerate(self._generators):
            if generator is None:
                self._set(number, *seeding.np_random(None))

    def _set(self, number: int, generator: np.random.Generator, seed: int) -> None:
        self._generators[number], self._seeds[number] = generator, seed
        self._used[number] = AHEAD
