"""The clairvoyant streaming greedy against every replacement, tried one by one."""

from dataclasses import replace

import numpy as np
import pytest

from instances import random_material
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.envs.memorization.slots import EMPTY
from memenvs.objective import Objective
from memenvs.policies import make, policy_class
from memenvs.policies.oracles.clairvoyant import ExactUtility
from players import SETTINGS, material, run

KINDS = {
    "plain": ({"false_share": 0.4}, "precision"),
    "coverage": ({"false_share": 0.4}, "coverage"),
    "composite": ({"false_share": 0.3, "composite": 0.6}, "precision"),
    "conflicts": ({"false_share": 0.4, "conflicts": 0.5}, "precision"),
    "uncertain": ({"fractional_truth": True}, "precision"),
    "end-to-end": ({"false_share": 0.4}, "end-to-end"),
}


def utility_of(material, kind, memory):
    return {
        "coverage": material.coverage,
        "precision": material.precision,
        "end-to-end": material.end_to_end,
    }[kind](memory)


@pytest.mark.parametrize("kind", KINDS)
def test_utilities_of_replacements(kind):
    settings, utility = KINDS[kind]
    rng = np.random.default_rng(0)
    for _ in range(10):
        drawn = random_material(rng, 9, 8, **settings)
        slots = rng.choice(9, size=4, replace=False)
        claim = int(np.setdiff1d(np.arange(9), slots)[0])
        slots[rng.random(4) < 0.3] = EMPTY
        now, after = ExactUtility(drawn, Objective(utility)).replacements(slots, claim)
        memory = [f"c{c}" for c in slots if c != EMPTY]
        assert now == pytest.approx(utility_of(drawn, utility, memory))
        for place in range(4):
            left = [f"c{c}" for i, c in enumerate(slots) if c != EMPTY and i != place]
            value = utility_of(drawn, utility, [*left, f"c{claim}"])
            assert after[place] == pytest.approx(value)


@pytest.mark.parametrize("kind", KINDS)
def test_no_replacement_is_better(kind):
    settings, utility = KINDS[kind]
    rng = np.random.default_rng(1)
    for episode in range(6):
        drawn = random_material(rng, 10, 8, **settings)
        env = MemorizationEnv(drawn, capacity=3, utility=utility)
        policy = make("clairvoyant", env)
        observation, _ = env.reset(seed=episode)
        over, state = False, None
        while not over:
            before = [f"c{c}" for c in env.episode.slots.claims]
            claim = f"c{env.episode.considered}"
            options = [[c for c in before if c != "c-1"]]
            for slot in np.flatnonzero(env.action_masks()[1:]):
                kept = [c for i, c in enumerate(before) if i != slot and c != "c-1"]
                options.append([*kept, claim])
            action, state = policy.predict(observation, state)
            observation, _, over, _, _ = env.step(action)
            best = max(utility_of(drawn, utility, memory) for memory in options)
            assert utility_of(drawn, utility, env.memory) == pytest.approx(best)


def test_true_parts_fill_free_slots_until_something_pays():
    drawn = random_material(np.random.default_rng(3), 8, 6, composite=1.0)
    env = MemorizationEnv(drawn, capacity=3)
    history = run(make("clairvoyant", env), env)
    assert history[2] == [0, 1, 2]


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_kind_of_environment(kind):
    env = MemorizationEnv(material(), capacity=3, **SETTINGS[kind])
    run(make("clairvoyant", env), env, episodes=2)
    assert policy_class("clairvoyant").privileged


def test_at_level_0_the_known_query_decides():
    drawn = material()
    axes = np.eye(8).tolist()
    claims = [replace(c, embedding=tuple(v)) for c, v in zip(drawn.claims, axes, strict=True)]
    queries = [replace(q, embedding=tuple(v)) for q, v in zip(drawn.queries, axes, strict=True)]
    drawn = replace(drawn, claims=tuple(claims), queries=tuple(queries))
    env = MemorizationEnv(drawn, capacity=1, **SETTINGS["single query"])
    for seed in range(5):
        run(make("clairvoyant", env), env, seed=seed)
        query = env.episode.known_query
        assert env.episode.earned == float(drawn.claims[query].truth)


def test_batch_equals_single():
    settings = {"split": "validation", "capacity": 4, "every": 2}
    env = MemorizationEnv("worlds", **settings)
    batch = MemorizationVectorEnv("worlds", num_envs=3, **settings, autoreset_mode="Disabled")
    observation, _ = batch.reset(seed=[7, 8, 9])
    policy, state, over = make("clairvoyant", batch), None, False
    while not over:
        actions, state = policy.predict(observation, state)
        observation, _, terminated, _, infos = batch.step(actions)
        over = terminated.all()
    for place in range(3):
        run(make("clairvoyant", env), env, seed=7 + place)
        assert env.material.precision(env.memory) == pytest.approx(infos["precision"][place])
