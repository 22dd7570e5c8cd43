"""Every family answers alike what a caller asks of any environment, scalar or vector, or a game."""

import copy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from memenvs.games import asker_writer_v0, poisoner_writer_v0, shared_writers_v0
from memenvs.testing.batches import assert_same, assert_same_play, draw_actions
from memenvs.wrappers import FinalInfo

# Id, settings, and an instance of its own for each of three environments.
FAMILIES = {
    "slots": ("memenvs/Hidden-v0", {}, [3, 1, 2]),
    "pool": ("memenvs/KnownQueries-v0", {}, [0, 0, 0]),
    "priority": ("memenvs/Hidden-v0", {"action": "priority"}, [3, 1, 2]),
    "poisoning": ("memenvs/Poisoning-v0", {}, [3, 1, 2]),
    "panels": ("memenvs/Panels-tabs-2-v0", {}, [3, 1, 2]),
}
GAMES = {"shared": shared_writers_v0, "poisoner": poisoner_writer_v0, "asker": asker_writer_v0}
MATERIAL = {"material": "hidden"}

each_family = pytest.mark.parametrize("family", FAMILIES)
each_game = pytest.mark.parametrize("game", GAMES)


def single(family, **settings):
    identifier, fixed, _ = FAMILIES[family]
    return gym.make(identifier, **fixed, **settings)


def batch(family, number=3, **settings):
    identifier, fixed, _ = FAMILIES[family]
    return gym.make_vec(identifier, num_envs=number, **fixed, **settings)


def play(env, rng):
    """A legal action of a scalar environment, or those of a batch."""
    if isinstance(env, gym.vector.VectorEnv):
        return draw_actions(env, env.action_masks(), rng)
    if isinstance(env.action_space, gym.spaces.Box):
        return rng.uniform(-1, 1, 1).astype(np.float32)
    return int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))


def play_game(env, rng):
    """Legal actions of every agent."""
    return {
        name: (rng.random(mask.shape) * mask).argmax(axis=1) for name, mask in env.masks().items()
    }


def kinds(family):
    return single(family), batch(family)


@each_family
@pytest.mark.parametrize("mode", AutoresetMode)
def test_autoreset_is_spelled_as_you_like(family, mode):
    for written in (mode, mode.name, mode.value):
        env = batch(family, autoreset_mode=written)
        assert env.autoreset_mode == env.metadata["autoreset_mode"] == mode


@each_family
def test_an_unknown_autoreset_mode_is_refused(family):
    sentence = "autoreset_mode='Later' is unknown; choose from NEXT_STEP, SAME_STEP, DISABLED"
    with pytest.raises(ValueError, match=sentence):
        batch(family, autoreset_mode="Later")


@each_family
@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_a_time_limit_ends_an_episode_with_its_finals(family, mode):
    native = batch(family, autoreset_mode=mode, max_episode_steps=3)
    scalar = SyncVectorEnv(
        [lambda: FinalInfo(single(family, max_episode_steps=3))] * 3,
        autoreset_mode=native.autoreset_mode,
    )
    assert_same_play(scalar, native, 12, seed=1)
    native.reset(seed=0)
    rng = np.random.default_rng(0)
    done = np.zeros(3, dtype=bool)
    for _ in range(3):
        *_, terminated, truncated, infos = native.step(play(native, rng))
        told = infos.get("final_info", infos)
        np.testing.assert_array_equal(told["final"], terminated | truncated)
        done |= terminated | truncated
    assert done.all()
    assert truncated.any()


@each_family
@pytest.mark.parametrize("number", [0, -1, 1.5, True])
def test_counts_are_checked(family, number):
    for name in ("num_envs", "max_episode_steps"):
        with pytest.raises(ValueError, match=f"{name}={number!r} is not a positive integer"):
            type(batch(family))(**arguments(family), **{"num_envs": 2, name: number})


def arguments(family):
    identifier, fixed, _ = FAMILIES[family]
    return {**gym.spec(identifier).kwargs, **fixed}


@each_family
def test_every_family_renders_text(family):
    env, vector = single(family, render_mode="ansi"), batch(family, 1, render_mode="ansi")
    env.reset(seed=4)
    vector.reset(seed=4)
    action = play(env, np.random.default_rng(0))
    env.step(action)
    vector.step(np.array([action]))
    assert isinstance(env.render(), str)
    assert vector.render() == (env.render(),)


