"""Intervals: by hand, on degenerate data, and how often they hold the truth."""

import numpy as np
import pytest

from memenvs.train.statistics import mean_interval, normalised_interval, normalised_score


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
