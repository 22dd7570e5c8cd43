"""The bisimulation memory around environments: scalar and vector, deciding and advising."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import WrapperSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.envs.panels.panels_vector import PanelsVectorEnv
from memenvs.policies import make
from memenvs.policies.bisimulation import FAILURE, NEITHER, SUCCESS, Look, TransitionMemory
from memenvs.policies.bisimulation.graph import TARGET
from memenvs.testing.batches import assert_same_play
from memenvs.testing.checks import (
    check_arrays,
    check_illegal_actions,
    check_pickle,
    check_processes,
    check_seeds,
    check_steps,
)
from memenvs.wrappers import BisimulationMemory, VectorBisimulationMemory

LEFT, RIGHT = 0, 1


class Doors(gym.Env[Any, Any]):
    """A page for each step; the goal is behind RIGHT on the second page, LEFT leads nowhere."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict({"page": spaces.Box(0, 9, (1,), np.int64)})
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.page = self.steps = 0
        return {"page": np.array([0])}, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.page += int(action)
        over = self.page == 2
        cut = not over and self.steps == 6
        return {"page": np.array([self.page])}, float(over), over, cut, {}


class Timid:
    """Always left first; an adapter, too."""

    def shortlist(self, observation: Any, info: Any, state: Any) -> tuple[list[int], int]:
        return [LEFT, RIGHT], (state or 0) + 1

    def observe(self, executed: int, state: int) -> int:
        return state

    def look(self, observation: Any, info: Any) -> Look:
        return Look(int(observation["page"][0]), 0, [10, 11], [True, True])

    def role(self, earned: float, steps: int, terminated: bool) -> int:
        return NEITHER if not terminated else SUCCESS if earned > 0 else FAILURE


def doors(explore: int = 0, **options: Any) -> BisimulationMemory:
    return BisimulationMemory(Doors(), Timid(), adapter=Timid(), explore=explore, **options)


def episode(env: BisimulationMemory, action: int) -> tuple[float, list[bool]]:
    env.reset(seed=0)
    over, earned, overrides = False, 0.0, []
    while not over:
        _, reward, terminated, truncated, info = env.step(action)
        earned += reward
        overrides.append(info["override"])
        over = terminated or truncated
    return earned, overrides


def test_it_leaves_a_policy_that_fails_for_what_led_on():
    env = doors()
    env.reranking = False
    assert episode(env, RIGHT) == (1.0, [False, False])  # a lucky detour is recorded
    assert episode(env, LEFT) == (0.0, [False] * 6)
    env.reranking = True
    assert episode(env, LEFT) == (1.0, [True, True])
    ends = env.memory.graph.edges[TARGET]
    assert {SUCCESS, NEITHER} <= set(ends.tolist())
    assert FAILURE not in ends


def test_a_silent_memory_takes_what_is_given():
    env = doors(rule="identity")
    env.reset(seed=0)
    assert env.shortlist == [LEFT, RIGHT]
    _, _, _, _, info = env.step(RIGHT)
    assert (info["override"], info["evidence"]) == (False, 0)
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        doors().step(LEFT)


def test_advice_is_the_evidence_of_every_action():
    env = doors(mode="advise")
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space
    assert not observation["evidence"].any()
    episode(env, RIGHT)
    observation, _ = env.reset(seed=0)
    expected = env.memory.evidence(0, [10, 11])
    np.testing.assert_allclose(observation["evidence"], expected.values, rtol=1e-6)
    assert observation["evidence"][RIGHT] > 0
    np.testing.assert_allclose(observation["evidence_count"], np.log1p([expected.total]), rtol=1e-6)
    env.step(RIGHT)
    last, _, terminated, _, _ = env.step(RIGHT)
    assert terminated
    assert last in env.observation_space
    assert not last["evidence"].any()