@each_family
def test_an_unknown_render_mode_is_refused(family):
    for env in kinds(family):
        make = type(env.unwrapped)
        with pytest.raises(ValueError, match="render_mode='smoke' is unknown; choose from ansi"):
            make(**arguments(family), render_mode="smoke")
        with pytest.raises(RuntimeError, match="no episode has begun"):
            make(**arguments(family), render_mode="ansi").render()


def wrong_resets(env, three):
    """Arguments of a reset that are refused, and what is said."""
    instance = env.unwrapped.family.instance
    wrong = [
        ({"options": {"split": "test"}}, f"no option 'split'; the nearest is '.*{instance}"),
        ({"options": {instance: "nowhere"}}, "nowhere"),
        ({"options": {instance: -1}}, "-1"),
        ({"options": [1]}, "are a dictionary"),
    ]
    if three:
        wrong += [
            ({"options": {instance: [1, 2]}}, f"2 {instance}s were given for 3 environments"),
            ({"options": {"reset_mask": np.zeros(3, dtype=bool)}}, "reset_mask"),
            ({"options": {"reset_mask": np.ones(2, dtype=bool)}}, "reset_mask"),
            ({"options": {"reset_mask": np.ones(3)}}, "reset_mask"),
            ({"seed": [1, 2]}, "2 seeds were given for 3 environments"),
            ({"seed": "x"}, "seed='x' is not an integer"),
            ({"seed": 1, "options": {instance: [0, 0, -1]}}, "-1"),
        ]
    return wrong


def outcome(env, rng, choose=play):
    """What the next steps and the reset after them show."""
    seen = []
    for _ in range(2):
        observation, reward, *over, _ = env.step(choose(env, rng))
        seen.append((observation, reward))
        if over[0] is True or over[1] is True:  # of one episode
            break
    return [*seen, env.reset()[0]]


def flat(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flat(value[key])]
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in flat(each)]
    return [np.asarray(value)]


def assert_equal(mine, other):
    for left, right in zip(flat(mine), flat(other), strict=True):
        np.testing.assert_array_equal(left, right)


@each_family
@pytest.mark.parametrize("three", [False, True])
def test_a_refused_reset_changes_nothing(family, three):
    env = batch(family) if three else single(family)
    env.reset(seed=5)
    env.step(play(env, np.random.default_rng(0)))
    twin = copy.deepcopy(env)
    for arguments, sentence in wrong_resets(env, three):
        with pytest.raises(ValueError, match=sentence):
            env.reset(**arguments)
    rng = np.random.default_rng(1)
    assert_equal(outcome(env, copy.deepcopy(rng)), outcome(twin, rng))


@each_family
@pytest.mark.parametrize("three", [False, True])
def test_a_reset_that_fails_leaves_no_episode(family, three, monkeypatch):
    env = batch(family) if three else single(family).unwrapped
    env.reset(seed=5)
    actions = play(env, np.random.default_rng(0))

    def fail(*_):
        raise OSError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(type(env), "begin", fail)
        with pytest.raises(OSError, match="the disk is gone"):
            env.reset()
    with pytest.raises(RuntimeError, match="no episode has begun; call reset"):
        env.step(actions)
    if three:
        with pytest.raises(RuntimeError, match=r"call reset\(\) for all first"):
            env.reset(options={"reset_mask": np.array([True, False, False])})
    env.reset()
    env.step(play(env, np.random.default_rng(0)))


@each_family
def test_instances_are_for_all_or_for_each(family):
    _, _, numbers = FAMILIES[family]
    env, vector = kinds(family)
    instance = vector.family.instance
    for given in (numbers, tuple(numbers), np.array(numbers), [numbers[0], None, numbers[2]]):
        seen, _ = vector.reset(seed=2, options={instance: given})
        for place, number in enumerate(given):
            wanted = {} if number is None else {instance: number}
            alone, _ = env.reset(seed=2 + place, options=wanted)
            assert_same({k: v[place] for k, v in seen.items()}, alone)
    seen, _ = vector.reset(seed=2, options={instance: numbers[0]})
    for place in range(3):
        alone, _ = env.reset(seed=2 + place, options={instance: numbers[0]})
        assert_same({k: v[place] for k, v in seen.items()}, alone)


