"""The bisimulation memory around environments: scalar and vector, deciding and advising."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.bisimulation import FAILURE, NEITHER, SUCCESS, Look, TransitionMemory
from memenvs.policies.bisimulation.graph import TARGET
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

    def look(self, observation: Any, info: Any) -> Look:
        return Look(int(observation["page"][0]), 0, [10, 11], [True, True])

    def role(self, earned: float, steps: int, terminated: bool) -> int:
        return NEITHER if not terminated else SUCCESS if earned > 0 else FAILURE


def doors(**options: Any) -> BisimulationMemory:
    return BisimulationMemory(Doors(), Timid(), adapter=Timid(), **options)


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
    with pytest.raises(TypeError, match="neither gives shortlists nor scores claims"):
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
    wrapped = BisimulationMemory(env, base)
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
    one = BisimulationMemory(MemorizationEnv("hidden", **settings), "trust", mode="advise")
    several = VectorBisimulationMemory(
        MemorizationVectorEnv("hidden", num_envs=1, autoreset_mode=mode, **settings),
        "trust",
        mode="advise",
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
        MemorizationVectorEnv("hidden", num_envs=3, **{**LEVELS["2"], "capacity": 6}), "trust"
    )
    env.reset(seed=0)
    for _ in range(5):
        _, _, _, _, infos = env.step(np.array([each[0] for each in env.shortlists]))
    assert env.memory.graph.edges[3].sum() == 15
    assert infos["override"].shape == (3,)
