"""What the order of arrival leaves to anyone, against all memories of what was read."""

from itertools import combinations

import numpy as np
import pytest

from instances import random_material
from memenvs.envs.memorization.rules import Rules
from memenvs.materials.odyssey import odyssey
from memenvs.objective import Objective
from memenvs.optimal.arrival import arrival_bound


def test_odyssey_read_in_order():
    """With one slot: e1 pays .25, from e2 on .30, from e3 on .35 (e2 and e3 share q8)."""
    rules = Rules(capacity=1, every=1, closing=2)
    bound = arrival_bound(odyssey(), Objective("precision"), rules)
    assert bound.total == pytest.approx(0.25 + 0.30 + 3 * 0.35 + 2 * 0.35)
    assert bound.proved


@pytest.mark.parametrize("utility", ["coverage", "precision", "end-to-end"])
@pytest.mark.parametrize("reader", ["all", "similarity:1"])
def test_the_bound_is_that_of_every_prefix(utility, reader):
    objective = Objective(utility, reader)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        material = random_material(rng, 6, 6, composite=0.3, false_share=0.3, conflicts=0.3)
        rules = Rules(capacity=2, every=2, queries=3, closing=5)
        expected = 0.0
        for t in range(1, 7):
            best = max(
                objective.expected(material, list(chosen))
                for size in range(3)
                for chosen in combinations(material.claim_ids[:t], size)
            )
            expected += rules.due(t, 6) * best
        assert arrival_bound(material, objective, rules).total == pytest.approx(expected)


def test_a_pool_is_there_at_once():
    rules = Rules(capacity=1, access="pool", every=4, closing=3)
    bound = arrival_bound(odyssey(), Objective("precision"), rules)
    assert bound.total == pytest.approx(0.35 * rules.total(12))