@each_family
def test_actions_of_another_shape_or_type_are_refused(family):
    env, vector = kinds(family)
    numbered = family != "priority"
    shape = "()" if numbered else "(1,)"
    env.reset(seed=0)
    vector.reset(seed=0)
    before = copy.deepcopy(vector)
    with pytest.raises(ValueError, match="actions have shape"):
        env.step(np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="actions have shape"):
        vector.step(np.zeros(2, dtype=np.int64))
    dtype = float if numbered else str
    for stepped, count in ((env, ()), (vector, (3,))):
        with pytest.raises(ValueError, match=r"actions are (integers|numbers), and these have"):
            stepped.step(np.zeros((*count, *(() if shape == "()" else (1,))), dtype=dtype))
    with pytest.raises(ValueError, match="actions"):
        env.step(None)
    rng = np.random.default_rng(0)
    assert_equal(outcome(vector, copy.deepcopy(rng)), outcome(before, rng))


@each_family
def test_an_action_that_is_none_is_counted_or_refused(family):
    wrong = np.array([np.nan]) if family == "priority" else 10**6
    env, vector = single(family), batch(family)
    env.reset(seed=0)
    *_, info = env.step(wrong)
    assert info["illegal_action"] == 1
    vector.reset(seed=0)
    *_, infos = vector.step(np.array([wrong, wrong, wrong]))
    assert infos["illegal_action"].tolist() == [1, 1, 1]
    env, vector = single(family, strict=True), batch(family, strict=True)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"is illegal here; the legal ones stand in action_masks"):
        env.step(wrong)
    vector.reset(seed=0)
    legal = play(vector, np.random.default_rng(0))
    legal[1] = wrong
    with pytest.raises(ValueError, match=r"^environment 1: .* is illegal here; the legal ones"):
        vector.step(legal)


@each_family
def test_infos_have_the_same_keys_from_the_reset_to_the_end(family):
    env = single(family)
    rng = np.random.default_rng(0)
    for _ in range(2):
        _, info = env.reset(seed=1)
        keys = {name: type(value) for name, value in info.items()}
        assert not info["final"]
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(play(env, rng))
            over = terminated or truncated
            assert {name: type(value) for name, value in info.items()} == keys
            assert info["final"] is over
            if not over:
                assert all(info[name] == 0 for name in env.unwrapped.family.finals)


@each_family
@pytest.mark.parametrize("mode", AutoresetMode)
def test_infos_of_a_batch_have_the_same_keys(family, mode):
    env = batch(family, autoreset_mode=mode, max_episode_steps=5)
    rng = np.random.default_rng(0)
    _, infos = env.reset(seed=1)
    keys, ends = {name: array.dtype for name, array in infos.items()}, 0
    assert {name for name in keys if not name.startswith("_")} >= {"final", *env.family.finals}
    for _ in range(14):
        *_, terminated, truncated, infos = env.step(play(env, rng))
        done = terminated | truncated
        at_end = infos.pop("final_info", infos)
        infos.pop("final_obs", None), infos.pop("_final_info", None), infos.pop("_final_obs", None)
        assert {name: array.dtype for name, array in infos.items()} == keys
        assert {name: array.dtype for name, array in at_end.items()} == keys
        np.testing.assert_array_equal(at_end["final"], done)
        for name in env.family.finals:
            assert not at_end[name][~done].any()
        ends += done.sum()
        if mode == AutoresetMode.DISABLED and done.any():
            env.reset(options={"reset_mask": done})
    assert ends >= 6


@each_family
def test_observations_are_the_callers_unless_it_lends_them(family):
    """Single arrays, and rows of them, are kept: nothing else of their step is held."""
    own, lent = (batch(family, autoreset_mode="SAME_STEP", copy=copy) for copy in (True, False))
    rng = np.random.default_rng(0)
    kept = []
    seen, _ = own.reset(seed=3)
    same, _ = lent.reset(seed=3)
    for step in range(30):
        assert_same(same, seen)
        name = sorted(seen)[step % len(seen)]
        array = seen[name] if step % 2 else seen[name][1]
        kept.append((name, array, array.copy()))
        actions = play(own, rng)
        seen, *_, infos = own.step(actions)
        same, *_ = lent.step(actions)
        if "final_obs" in infos:
            last = infos["final_obs"][infos["_final_obs"]][0][name]
            kept.append((name, last, last.copy()))
    for name, array, before in kept:
        np.testing.assert_array_equal(array, before, err_msg=f"{name} was written again")


