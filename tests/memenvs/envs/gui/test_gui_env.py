"""The environment of a page: limits, options, refusals, and training on it."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from memenvs.envs.gui.gui_env import GuiEnv
from memenvs.envs.gui.page import Outcome, Page
from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.envs.panels.panels_vector import PanelsVectorEnv


class Corridor:
    """A site whose only page has no element: nothing can be done."""

    def begin(self, instance):
        return Outcome(Page("Wait.", ()))

    def act(self, action):
        raise AssertionError("there is nothing to act on")


def test_an_episode_is_truncated_after_its_steps_and_was_no_success():
    env = PanelsEnv("tabs-3", steps=4)
    env.reset(seed=0)
    for step in range(4):
        observation, reward, terminated, truncated, info = env.step(step % 2)
        assert observation["context"][0] == pytest.approx((3 - step) / 4)
    assert (reward, terminated, truncated, info["success"]) == (0.0, False, True, False)
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(0)


def test_an_end_on_the_last_step_is_no_truncation():
    env = PanelsEnv("link", steps=1)
    env.reset(seed=0)
    _, reward, terminated, truncated, _ = env.step(0)
    assert (abs(reward), terminated, truncated) == (1.0, True, False)


def test_a_page_without_elements_has_one_thing_to_do_which_does_nothing():
    env = GuiEnv("corridor", Corridor(), steps=2, strict=True)
    env.reset(seed=0)
    assert np.flatnonzero(env.action_masks()).tolist() == [0, 32]
    *_, info = env.step(0)
    assert info["illegal_action"] == 0
    with pytest.raises(ValueError, match=r"action 1 \(click element 1\) is illegal"):
        env.step(1)


def test_an_instance_can_be_asked_for():
    env = PanelsEnv("tabs-3", instances=1)
    pages = []
    for seed in (0, 1):
        _, info = env.reset(seed=seed)
        pages.append(info["page"])
    assert pages[0] == pages[1]
    _, info = env.reset(options={"instance": 5})
    assert info["page"] == env.reset(options={"instance": np.int64(5)})[1]["page"] != pages[0]
    for wrong in (-1, 2.5, "first"):
        with pytest.raises(ValueError, match="is not an integer from 0"):
            env.reset(options={"instance": wrong})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"steps": 0}, "steps=0 is not a positive integer"),
        ({"instances": 1.5}, "instances=1.5 is not a positive integer"),
        ({"render_mode": "human"}, "render_mode='human' is unknown"),
        ({"task": "tabs-1"}, "no simulated task is named 'tabs-1'"),
    ],
)
def test_bad_settings_are_named(settings, problem):
    with pytest.raises(ValueError, match=problem):
        PanelsEnv(**{"task": "tabs-2", **settings})


def test_outside_an_episode_nothing_can_be_done():
    env = PanelsEnv("menu")
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env.step(0)
    batch = PanelsVectorEnv("menu", num_envs=2)
    with pytest.raises(RuntimeError, match="no episode has begun"):
        batch.step(np.zeros(2, dtype=np.int64))


def test_a_page_as_text():
    env = gym.make("memenvs/Panels-menu-v0", render_mode="ansi")
    env.reset(seed=0)
    env.step(0)
    lines = env.render().splitlines()
    assert lines[0].startswith('Click the "Menu" button')
    assert lines[1] == " 0 button Menu"
    assert lines[3] == " 2 menuitem More (closed)"


def test_a_batch_takes_instances_and_partial_resets():
    batch = PanelsVectorEnv("tabs-4", num_envs=3, autoreset_mode=AutoresetMode.DISABLED, steps=2)
    _, infos = batch.reset(seed=0, options={"instance": [4, 9, 4]})
    assert infos["page"][0] == infos["page"][2] != infos["page"][1]
    mask = np.array([False, True, False])
    _, infos = batch.reset(options={"instance": 4, "reset_mask": mask})
    assert infos["_page"].tolist() == mask.tolist()
    assert [page is None for page in infos["page"]] == [True, False, True]
    batch.step(np.array([1, 1, 1]))
    *_, infos = batch.step(np.array([2, 2, 2]))
    assert len(set(infos["page"])) == 1
    with pytest.raises(RuntimeError, match="an episode is over"):
        batch.step(np.array([0, 0, 0]))
    strict = PanelsVectorEnv("link", num_envs=2, strict=True)
    strict.reset(seed=0)
    with pytest.raises(ValueError, match=r"action 31 \(click element 31\) is illegal"):
        strict.step(np.array([0, 31]))


def test_a_page_is_shown_alike_however_it_was_reached():
    """Rows of the table are shared between episodes; what leaves the batch is not."""
    batch = PanelsVectorEnv("tabs-2", num_envs=2, instances=1)
    batch.reset(seed=0)
    first, *_ = batch.step(np.array([1, 0]))
    first["elements"][:] = 7
    second, *_ = batch.step(np.array([1, 1]))
    np.testing.assert_array_equal(second["elements"][0], second["elements"][1])
    assert second["elements"].max() == 1


def test_a_masked_policy_trains_on_the_batch():
    from sb3_contrib import MaskablePPO

    from memenvs.train.vec_env import make_vec_env

    env = make_vec_env("memenvs/Panels-button-v0", n_envs=16, seed=0)
    model = MaskablePPO(
        "MultiInputPolicy", env, n_steps=16, batch_size=256, n_epochs=2, seed=0, device="cpu"
    )
    model.learn(512)
    assert model.num_timesteps == 512
