"""The memory on pages: it lasts over episodes, and what happens to a browser does not harm it."""

import numpy as np
import pytest

from browsers import PAGES, RECORDED
from memenvs.envs.miniwob.browser import BrowserError
from memenvs.envs.miniwob.miniwob_env import MiniWoBEnv
from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.envs.panels.panels_vector import PanelsVectorEnv
from memenvs.policies.bisimulation import TransitionMemory
from memenvs.policies.gui import ScriptedPolicy
from memenvs.wrappers import BisimulationMemory, VectorBisimulationMemory

HOVER_FIRST = 32


def finish(env):
    """Play an episode to its end by the wrapped policy; gives its length."""
    steps, over = 0, False
    while not over:
        *_, terminated, truncated, _ = env.step(env.shortlist[0])
        steps, over = steps + 1, terminated or truncated
    return steps


def test_a_browser_that_fails_loses_nothing_of_the_memory(tmp_path):
    page = MiniWoBEnv("click-tab", recording=PAGES, live=False)
    env = BisimulationMemory(page, ScriptedPolicy())
    env.reset(options={"instance": RECORDED[0]})
    finish(env)
    env.memory.save(tmp_path / "memory.json")
    env.reset(options={"instance": RECORDED[1]})
    with pytest.raises(BrowserError, match="does not hold"):
        env.unwrapped.step(HOVER_FIRST)  # as if the browser had died: nobody recorded this
    with pytest.raises(BrowserError, match="does not hold"):
        env.reset(options={"instance": 1})
    kept = TransitionMemory.load(tmp_path / "memory.json")
    known = set(kept.partition())
    assert known <= set(env.memory.partition())
    env.reset(options={"instance": RECORDED[2]})
    assert finish(env) == 1
    env.memory.save(tmp_path / "memory.json")
    again = TransitionMemory.load(tmp_path / "memory.json")
    assert again.partition() == env.memory.partition()
    assert known < set(again.partition())


def test_the_scalar_memory_plays_what_one_of_a_batch_plays():
    one = BisimulationMemory(PanelsEnv("tabs-3"), ScriptedPolicy())
    batch = VectorBisimulationMemory(PanelsVectorEnv("tabs-3", num_envs=1), ScriptedPolicy())
    for instance in range(12):
        options = {"instance": instance}
        observation, _ = one.reset(options=options)
        mine, _ = batch.reset(options=options)
        over = False
        while not over:
            for name, array in observation.items():
                np.testing.assert_array_equal(mine[name][0], array)
            action = one.shortlist[0]
            assert batch.shortlists[0] == one.shortlist
            observation, reward, terminated, truncated, _ = one.step(action)
            mine, rewards, *_ = batch.step(np.array([action]))
            assert rewards[0] == reward
            over = terminated or truncated
    assert one.memory.partition() == batch.memory.partition()


def test_advice_stands_beside_every_action():
    env = BisimulationMemory(PanelsEnv("menu"), ScriptedPolicy(), mode="advise")
    for instance in range(6):
        observation, _ = env.reset(options={"instance": instance})
        assert observation in env.observation_space
        finish(env)
    observation, _ = env.reset(options={"instance": 99})
    assert observation["evidence"].shape == (64,)
    assert observation["evidence_count"][0] > 0
    assert observation["evidence"][0] != 0  # the button was clicked on pages like this one
    assert not observation["evidence"][32:].any()  # nothing was hovered over
