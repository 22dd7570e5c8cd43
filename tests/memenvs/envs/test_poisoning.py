"""The poisoning environment: rewards by hand, masks, and nothing that tells truth."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memenvs.envs.poisoning.compiled import compile_scenario
from memenvs.envs.poisoning.layout import LAYOUT
from memenvs.envs.poisoning.poisoning_env import PoisoningEnv
from memenvs.envs.poisoning.poisoning_vector import PoisoningVectorEnv
from memenvs.envs.poisoning.reasoner import NOISE, NOTHING, choose_line, cosines
from memenvs.materials.poisoning import scenario_set
from poisoned import QUESTION, tiny

EVEN = 0.5  # a random number that gives every line the same noise


def chosen(relevance, failed=None, offers=None, present=None, uniform=None):
    n = len(relevance)
    return int(
        choose_line(
            np.array(relevance),
            np.array(failed or [False] * n),
            np.array(offers or [True] * n),
            np.array(present or [True] * n),
            np.array(uniform or [EVEN] * n),
        )
    )


def test_the_reasoner_prefers_ends_successes_and_answers():
    assert chosen([0.8, 0.99, 0.7]) == 0  # the middle one counts .7425
    assert chosen([0.7, 0.99, 0.74]) == 1
    assert chosen([0.9, 0.4], failed=[True, False]) == 1  # .27 against .4
    assert chosen([0.9, 0.4], offers=[False, True]) == 0  # .45 against .4
    assert chosen([0.7, 0.4], offers=[False, True]) == 1
    assert chosen([0.9, 0.4], present=[False, True]) == 1
    assert chosen([0.9, 0.4], present=[False, False]) == NOTHING


def test_absent_lines_have_no_place():
    # Of three present ones the second is in the middle, whatever stands between.
    assert chosen([0.8, 0.9, 0.99, 0.7], present=[True, False, True, True]) == 0


def test_noise_is_gumbel_s():
    # Line 1 wins if its noise is larger by more than .1: 1 / (1 + exp(.1 / scale)) of the time.
    drawn = np.random.default_rng(0).random((20_000, 2))
    shape = drawn.shape
    lines = choose_line(
        np.broadcast_to([0.5, 0.4], shape),
        np.zeros(shape, dtype=bool),
        np.ones(shape, dtype=bool),
        np.ones(shape, dtype=bool),
        drawn,
    )
    assert lines.mean() == pytest.approx(1 / (1 + np.exp(0.1 / NOISE)), abs=0.01)


def play(env, scenario, contexts):
    """Give the rewards of the prompts whose entries are listed."""
    env.reset(seed=0, options={"scenario": scenario})
    rewards = []
    for entries in contexts:
        total = 0.0
        for number in entries:
            *_, reward, over, _, _ = (None, *env.step(1 + number))
            total += reward
        _, reward, over, _, info = env.step(0)
        rewards.append(total + reward)
    assert over
    return rewards, info


def test_rewards_and_finals_by_hand():
    scenario = tiny()
    sizes = [entry.tokens for entry in scenario.entries]
    assert sizes == [9, 9, 7, 9]
    env = PoisoningEnv(price=0.5)
    rewards, info = play(env, scenario, [[0], [1], [], [0, 2], [3]])
    # Prompts 1 and 4 count; a token costs .005.
    assert rewards == pytest.approx([-0.045, 1 - 0.045, 0, -0.08, -1 - 0.045])
    assert info["accuracy"] == 0.5
    assert info["attack_success_rate"] == 0.5
    assert info["utility"] == 0.0
    assert info["poison_retrieval_rate"] == pytest.approx(3 / 5)
    assert info["blast_radius"] == pytest.approx(3 / 5)
    assert info["prompt_tokens"] == pytest.approx((9 + 9 + 0 + 16 + 9) / 5)
    assert info["settled"] == pytest.approx(sum(rewards))


def test_an_entry_that_does_not_answer_pays_nothing():
    rewards, _ = play(PoisoningEnv(), tiny(), [[], [], [], [], [2]])
    assert rewards == [0, 0, 0, 0, 0]


def test_masks_follow_what_is_recorded_and_what_fits():
    env = PoisoningEnv(budget=17)
    env.reset(seed=0, options={"scenario": tiny()})
    for legal in ([0, 1], [0, 1, 2], [0, 1, 2, 3]):
        assert np.flatnonzero(env.action_masks()).tolist() == legal
        env.step(0)
    assert np.flatnonzero(env.action_masks()).tolist() == [0, 1, 2, 3, 4]
    env.step(1)  # 8 tokens are left
    assert np.flatnonzero(env.action_masks()).tolist() == [0, 3]
    env.step(3)
    assert np.flatnonzero(env.action_masks()).tolist() == [0]


def test_columns_by_hand():
    env = PoisoningEnv()
    env.reset(seed=0, options={"scenario": tiny(official=True)})
    for _ in range(4):
        observation, *_ = env.step(0)
    observation, *_ = env.step(1)

    def column(name):
        return observation["entries"][:4, LAYOUT.index(name)].tolist()

    assert column("valid") == [1, 1, 1, 1]
    assert column("answers") == [1, 1, 0, 1]
    assert column("success") == [1, 1, 1, 0]
    assert column("official") == [0, 1, 0, 0]
    assert column("superseded") == [1, 0, 0, 0]
    assert column("differing") == [0.5, 0.5, 0, 0.5]
    assert column("agreeing") == [0, 0, 0, 0]
    assert column("same_subtask") == [0, 0, 0, 0]  # the final step is at the root
    assert column("age") == [0.75, 0.5, 0.25, 0]
    assert column("chosen") == [1, 0, 0, 0]
    assert column("differing_chosen") == [0, 0.25, 0, 0.25]
    assert column("relevance")[1] == pytest.approx(
        cosines([QUESTION], ["the colour of the door is blue"])[0, 0]
    )
    assert observation["entries"][4:].any() == 0
    context = observation["context"]
    assert context[LAYOUT.index("at_root", "context")] == 1
    assert context[LAYOUT.index("room", "context")] == pytest.approx((120 - 9) / 100)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.integers(0, 2**32 - 1))
def test_no_observation_shows_truth(number, seed):
    scenario = scenario_set("validation", 0)[number]
    rng = np.random.default_rng(seed)
    flags = rng.permutation([entry.poisoned for entry in scenario.entries]).tolist()
    entries = [
        replace(entry, poisoned=flag) for entry, flag in zip(scenario.entries, flags, strict=True)
    ]
    slots = [replace(slot, answer=f"other {n}") for n, slot in enumerate(scenario.slots)]
    other = replace(scenario, entries=tuple(entries), slots=tuple(slots))
    env, twin = PoisoningEnv(), PoisoningEnv()
    mine, _ = env.reset(seed=1, options={"scenario": scenario})
    theirs, _ = twin.reset(seed=1, options={"scenario": other})
    over = False
    while not over:
        for name, array in mine.items():
            np.testing.assert_array_equal(array, theirs[name])
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        mine, _, over, *_ = env.step(action)
        theirs, *_ = twin.step(action)


def test_later_entries_change_nothing_before():
    scenario = scenario_set("validation", 0)[5]
    whole = compile_scenario(scenario)
    for prompt, asked in enumerate(scenario.prompts[:-1]):
        cut = replace(
            scenario,
            entries=scenario.entries[: asked.recorded],
            prompts=scenario.prompts[: prompt + 1],
        )
        part = compile_scenario(cut)
        np.testing.assert_array_equal(part.fixed[prompt], whole.fixed[prompt])


def test_a_batch_plays_the_scenarios_it_is_given():
    scenarios = scenario_set("validation", 0)[:3]
    batch = PoisoningVectorEnv(num_envs=3, autoreset_mode="Disabled")
    observation, _ = batch.reset(seed=4, options={"scenario": scenarios})
    for row, scenario in enumerate(scenarios):
        env = PoisoningEnv()
        mine, _ = env.reset(seed=4 + row, options={"scenario": scenario})
        assert env.scenario is scenario
        np.testing.assert_array_equal(mine["entries"], observation["entries"][row])
    batch.step(np.zeros(3, dtype=np.int64))
    mask = np.array([True, False, False])
    again, _ = batch.reset(
        seed=[4, None, None], options={"scenario": scenarios, "reset_mask": mask}
    )
    np.testing.assert_array_equal(again["entries"][0], observation["entries"][0])
    assert batch.action_masks().shape == (3, 25)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"budget": 0}, "budget=0 is not a positive integer"),
        ({"price": -1.0}, "price=-1.0 is not a number of 0 or more"),
        ({"price": float("nan")}, "price=nan"),
        ({"split": "ood"}, "no split 'ood'"),
    ],
)
def test_bad_settings_are_named(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        gym.make("memenvs/Poisoning-v0", **arguments)


def test_strict_names_the_illegal_action():
    env = PoisoningEnv(strict=True)
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env.step(0)
    env.reset(seed=0, options={"scenario": tiny()})
    with pytest.raises(ValueError, match=r"action 2 \(entry 1\) is illegal"):
        env.step(2)
    with pytest.raises(ValueError, match=r"action 99 \(there are 25\) is illegal"):
        env.step(99)