@each_family
def test_generators_are_those_of_the_seeds(family):
    env, vector = kinds(family)
    vector.reset(seed=[7, None, 9])
    assert vector.np_random_seed[::2] == (7, 9)
    assert len(vector.np_random) == 3
    env.reset(seed=7)
    assert env.unwrapped.np_random_seed == 7


def test_finals_need_an_environment_of_the_suite():
    with pytest.raises(TypeError, match="CartPoleEnv is no environment of memenvs"):
        FinalInfo(gym.make("CartPole-v1"))


def test_a_time_limit_that_is_not_ours_gives_no_finals_without_the_wrapper():
    bare, told = (gym.make("memenvs/Hidden-v0", max_episode_steps=2) for _ in range(2))
    for env, final in ((bare, False), (FinalInfo(told), True)):
        env.reset(seed=0)
        env.step(1)
        *_, truncated, info = env.step(2)
        assert truncated
        assert info["final"] is final
        assert info["size"] == (2 if final else 0)


@each_game
def test_a_game_refuses_and_resets_as_all_do(game):
    env = GAMES[game].vector_env(**MATERIAL, num_envs=3, autoreset=False, max_cycles=4)
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env.step({})
    env.reset(seed=5)
    rng = np.random.default_rng(0)
    env.step(play_game(env, rng))
    twin = copy.deepcopy(env)
    for arguments, sentence in wrong_resets_of_game(env):
        with pytest.raises(ValueError, match=sentence):
            env.reset(**arguments)
    rng = np.random.default_rng(1)
    assert_equal(
        outcome(env, copy.deepcopy(rng), play_game), outcome(twin, copy.deepcopy(rng), play_game)
    )
    writer = env.possible_agents[0]
    for wrong in (np.zeros(3), np.zeros(2, dtype=int)):
        with pytest.raises(ValueError, match=f"{writer}: actions"):
            env.step(play_game(env, rng) | {writer: wrong})


def wrong_resets_of_game(env):
    class Bare:
        unwrapped = env

    return wrong_resets(Bare, three=True)


@each_game
def test_a_game_resets_what_is_asked_and_ends_with_finals(game):
    env = GAMES[game].vector_env(**MATERIAL, num_envs=3, autoreset=False, max_cycles=4)
    _, infos = env.reset(seed=5)
    keys = {name: set(info) for name, info in infos.items()}
    rng = np.random.default_rng(0)
    mask = np.array([False, True, False])
    for _ in range(2):
        env.step(play_game(env, rng))
    env.reset(options={"reset_mask": mask, "material": [0, 7, 0]})
    assert env.elapsed.tolist() == [2, 0, 2]
    assert env.material(1) == env.materials[7]
    for _ in range(2):
        *_, truncated, infos = env.step(play_game(env, rng))
        assert {name: set(info) for name, info in infos.items()} == keys
    for name, info in infos.items():
        assert info["final"].tolist() == (~mask).tolist()
        assert truncated[name].tolist() == (~mask).tolist()
        assert not any(info[final][mask].any() for final in env.family.finals)
    with pytest.raises(RuntimeError, match="an episode is over"):
        env.step(play_game(env, rng))
    env.reset(options={"reset_mask": ~mask})
    assert env.elapsed.tolist() == [0, 2, 0]
    env.step(play_game(env, rng))


@each_game
def test_a_game_in_pettingzoos_form_refuses_unknown_options(game):
    env = GAMES[game].parallel_env(**MATERIAL, render_mode="ansi")
    _, infos = env.reset(seed=0)
    keys = {name: set(info) for name, info in infos.items()}
    with pytest.raises(ValueError, match="no option 'split'; the nearest is 'material'"):
        env.reset(options={"split": "test"})
    with pytest.raises(ValueError, match="render_mode='smoke' is unknown"):
        GAMES[game].parallel_env(**MATERIAL, render_mode="smoke")
    while env.agents:
        *_, infos = env.step({name: env.action_space(name).start for name in env.agents})
        assert all(set(info) == keys[name] for name, info in infos.items())
    assert all(info["final"] for info in infos.values())
