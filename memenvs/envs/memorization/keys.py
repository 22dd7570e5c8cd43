"""Which episodes of a batch begin anew, and their keys, each from a generator of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from memenvs.counter import episode_keys
from memenvs.envs.memorization.batch.buffers import Part
from memenvs.material.incidence import BoolArray

AHEAD = 32  # keys that are taken from a generator at once


class Keys:
    """The keys that ``counter.episode_key`` would take one by one, for B environments."""

    def __init__(self, episodes: int) -> None:
        self._generators: list[np.random.Generator | None] = [None] * episodes
        self._seeds = [-1] * episodes
        self._ahead = np.zeros((episodes, AHEAD), dtype=np.uint64)
        self._used = np.full(episodes, AHEAD)

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

    def seed(self, seed: int | Sequence[int | None] | None, chosen: BoolArray) -> None:
        """Seed the chosen environments ``(B,)``: a number s seeds environment i with s + i.

        Raises ``ValueError`` for a sequence of another length.
        """
        seeds = self._each(seed)
        for number in np.flatnonzero(chosen).tolist():
            if seeds[number] is not None:
                self._make(number, seeds[number])
        self._fill_in()

    def take(self, part: Part) -> NDArray[np.uint64]:
        """Take the next key of each of some environments: ``(n,)``."""
        for number in part.numbers[self._used[part.at] == AHEAD].tolist():
            generator = self._generators[number]
            assert generator is not None
            self._ahead[number] = episode_keys(generator, AHEAD)
            self._used[number] = 0
        keys: NDArray[np.uint64] = self._ahead[part.numbers, self._used[part.at]]
        self._used[part.at] += 1
        return keys

    def _each(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        episodes = len(self._seeds)
        if seed is None:
            return [None] * episodes
        if isinstance(seed, int | np.integer):
            return [int(seed) + i for i in range(episodes)]
        if len(seed) != episodes:
            raise ValueError(f"{len(seed)} seeds were given for {episodes} environments")
        return [None if each is None else int(each) for each in seed]

    def _fill_in(self) -> None:
        for number, generator in enumerate(self._generators):
            if generator is None:
                self._make(number, None)

    def _make(self, number: int, seed: int | None) -> None:
        self._generators[number], self._seeds[number] = seeding.np_random(seed)
        self._used[number] = AHEAD


def reset_mask(given: Any, episodes: int) -> BoolArray:
    """Check ``options["reset_mask"]``: ``(B,)``, True where an episode begins anew."""
    mask = np.asarray(given)
    if mask.dtype != np.bool_ or mask.shape != (episodes,) or not mask.any():
        raise ValueError(
            f"options['reset_mask'] must be boolean, of shape ({episodes},), and True somewhere; "
            f"it is {given!r:.80}"
        )
    return mask
