"""The oracles reach their plans through the same actions as everybody else."""

import numpy as np
import pytest

from memenvs import frontier
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.objective import Objective
from memenvs.policies import make
from players import SETTINGS, material, run


@pytest.mark.parametrize("access", ["stream", "pool"])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("odyssey", [0.35, 0.60, 0.80, 0.90, 0.95, 1.00]),
        # The false claim takes a slot of the coverage optimum and none of the precision optimum.
        ("odyssey-noisy", [0.35, 0.60, 0.80, 0.90, 0.95, 1.00, 1.00]),
    ],
)
def test_the_optimal_policy_reaches_the_frontier(name, values, access):
    for capacity, value in enumerate(values, start=1):
        for policy in ("optimal", "greedy"):
            env = MemorizationEnv(name, capacity=capacity, access=access, closing=1)
            run(make(policy, env), env)
            assert env.material.precision(env.memory) == pytest.approx(value)


def test_under_coverage_the_plan_stores_the_false_claim():
    env = MemorizationEnv("odyssey-noisy", capacity=1, utility="coverage")
    run(make("optimal", env), env)
    assert env.material.coverage(env.memory) == pytest.approx(0.45)
    assert env.material.precision(env.memory) == 0


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_kind_of_environment_lets_the_plan_through(kind):
    env = MemorizationEnv(material(), capacity=3, **SETTINGS[kind])
    m = material()
    run(make("optimal", env), env)
    budget = SETTINGS[kind].get("budget")
    objective = Objective("precision", query=env.episode.known_query)
    best = frontier(
        m,
        objective,
        [3 if budget is None else budget],
        costs=np.ones(8) if budget is None else None,
        max_claims=3,
    )
    assert objective.expected(m, env.memory) == pytest.approx(best.values[0])


def test_plans_follow_the_material_of_the_episode():
    env = MemorizationEnv(
        [material(), material(lengths=(1, 2, 3, 4, 5))], capacity=2, **LEVELS["2"]
    )
    policy = make("optimal", env)
    for place in (0, 1, 0):
        observation, _ = env.reset(seed=0, options={"material": place})
        over = False
        while not over:
            action, _ = policy.predict(observation)
            observation, _, over, _, info = env.step(action)
        best = frontier(env.material, "precision", [2], costs=np.ones(len(env.material.claims)))
        assert info["precision"] == pytest.approx(best.values[0])
