"""What callers of the native batch do: seeds, options, pickles, policies, and mistakes."""

import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from batches import pair, random_material
from memenvs.envs.memorization.batch import bank
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.testing.batches import assert_same, assert_same_play, draw_actions


def test_what_left_the_environment_stays_as_it_was():
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        env = MemorizationVectorEnv("odyssey", num_envs=3, every=1, autoreset_mode=mode)
        outcomes = [env.reset(seed=0)]
        copies = [pickle.dumps(outcomes[0])]
        for _ in range(14):
            outcomes.append(env.step(np.ones(3, dtype=int)))
            copies.append(pickle.dumps(outcomes[-1]))
        assert [pickle.dumps(outcome) for outcome in outcomes] == copies


@pytest.mark.parametrize("kwargs", [{}, {"access": "pool"}, {"action": "priority"}])
def test_pickled_in_the_middle_it_goes_on_alike(kwargs):
    env = MemorizationVectorEnv("hidden", num_envs=4, capacity=5, every=2, **kwargs)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(9):
        env.step(draw_actions(env, env.action_masks(), rng))
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(70):
        actions = draw_actions(env, env.action_masks(), rng)
        mine, other = env.step(actions), twin.step(actions)
        assert_same(mine[0], other[0])
        assert_same(mine[-1], other[-1])
        np.testing.assert_array_equal(mine[1], other[1])


def test_few_rows_are_enough(monkeypatch):
    """A bank that holds hardly more than is in use plays the same."""
    monkeypatch.setattr(bank, "BYTES", 0)
    rng = np.random.default_rng(3)
    materials = [random_material(rng) for _ in range(9)]
    scalar, native = pair(materials, 3, AutoresetMode.SAME_STEP, every=2, capacity=2)
    assert_same_play(scalar, native, 80, seed=1)
    assert len(native._bank.claims) == 3
    assert native._bank.arrays["features"].shape[0] == 3


def test_a_callable_draws_fresh_materials():
    def draw(generator):
        return random_material(generator, claims=5)

    scalar, native = pair(draw, 3, AutoresetMode.NEXT_STEP, capacity=2, max_queries=9, every=1)
    assert_same_play(scalar, native, 20, seed=2)


def test_materials_are_chosen_for_all_or_for_each():
    env = MemorizationVectorEnv("hidden", num_envs=3, capacity=3)
    single = MemorizationEnv("hidden", capacity=3)

    def expected(material):
        return single.reset(seed=0, options={"material": material})[0]["claim"]

    given = single.materials[11]
    for chosen, numbers in ((5, [5, 5, 5]), ([4, 2, 4], [4, 2, 4]), (given, [11] * 3)):
        observation, _ = env.reset(seed=0, options={"material": chosen})
        for i, number in enumerate(numbers):
            np.testing.assert_allclose(observation["claim"][i], expected(number), atol=1e-6)
        assert [view.load() for view in env.privileged_views()] == [
            single.materials[n] for n in numbers
        ]
    with pytest.raises(ValueError, match="2 materials were given for 3 environments"):
        env.reset(options={"material": [1, 2]})


def test_seeds_of_every_kind():
    env = MemorizationVectorEnv("hidden", num_envs=3, capacity=3)

    def draws(seed):
        env.reset(seed=seed)
        return env._batch.account.draws.copy()

    np.testing.assert_array_equal(draws(4), draws([4, 5, 6]))
    assert env.np_random_seed == (4, 5, 6)
    mixed = draws([9, None, 6])
    np.testing.assert_array_equal(mixed[2], draws(4)[2])
    assert len(env.np_random) == 3
    with pytest.raises(ValueError, match="2 seeds were given for 3 environments"):
        env.reset(seed=[1, 2])


