"""A policy trains with the memory's advice in view, and alike from equal seeds."""

import numpy as np
import pytest

from memenvs.train.studies.gui.advice import PARTS, compare, train

pytestmark = pytest.mark.slow


def test_both_are_trained_and_compared():
    found = compare("button", steps=1024, seeds=2)
    for name in ("without", "advised"):
        assert len(found[name]) == PARTS
        assert all(0 <= share <= 1 for share in found[name])
    low, high = found["interval"]
    assert low <= found["difference"] <= high


def test_equal_seeds_train_alike():
    first, second = (train("button", advised=True, steps=512, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)