def test_a_memory_goes_on_in_another_environment(tmp_path):
    first = doors()
    first.reranking = False
    episode(first, RIGHT)
    first.memory.save(tmp_path / "memory.json")
    second = doors(memory=TransitionMemory.load(tmp_path / "memory.json"))
    assert episode(second, LEFT) == (1.0, [True, True])


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="mode='watch' is unknown"):
        doors(mode="watch")
    with pytest.raises(ValueError, match="no merge rule is named 'likeness'"):
        doors(rule="likeness")
    with pytest.raises(TypeError, match="cannot read a Doors"):
        BisimulationMemory(Doors(), Timid())
    with pytest.raises(TypeError, match=r"neither gives shortlists .* nor scores claims"):
        BisimulationMemory(Doors(), object())
    with pytest.raises(ValueError, match="Reservoir does not score claims"):
        BisimulationMemory(memorization(), make("reservoir", memorization()))
    with pytest.raises(ValueError, match="use action='slots'"):
        BisimulationMemory(memorization(action="priority"), "trust")
    with pytest.raises(ValueError, match="reads a Dict of observations"):
        BisimulationMemory(gym.wrappers.FlattenObservation(memorization()), "trust")


def memorization(**settings: Any) -> MemorizationEnv:
    return MemorizationEnv("hidden", **{**LEVELS["2"], "capacity": 6, **settings})


@pytest.mark.parametrize("settings", [LEVELS["1b"], LEVELS["1a"], {"budget": 60.0, "every": 3}])
@pytest.mark.parametrize("base", ["trust", "confidence"])
def test_what_it_takes_is_legal_and_silence_is_the_base_policy(base, settings):
    env = MemorizationEnv("readable", capacity=6, strict=True, **settings)
    wrapped = BisimulationMemory(env, base, explore=0)
    policy = make(base, env)
    observation, _ = wrapped.reset(seed=3)
    state, over = None, False
    while not over:
        action, state = policy.predict(observation, state)
        assert wrapped.shortlist[0] == action
        assert all(env.action_masks()[each] for each in wrapped.shortlist)
        assert len(set(wrapped.shortlist)) == len(wrapped.shortlist)
        observation, _, over, _, _ = wrapped.step(action)
    assert wrapped.memory.graph.edges[TARGET].min() in (SUCCESS, FAILURE)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_a_vector_of_one_is_played_as_the_scalar_wrapper_plays(mode):
    settings = {**LEVELS["2"], "capacity": 6}
    one = BisimulationMemory(
        MemorizationEnv("hidden", **settings), "trust", mode="advise", explore=1
    )
    several = VectorBisimulationMemory(
        MemorizationVectorEnv("hidden", num_envs=1, autoreset_mode=mode, **settings),
        "trust",
        mode="advise",
        explore=1,
    )
    expected, _ = one.reset(seed=5)
    found, _ = several.reset(seed=[5])
    rng = np.random.default_rng(0)
    for _ in range(100):
        for name, array in expected.items():
            np.testing.assert_allclose(found[name][0], array, atol=1e-6, err_msg=name)
        action = int(rng.choice(np.flatnonzero(expected["action_mask"])))
        expected, reward, over, _, _ = one.step(action)
        found, rewards, terminated, _, infos = several.step(np.array([action]))
        assert (rewards[0], terminated[0]) == (reward, over)
        assert infos["evidence"].tolist() == [0]
        assert infos["_evidence"].tolist() == [True]
        if over:
            assert several.observation_space.contains(found)
            expected, _ = one.reset()
            if mode == "SameStep":
                assert not infos["final_obs"][0]["evidence"].any()
            if mode == "NextStep":
                found, *_ = several.step(np.array([0]))
            if mode == "Disabled":
                found, _ = several.reset(options={"reset_mask": np.array([True])})
    edges = [env.memory.graph.edges.tolist() for env in (one, several)]
    assert edges[0] == edges[1]


def test_several_environments_share_one_memory():
    env = VectorBisimulationMemory(
        MemorizationVectorEnv("hidden", num_envs=3, **{**LEVELS["2"], "capacity": 6}),
        "trust",
        explore=0,
    )
    env.reset(seed=0)
    for _ in range(5):
        _, _, _, _, infos = env.step(np.array([each[0] for each in env.shortlists]))
    assert env.memory.graph.edges[3].sum() == 15
    assert infos["override"].shape == (3,)


def panels(task: str, **options: Any) -> BisimulationMemory:
    return BisimulationMemory(PanelsEnv(task), "scripted", **options)


def successes(env: Any, episodes: int, first: int = 0) -> int:
    """Play the first choice of a policy, as the documentation does."""
    won = 0
    for instance in range(first, first + episodes):
        _, _ = env.reset(options={"instance": instance})
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(env.shortlist[0])
            over = terminated or truncated
        won += bool(info["success"])
    return won


