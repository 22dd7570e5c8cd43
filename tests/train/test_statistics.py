"""Intervals: by hand, on degenerate data, and how often they hold the truth."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, trim_mean

from memenvs.train.statistics import (
    difference,
    improvement,
    interquartile_mean,
    interval,
    mean_interval,
    normalised_interval,
    normalised_score,
)


def test_interval_of_two_values_spans_the_possible_means() -> None:
    # Means of two draws from {0, 1}: 0, .5 and 1 with probabilities 1/4, 1/2 and 1/4.
    assert mean_interval(np.array([0.0, 1.0])) == (0.0, 1.0)


def test_interval_matches_the_binomial() -> None:
    values = np.array([1.0] * 50 + [0.0] * 50)
    low, high = mean_interval(values)
    # 2.5% and 97.5% of Binomial(100, .5) / 100 are .40 and .60
    assert low == pytest.approx(0.40, abs=0.011)
    assert high == pytest.approx(0.60, abs=0.011)


def test_interval_of_equal_values_is_their_mean() -> None:
    values = np.full(7, 0.1)
    assert mean_interval(values) == (values.mean(), values.mean())


@pytest.mark.parametrize("values", [[], [0.3]])
def test_no_interval_of_fewer_than_two(values: list[float]) -> None:
    assert mean_interval(np.array(values)) is None


def test_interval_is_reproducible_and_depends_on_the_seed() -> None:
    values = np.random.default_rng(0).normal(size=12)
    assert mean_interval(values, 1) == mean_interval(values, 1)
    assert mean_interval(values, 1) != mean_interval(values, 2)


def test_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    intervals = [mean_interval(rng.exponential(size=40)) for _ in range(200)]
    held = np.mean([low <= 1.0 <= high for low, high in intervals])
    # Percentile intervals of skewed data are known to fall a little short of 95%.
    assert 0.87 <= held <= 0.99


def test_normalised_score_by_hand() -> None:
    reached, lowest, highest = np.array([0.3, 0.5]), np.array([0.1, 0.3]), np.array([0.5, 0.9])
    assert normalised_score(reached, lowest, highest) == pytest.approx((0.4 - 0.2) / (0.7 - 0.2))


def test_normalised_score_is_empty_where_random_is_optimal() -> None:
    ones = np.ones(3)
    assert normalised_score(ones, ones, ones) is None
    assert normalised_interval(ones, ones, ones) is None


def test_normalised_interval_resamples_in_pairs() -> None:
    # Whatever is drawn, the score is 1/2: pairing is what makes the interval a point.
    lowest = np.array([0.0, 0.2, 0.4])
    highest = np.array([1.0, 0.6, 0.8])
    low, high = normalised_interval((lowest + highest) / 2, lowest, highest)
    assert low == pytest.approx(0.5)
    assert high == pytest.approx(0.5)


def test_normalised_interval_is_empty_where_a_resample_leaves_it_undefined() -> None:
    lowest, highest = np.array([0.0, 0.5]), np.array([1.0, 0.5])
    assert normalised_interval(lowest, lowest, highest) is None


def test_an_interval_over_seeds_and_units_matches_both_variances() -> None:
    # Cells are a seed's effect and a unit's: the variance of the mean is the sum of theirs.
    rng = np.random.default_rng(3)
    seeds, units = rng.normal(size=(40, 1)), 2 * rng.normal(size=(1, 50))
    low, high = mean_interval(seeds + units)
    wanted = 2 * 1.96 * np.sqrt(seeds.var() / 40 + units.var() / 50)
    assert high - low == pytest.approx(wanted, rel=0.06)


def test_an_interval_over_models_of_each_unit_draws_them_apart() -> None:
    # Within a unit all is chance of its own: K·n models behave as so many independent values.
    values = np.random.default_rng(4).normal(size=(8, 60))
    values -= values.mean(axis=0)  # units do not differ
    low, high = mean_interval(values, nested=True)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(480), rel=0.06)


def test_seeds_of_one_unit_have_an_interval() -> None:
    assert mean_interval(np.array([[0.0], [1.0]])) == (0.0, 1.0)


def test_interquartile_mean_by_hand() -> None:
    assert interquartile_mean(np.array([[9.0, 1.0, 2.0, 100.0]])) == pytest.approx((2 + 9) / 2)
    values = np.random.default_rng(0).normal(size=(3, 7))
    assert interquartile_mean(values) == pytest.approx(trim_mean(values.ravel(), 0.25))


def test_improvement_is_the_share_of_pairs_won() -> None:
    reached = np.array([[1.0, 3.0], [2.0, 0.0]])  # two seeds on two units
    baseline = np.array([[1.0, 2.0]])
    # unit 1: a tie and a win, .75; unit 2: a win and a loss, .5
    assert improvement(reached, baseline) == pytest.approx(0.625)
    assert improvement(baseline, reached) == pytest.approx(0.375)
    expected = [
        mannwhitneyu(reached[:, unit], baseline[:, unit]).statistic / 2 for unit in range(2)
    ]
    assert improvement(reached, baseline) == pytest.approx(np.mean(expected))


def test_a_difference_is_paired_over_units() -> None:
    units = np.random.default_rng(1).normal(size=50)
    low, high = interval([units + 0.5, units], difference)
    assert low == pytest.approx(0.5)
    assert high == pytest.approx(0.5)