def test_disabled_autoreset_resets_what_is_asked():
    rng = np.random.default_rng(8)
    materials = [random_material(rng, claims=size) for size in (3, 5, 6)]
    scalar, native = pair(materials, 3, AutoresetMode.DISABLED, capacity=2, every=1)
    options = {"material": 1}
    scalar.reset(seed=1, options=dict(options))
    native.reset(seed=1, options={"material": [0, 1, 2]})
    for i, env in enumerate(scalar.envs):
        env.reset(seed=1 + i, options={"material": i})
    over = np.zeros(3, dtype=bool)
    for _ in range(12):
        if over.any():
            with pytest.raises(RuntimeError, match="reset_mask"):
                native.step(np.zeros(3, dtype=int))
            expected = scalar.reset(options={"reset_mask": over.copy()})
            mine = native.reset(options={"reset_mask": over})
            assert_same(mine[0], expected[0])
            assert_same(mine[1], expected[1])
        actions = draw_actions(native, native.action_masks(), rng)
        expected, mine = scalar.step(actions), native.step(actions)
        assert_same(mine[0], expected[0])
        assert_same(mine[-1], expected[-1])
        over = mine[2]
    for wrong in (np.zeros(3, dtype=bool), np.ones(2, dtype=bool), np.ones(3)):
        with pytest.raises(ValueError, match="reset_mask"):
            native.reset(options={"reset_mask": wrong})


def test_strict_names_the_environment_and_the_action():
    env = MemorizationVectorEnv("odyssey", num_envs=3, capacity=2, strict=True)
    env.reset(seed=0)
    with pytest.raises(
        ValueError, match=r"environment 1: action 2 \(write into slot 1\) is illegal here"
    ):
        env.step(np.array([0, 2, 9]))
    env = MemorizationVectorEnv("odyssey", num_envs=2, strict=True, action="priority")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="environment 0: the priority nan is illegal"):
        env.step(np.array([[np.nan], [0.0]]))


@pytest.mark.parametrize(
    ("kwargs", "problem"),
    [
        ({"num_envs": 0}, "num_envs=0 is not a positive integer"),
        ({"autoreset_mode": "Later"}, "autoreset_mode='Later' is unknown; choose from NEXT_STEP"),
        ({"max_episode_steps": 0}, "max_episode_steps=0 is not a positive integer"),
        ({"render_mode": "human"}, "shows one episode"),
        ({"capacity": 0}, "capacity=0 is not a positive integer"),
    ],
)
def test_bad_settings_are_named(kwargs, problem):
    with pytest.raises(ValueError, match=problem):
        MemorizationVectorEnv("odyssey", **kwargs)


def test_misuse_says_what_to_do():
    env = MemorizationVectorEnv("odyssey", num_envs=2)
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env.step(np.zeros(2, dtype=int))
    with pytest.raises(RuntimeError, match="reset\\(\\) for all first"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset()
    with pytest.raises(ValueError, match=r"actions have shape \(3,\), not \(2,\)"):
        env.step(np.zeros(3, dtype=int))


def test_it_is_rendered_as_single_environments_are():
    scalar, native = pair("odyssey", 2, AutoresetMode.SAME_STEP, capacity=2, render_mode="ansi")
    assert_same_play(scalar, native, 9, seed=0)
    assert native.render() == scalar.render()


@pytest.mark.parametrize("name", ["optimal", "fifo", "random"])
def test_policies_play_on_it_as_on_single_environments(name):
    scalar, native = pair("hidden", 3, AutoresetMode.SAME_STEP, capacity=4)
    mine, other = make(name, native), make(name, scalar)
    observation, expected = native.reset(seed=0)[0], scalar.reset(seed=0)[0]
    state = other_state = None
    start = np.ones(3, dtype=bool)
    for _ in range(40):
        actions, state = mine.predict(observation, state, start)
        wanted, other_state = other.predict(expected, other_state, start)
        np.testing.assert_array_equal(actions, wanted)
        observation, _, start, _, info = native.step(actions)
        expected, *_ = scalar.step(wanted)
    assert (info["illegal_action"] == 0).all()


def test_a_reset_in_the_middle_starts_the_time_limit_anew():
    env = MemorizationVectorEnv(
        "hidden", num_envs=2, capacity=3, max_episode_steps=4, autoreset_mode="SAME_STEP"
    )
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros(2, dtype=np.int64))
    env.reset()
    truncations = [env.step(np.zeros(2, dtype=np.int64))[3].tolist() for _ in range(4)]
    assert truncations == [[False] * 2] * 3 + [[True] * 2]


@pytest.mark.parametrize("number", [-1, 4096, 1.5, "x"])
def test_a_material_that_is_not_there_is_refused(number):
    for env in (
        MemorizationEnv("hidden", capacity=3),
        MemorizationVectorEnv("hidden", num_envs=2, capacity=3),
    ):
        with pytest.raises(ValueError, match="none of the 4096"):
            env.reset(options={"material": number})
