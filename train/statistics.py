"""Bootstrap intervals over units and seeds: of means, interquartile means, ratios, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import FloatArray, IntArray

Interval: TypeAlias = tuple[float, float]
Statistic = Callable[..., FloatArray]  # of samples (..., K, n), one after another: (...)

RESAMPLES = 5000
KEPT = 400  # units up to which the resamples stay drawn for the next measure
BATCH = 1000  # resamples at once: bounds the memory that many episodes take
LEVEL = 0.95
COINCIDE = 1e-9  # differences below this are rounding
CUT = 0.25  # share of the values that the interquartile mean leaves out at either end


def interval(
    samples: Sequence[FloatArray], statistic: Statistic, seed: int = 0, *, nested: bool = False
) -> Interval | None:
    """Percentile bootstrap interval of a statistic of paired samples; None for a single value.

    A sample is ``(n,)``, one value for each unit (a material, or an episode of the only one), or
    ``(K, n)`` where a policy was trained with K seeds. Units are drawn for all samples alike, seeds
    for each sample by itself: whole seeds, since a seed plays every unit, or, if ``nested``, seeds
    of each unit anew, since each unit has models of its own. Equal ``seed`` draws the same units,
    so that intervals of several measures are comparable.
    """
    tables = [np.atleast_2d(sample) for sample in samples]
    units = tables[0].shape[1]
    if units < 1 or max(table.size for table in tables) < 2:
        return None
    own = np.random.default_rng([seed, 1])
    found = []
    for drawn in _drawn(seed, units):
        found.append(statistic(*(_resampled(table, drawn, own, nested) for table in tables)))
    return _ends(np.concatenate(found))


def mean_interval(values: FloatArray, seed: int = 0, *, nested: bool = False) -> Interval | None:
    """Bootstrap interval of the mean of ``values``, ``(n,)`` or ``(K, n)``; None for one value."""
    if values.size > 1 and np.ptp(values) == 0:
        return float(values.mean()), float(values.mean())
    if values.size == values.shape[-1] > 1:  # one seed: means are sums by how often each is drawn
        units = values.shape[-1]
        flat = values.reshape(units)
        found = np.concatenate([counts @ flat for counts in _counted(seed, units)]) / units
        return _ends(found)
    return interval([values], mean, seed, nested=nested)


def mean(values: FloatArray) -> FloatArray:
    """Mean over seeds and units: ``(..., K, n)`` to ``(...)``."""
    return np.asarray(values.mean(axis=(-2, -1)))


def interquartile_mean(values: FloatArray) -> FloatArray:
    """Mean of the middle half of all values: ``(..., K, n)`` to ``(...)``."""
    flat = np.sort(values.reshape(*values.shape[:-2], -1), axis=-1)
    cut = int(CUT * flat.shape[-1])
    return np.asarray(flat[..., cut : flat.shape[-1] - cut].mean(axis=-1))


def difference(reached: FloatArray, baseline: FloatArray) -> FloatArray:
    """Difference of two means: samples ``(..., K, n)``, ``(..., J, n)``."""
    return mean(reached) - mean(baseline)


def improvement(reached: FloatArray, baseline: FloatArray) -> FloatArray:
    """Probability that one seed beats one of the baseline on the same unit; a tie is half a win.

    Samples are ``(..., K, n)`` and ``(..., J, n)``.
    """
    pairs = list(product(range(reached.shape[-2]), range(baseline.shape[-2])))
    won = np.zeros(reached.shape[:-2])
    for one, other in pairs:
        apart = reached[..., one, :] - baseline[..., other, :]
        won += (apart > COINCIDE).mean(axis=-1) + 0.5 * (np.abs(apart) <= COINCIDE).mean(axis=-1)
    return np.asarray(won / len(pairs))


def normalised_score(reached: FloatArray, lowest: FloatArray, highest: FloatArray) -> float | None:
    """Mean of ``reached`` where that of ``lowest`` is 0 and of ``highest`` 1; None if they meet."""
    span = highest.mean() - lowest.mean()
    return None if abs(span) < COINCIDE else float((reached.mean() - lowest.mean()) / span)


def normalised_interval(
    reached: FloatArray,
    lowest: FloatArray,
    highest: FloatArray,
    seed: int = 0,
    *,
    nested: bool = False,
) -> Interval | None:
    """Bootstrap interval of ``normalised_score``; the three ``(n,)`` or ``(K, n)`` are paired.

    None for fewer than two units, and where a resample leaves the score undefined.
    """
    if reached.shape[-1] < 2:
        return None
    undefined = False

    def score(reached: FloatArray, lowest: FloatArray, highest: FloatArray) -> FloatArray:
        nonlocal undefined
        base = mean(lowest)
        span = mean(highest) - base
        meet = np.abs(span) < COINCIDE
        undefined |= bool(np.any(meet))
        return np.asarray((mean(reached) - base) / np.where(meet, 1.0, span))

    found = interval([reached, lowest, highest], score, seed, nested=nested)
    return None if undefined else found


def _ends(found: FloatArray) -> Interval:
    """Give the ends of the interval of resampled statistics ``(R,)``."""
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(found, [tail, 100 - tail])
    return float(low), float(high)


def _drawn(seed: int, units: int) -> Iterable[IntArray]:
    """Draw the units of all resamples, a batch ``(R, n)`` after another."""
    return _kept_draws(seed, units) if units <= KEPT else _draws(seed, units)


def _draws(seed: int, units: int) -> Iterator[IntArray]:
    drawing = np.random.default_rng(seed)
    for _ in range(0, RESAMPLES, BATCH):
        yield drawing.integers(0, units, (BATCH, units))


@lru_cache(maxsize=2)
def _kept_draws(seed: int, units: int) -> list[IntArray]:
    return list(_draws(seed, units))


def _counted(seed: int, units: int) -> Iterable[FloatArray]:
    """Count how often each unit is drawn in the resamples: ``(R, n)`` after another."""
    return _kept_counts(seed, units) if units <= KEPT else map(_counts, _draws(seed, units))


@lru_cache(maxsize=2)
def _kept_counts(seed: int, units: int) -> list[FloatArray]:
    return [_counts(drawn) for drawn in _drawn(seed, units)]


def _counts(drawn: IntArray) -> FloatArray:
    resamples, units = drawn.shape
    places = (drawn + units * np.arange(resamples)[:, None]).ravel()
    return np.bincount(places, minlength=drawn.size).reshape(drawn.shape).astype(np.float64)


def _resampled(
    table: FloatArray, units: IntArray, own: np.random.Generator, nested: bool
) -> NDArray[Any]:
    """Draw a sample ``(K, n)`` anew, units ``(R, n)`` given: ``(R, K, n)``."""
    seeds, resamples = len(table), len(units)
    if seeds == 1:
        return np.asarray(table[0][units][:, None])
    drawn = own.integers(0, seeds, (resamples, seeds, units.shape[1] if nested else 1))
    return np.asarray(table[drawn, units[:, None, :]])
