"""Environments whose reader reads a part of the memory: what is paid, what is told, who is best."""

import numpy as np
import pytest

from four import column
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.materials.odyssey import odyssey_noisy
from memenvs.objective import Objective
from memenvs.policies import make
from players import run

PRESETS = {"level 1b": {"every": 2}, "pool": {"access": "pool", "disclosure": "all"}}


def test_storing_everything_is_worth_less_than_four_claims():
    env = MemorizationEnv(
        "odyssey-noisy", capacity=7, reader="similarity:1", settlement="expected", closing=1
    )
    run(make("fifo", env), env)
    assert env.memory.all()
    assert env.episode.earned == pytest.approx(0.40)


def test_the_optimal_policy_reaches_the_best_of_four():
    env = MemorizationEnv("odyssey-noisy", capacity=4, reader="similarity:1", closing=1)
    run(make("optimal", env), env)
    assert Objective("precision", "similarity:1").expected(
        odyssey_noisy(), env.memory
    ) == pytest.approx(0.60)


@pytest.mark.parametrize("utility", ["coverage", "precision", "end-to-end"])
@pytest.mark.parametrize("reader", ["similarity:1", "similarity:2", "bm25:1", "tokens:2"])
def test_what_is_settled_is_what_the_objective_says(utility, reader):
    env = MemorizationEnv("odyssey-noisy", capacity=7, utility=utility, reader=reader, closing=1)
    objective, material = Objective(utility, reader), odyssey_noisy()
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(20):
        memory = rng.random(7) < 0.6
        expected = objective.answered(material, memory)
        stored = frozenset(np.flatnonzero(memory).tolist())
        settled = [env.episode.account.settle(query, stored) for query in range(8)]
        assert [s.answered for s in settled] == expected.astype(bool).tolist()
        for each in settled:
            assert each.claims <= each.read <= stored


def test_reads_are_shown_whether_answered_or_not():
    env = MemorizationEnv("odyssey-noisy", capacity=7, reader="similarity:1", every=1)
    observation, _ = env.reset(seed=1)
    over = False
    while not over:
        observation, _, over, _, _ = env.step(int(np.flatnonzero(env.action_masks())[-1]))
    reads = column(env, observation, "memory", "reads").sum()
    told = sum(len(settled.read) for settled in env.episode.log)
    assert reads == told > 0  # nothing was given up, so nothing was forgotten


def test_without_a_limit_nothing_of_it_is_shown():
    assert "reads" not in MemorizationEnv("odyssey", capacity=2).layout.memory.slices


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("utility", ["coverage", "precision", "end-to-end"])
@pytest.mark.parametrize("reader", ["similarity:1", "similarity:3", "tokens:3"])
@pytest.mark.parametrize("source", ["composite", "conflicting", "odyssey-noisy"])
def test_the_batch_plays_the_same(source, reader, utility, preset):
    settings = {
        "capacity": 5,
        "utility": utility,
        "reader": reader,
        "clearing": True,
        **PRESETS[preset],
    }
    batch = MemorizationVectorEnv(source, num_envs=2, **settings, autoreset_mode="Disabled")
    observation, _ = batch.reset(seed=[3, 4])
    singles = [MemorizationEnv(source, **settings) for _ in range(2)]
    seen = [env.reset(seed=3 + place)[0] for place, env in enumerate(singles)]
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = np.array([rng.choice(np.flatnonzero(m)) for m in batch.action_masks()])
        if any(env.episode.is_over() for env in singles):
            return
        observation, rewards, _, _, infos = batch.step(actions)
        for place, env in enumerate(singles):
            seen[place], reward, over, _, info = env.step(actions[place])
            assert reward == pytest.approx(rewards[place])
            for name, array in seen[place].items():
                np.testing.assert_allclose(
                    array, observation[name][place], rtol=0, atol=2e-5, err_msg=name
                )
            if over:
                assert info["utility"] == pytest.approx(infos["utility"][place])


def test_at_level_0_the_final_utility_is_that_of_the_asked_query():
    env = MemorizationEnv("readable", split="test", capacity=2, access="pool", disclosure="one")
    run(make("clairvoyant", env), env, seed=5)
    objective = env.episode.account.objective
    assert objective.query == env.episode.known_query
    best = objective.frontier(env.material, [2]).values[0]
    assert objective.expected(env.material, env.memory) == pytest.approx(best)


@pytest.mark.parametrize("reader", ["similarity:0", "nearest:2", "similarity:-1", 3])
def test_unknown_readers_are_refused_in_one_sentence(reader):
    with pytest.raises(ValueError, match="reader") as caught:
        MemorizationEnv("odyssey", capacity=2, reader=reader)
    assert "\n" not in str(caught.value)
