"""What the order of arrival leaves to anyone, against every run of writes."""

from itertools import combinations

import numpy as np
import pytest

from instances import random_material
from memenvs.envs.memorization.rules import Rules
from memenvs.material.material import Material
from memenvs.materials.odyssey import odyssey
from memenvs.objective import Objective
from memenvs.optimal.arrival import arrival_bound, course_of


def test_odyssey_read_in_order():
    """With one slot: e1 pays .25, from e2 on .30, from e3 on .35 (e2 and e3 share q8)."""
    rules = Rules(capacity=1, every=1, closing=2)
    bound = arrival_bound(odyssey(), Objective("precision"), rules)
    assert bound.total == pytest.approx(0.25 + 0.30 + 3 * 0.35 + 2 * 0.35)
    assert bound.attained


def best_of_prefixes(material: Material, objective: Objective, rules: Rules) -> float:
    """Sum over settlements of the best of what was read, each found among all memories."""
    total = 0.0
    for t in range(1, len(material.claims) + 1):
        best = max(
            objective.expected(material, list(chosen))
            for size in range(rules.capacity + 1)
            for chosen in combinations(material.claim_ids[:t], size)
        )
        total += rules.due(t, len(material.claims)) * best
    return total


def best_of_runs(material: Material, objective: Objective, rules: Rules) -> float:
    """Try every run of writes: each claim is passed over, or takes a free slot or another's."""
    paid: dict[frozenset[str], float] = {frozenset(): 0.0}
    for t, claim in enumerate(material.claim_ids, start=1):
        after: dict[frozenset[str], float] = {}
        for memory, so_far in paid.items():
            written = [memory - {out} | {claim} for out in memory]
            if len(memory) < rules.capacity:
                written.append(memory | {claim})
            for new in [memory, *written]:
                after[new] = max(so_far, after.get(new, so_far))
        due = rules.due(t, len(material.claims))
        paid = {m: so_far + due * objective.expected(material, m) for m, so_far in after.items()}
    return max(paid.values())


@pytest.mark.parametrize("utility", ["coverage", "precision"])
def test_the_bound_is_what_the_best_run_of_writes_is_paid(utility):
    """A first memory of one claim may have to go for a better pair that the claim is not in."""
    objective, apart = Objective(utility), 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        material = random_material(rng, 7, 8, composite=0.3, false_share=0.3)
        rules = Rules(capacity=2, every=1, closing=2)
        expected = best_of_runs(material, objective, rules)
        bound = arrival_bound(material, objective, rules)
        assert bound.total == pytest.approx(expected)
        assert bound.attained
        apart += best_of_prefixes(material, objective, rules) > expected + 1e-9
        course = course_of(material, objective, rules, 10.0)
        assert course is not None
        assert course.proved
        # It can be run: never too large, and nothing comes back.
        before = course.held(1)
        for t in range(2, 8):
            held = course.held(t)
            assert held.sum() <= 2
            assert not (held[: t - 1] & ~before[: t - 1]).any()
            before = held
    assert apart > 0


@pytest.mark.parametrize("utility", ["coverage", "precision", "end-to-end"])
@pytest.mark.parametrize("reader", ["all", "similarity:1"])
def test_the_bound_lies_between_every_run_and_every_prefix(utility, reader):
    objective = Objective(utility, reader)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        material = random_material(rng, 6, 6, composite=0.3, false_share=0.3, conflicts=0.3)
        rules = Rules(capacity=2, every=2, queries=3, closing=5)
        bound = arrival_bound(material, objective, rules)
        assert bound.total >= best_of_runs(material, objective, rules) - 1e-9
        prefixes = best_of_prefixes(material, objective, rules)
        assert bound.total <= prefixes + 1e-9
        if reader != "all":
            assert bound.total == pytest.approx(prefixes)


def test_a_pool_is_there_at_once():
    rules = Rules(capacity=1, access="pool", every=4, closing=3)
    bound = arrival_bound(odyssey(), Objective("precision"), rules)
    assert bound.total == pytest.approx(0.35 * rules.total(12))