def test_as_documented_it_explores_and_then_beats_the_bare_policy():
    bare = successes(panels("tabs-order", explore=0), 60)
    assert bare == 0
    env = panels("tabs-order")
    successes(env, 20)
    assert env.memory.graph.begun == 20
    assert successes(env, 40, first=20) == 40
    other = panels("tabs-order", memory=env.memory)
    assert successes(other, 10, first=60) == 10  # it has explored, and does not do so again


def test_detours_depend_on_the_episode_and_nothing_else():
    first, second = panels("tabs-3"), panels("tabs-3")
    for env in (first, second):
        successes(env, 8)
    assert first.memory.graph.edges.tolist() == second.memory.graph.edges.tolist()
    still = panels("tabs-3", explore=0)
    successes(still, 8)
    assert first.memory.graph.edges.tolist() != still.memory.graph.edges.tolist()


def test_around_memorization_the_median_of_what_explored_says_what_a_success_is():
    env = BisimulationMemory(memorization(), "trust", explore=5)
    shares = []
    for seed in range(5):
        assert env.memory.graph.begun == 0  # nothing is recorded until the level is known
        env.reset(seed=seed)
        over, earned, steps = False, 0.0, 0
        while not over:
            _, reward, over, _, _ = env.step(env.shortlist[0])
            earned, steps = earned + reward, steps + 1
        shares.append(earned)
    assert env.memory.graph.begun == 5
    edges = env.memory.graph.edges
    won = edges[3][edges[TARGET] == SUCCESS].sum()
    assert won == sum(share >= np.median(shares) for share in shares)


@pytest.mark.parametrize("action", [-1, 31, 64, 1000])
@pytest.mark.parametrize("mode", ["act", "advise"])
def test_illegal_actions_are_left_to_the_environment(mode, action):
    env = panels("tabs-2", mode=mode, explore=0)
    env.reset(seed=0)
    *_, info = env.step(action)
    assert info["illegal_action"] == 1
    assert info["override"] is False
    assert env.memory.graph.records == 0
    env.step(0)
    assert env.memory.graph.records == 1


IDS = ("Panels-tabs-3", "Hidden")


@pytest.fixture(params=IDS)
def wrapped_id(request):
    """An id whose specification holds the wrapper, so that other processes make it, too."""
    mine = f"memenvs-test/{request.param}-v0"
    spec = gym.spec(f"memenvs/{request.param}-v0")
    policy = "scripted" if request.param.startswith("Panels") else "trust"
    wrapper = WrapperSpec(
        "BisimulationMemory",
        "memenvs.wrappers:BisimulationMemory",
        {"policy": policy, "mode": "advise", "explore": 2},
    )
    gym.register(mine, spec.entry_point, kwargs=dict(spec.kwargs), additional_wrappers=(wrapper,))
    yield mine
    del gym.registry[mine]


@pytest.mark.parametrize(
    "check",
    [check_steps, check_seeds, check_processes, check_pickle, check_illegal_actions, check_arrays],
)
def test_the_wrapper_meets_the_contract_of_environments(wrapped_id, check):
    check(wrapped_id)


def test_both_checkers_pass_the_wrapper_itself():
    from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*(different from the unwrapped|unconventional)")
        check_env(panels("tabs-3"), skip_render_check=True)
        for mode in ("act", "advise"):  # advice grows, so that no two resets show the same
            check_env_for_sb3(panels("tabs-3", mode=mode), skip_render_check=True)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("use", ["act", "advise"])
def test_a_batch_of_one_is_told_what_gymnasium_s_own_batch_is_told(use, mode):
    options = {"policy": "scripted", "mode": use, "explore": 2}
    scalar = SyncVectorEnv(
        [lambda: BisimulationMemory(PanelsEnv("tabs-3"), **options)], autoreset_mode=mode
    )
    native = VectorBisimulationMemory(
        PanelsVectorEnv("tabs-3", num_envs=1, autoreset_mode=mode), **options
    )
    assert_same_play(scalar, native, 60, seed=3, illegal=0.1)


def test_ppo_without_masks_learns_through_it():
    from stable_baselines3 import PPO

    model = PPO("MultiInputPolicy", panels("tabs-3", mode="advise"), n_steps=64, batch_size=32)
    model.learn(128)
    assert model.num_timesteps == 128
