"""The frozen policy: what it clicks, what else it would, and that its predictions agree."""

import numpy as np
import pytest

from memenvs.envs.gui.columns import action_mask, element_rows, goal_row
from memenvs.envs.gui.goal import read_goal
from memenvs.envs.gui.gui_env import encode
from memenvs.envs.gui.page import HOVER, Action, Element, Page
from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.envs.panels.tasks import TASKS
from memenvs.policies.gui import ScriptedPolicy


def observed(page):
    return {
        "elements": element_rows(page).astype(np.float32),
        "goal": goal_row(read_goal(page.goal)).astype(np.float32),
        "action_mask": action_mask(page),
    }


def lists(page, steps=2):
    """The shortlists of some steps in a row, were the page to stay as it is."""
    policy, state, found = ScriptedPolicy(), None, []
    for _ in range(steps):
        shortlist, state = policy.shortlist(observed(page), {}, state)
        found.append(shortlist)
    return found


def test_what_the_goal_names_is_all_it_wants():
    tabs = (Element("tab", "Tab #1"), Element("tab", "Tab #2"))
    page = Page('Find "x".', (*tabs, Element("link", "y"), Element("link", "x")))
    assert lists(page) == [[3], [3]]
    twice = Page('Find "x".', (*tabs, Element("link", "x"), Element("link", "x")))
    assert lists(twice) == [[2, 3], [2, 3]]


def test_else_two_containers_in_turn_and_then_the_others_in_page_order():
    tabs = tuple(Element("tab", f"Tab #{i + 1}") for i in range(6))
    page = Page('Find "x".', (*tabs, Element("link", "y")))
    assert lists(page, 3) == [[1, 0, 2, 3], [0, 1, 2, 3], [1, 0, 2, 3]]


def test_a_menu_is_a_button_and_items_that_open_under_the_mouse():
    goal = 'Click the "Menu" button, and then find and click on the item labeled "x".'
    closed = Page(goal, (Element("button", "Menu"),))
    assert lists(closed) == [[0], [0]]
    items = (Element("menuitem", "a"), Element("menuitem", "More", "closed"))
    opened = Page(goal, (Element("button", "Menu"), *items))
    hover = encode(Action(2, HOVER))
    assert lists(opened) == [[hover, 0], [0, hover]]


def test_targets_come_in_order_and_what_is_selected_is_dealt_with():
    def page(state):
        radio = (Element("radio", "p"), Element("radio", "q", state))
        return Page("Select q and click Submit.", (*radio, Element("button", "Submit")))

    assert lists(page("")) == [[1], [1]]
    assert lists(page("selected")) == [[2], [2]]


def test_without_containers_everything_in_view_is_an_alternative():
    page = Page("Wait.", (Element("link", "a"), Element("link", "b")))
    assert lists(page) == [[1, 0], [0, 1]]
    assert lists(Page("Wait.", ())) == [[0], [0]]


@pytest.mark.parametrize("task", TASKS)
def test_predictions_are_the_first_of_the_shortlist_and_legal(task):
    env, policy = PanelsEnv(task, strict=True), ScriptedPolicy()
    for instance in range(20):
        observation, info = env.reset(options={"instance": instance})
        state, predicted, over = None, None, False
        while not over:
            found, state = policy.shortlist(observation, info, state)
            action, predicted = policy.predict(observation, predicted)
            assert action == found[0]
            assert len(set(found)) == len(found) <= 4
            assert env.action_masks()[found].all()
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated


def test_a_batch_is_predicted_as_its_episodes_are():
    pages = [
        Page('Find "x".', (Element("tab", "1"), Element("tab", "2"), Element("link", link)))
        for link in ("x", "y")
    ]
    batch = {
        name: np.stack([observed(page)[name] for page in pages]) for name in observed(pages[0])
    }
    policy = ScriptedPolicy()
    actions, state = policy.predict(batch)
    assert actions.tolist() == [2, 1]
    actions, state = policy.predict(batch, state)
    assert actions.tolist() == [2, 0]
    actions, _ = policy.predict(batch, state, episode_start=np.array([False, True]))
    assert actions.tolist() == [2, 1]
