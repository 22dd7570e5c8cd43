"""Counter-based random numbers: draw i of stream s of an episode depends on its key alone.

A batch of episodes draws in one array operation what each episode would draw by itself, so that
neither the batch size nor the order of the draws changes an episode.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Streams of an episode.
MATERIAL, TRUTH, QUERY, ORDER, NOISE, VOICE = range(6)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def episode_key(generator: np.random.Generator) -> np.uint64:
    """Take the key of a new episode from an environment's own generator."""
    return np.uint64(episode_keys(generator, 1)[0])


def episode_keys(generator: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """Take the keys of the next ``count`` episodes, as if one by one."""
    return generator.integers(1 << 63, size=count).astype(np.uint64)


def uniforms(key: ArrayLike, stream: int, counter: ArrayLike) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) with 53 random bits; ``key`` and ``counter`` broadcast."""
    keys = np.asarray(key, dtype=np.uint64)
    counters = np.asarray(counter, dtype=np.uint64)
    with np.errstate(over="ignore"):  # arithmetic modulo 2^64 is the point
        state = _mixed(_mixed(keys + _GOLDEN * np.uint64(stream + 1)) + _GOLDEN * counters)
    return np.asarray((state >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble by the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    state = state + _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))
