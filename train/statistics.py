"""Bootstrap intervals of means and of ratios of mean differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memenvs.incidence import FloatArray

Interval: TypeAlias = tuple[float, float]

RESAMPLES = 5000
LEVEL = 0.95
COINCIDE = 1e-9  # differences below this are rounding


def mean_interval(values: FloatArray, seed: int = 0) -> Interval | None:
    """Percentile bootstrap interval of the mean of ``values`` ``(n,)``; None for fewer than two.

    Equal seeds resample the same units, so that intervals of several measures are comparable.
    """
    if len(values) < 2:
        return None
    if np.ptp(values) == 0:
        return float(values.mean()), float(values.mean())
    return _percentiles((values,), np.mean, seed)


def normalised_score(reached: FloatArray, lowest: FloatArray, highest: FloatArray) -> float | None:
    """Mean of ``reached`` where that of ``lowest`` is 0 and of ``highest`` 1; None if they meet."""
    span = highest.mean() - lowest.mean()
    return None if abs(span) < COINCIDE else float((reached.mean() - lowest.mean()) / span)


def normalised_interval(
    reached: FloatArray, lowest: FloatArray, highest: FloatArray, seed: int = 0
) -> Interval | None:
    """Percentile bootstrap interval of ``normalised_score``; the three ``(n,)`` are paired.

    None for fewer than two units, and where a resample leaves the score undefined.
    """
    if len(reached) < 2:
        return None
    undefined = False

    def score(
        reached: FloatArray, lowest: FloatArray, highest: FloatArray, axis: int
    ) -> FloatArray:
        nonlocal undefined
        base = lowest.mean(axis=axis)
        span = highest.mean(axis=axis) - base
        meet = np.abs(span) < COINCIDE
        undefined |= bool(np.any(meet))
        return np.asarray((reached.mean(axis=axis) - base) / np.where(meet, 1.0, span))

    interval = _percentiles((reached, lowest, highest), score, seed)
    return None if undefined else interval


def _percentiles(
    samples: tuple[FloatArray, ...], statistic: Callable[..., Any], seed: int
) -> Interval:
    from scipy.stats import bootstrap

    found: NDArray[np.float64] = np.array(
        bootstrap(
            samples,
            statistic,
            n_resamples=RESAMPLES,
            batch=1000,  # bounds the memory that many episodes take
            confidence_level=LEVEL,
            method="percentile",
            paired=True,
            vectorized=True,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    )
    return float(found[0]), float(found[1])
