"""How simulated pages behave, worked out by hand, and that every instance can be solved."""

import numpy as np
import pytest

from memenvs.envs.gui.goal import read_goal
from memenvs.envs.gui.page import CLICK, HOVER
from memenvs.envs.panels.tasks import FILLER, TASKS, WORDS, find_task, make_widget
from memenvs.envs.panels.widget import Node, Widget


def labels(widget, state):
    return [element.label for element in widget.page(state).elements]


def states(widget, state):
    return {element.label: element.state for element in widget.page(state).elements}


def act(widget, state, label, kind=CLICK):
    """Act on the element of that label, the first where there are several."""
    return widget.act(state, widget.shown(state)[labels(widget, state).index(label)], kind)


def reached(widget, steps):
    """Fewest steps to success, by breadth-first search over states and every action."""
    seen, frontier = {widget.start}, [widget.start]
    for step in range(1, steps + 1):
        following = []
        for state in frontier:
            for node in widget.shown(state):
                for kind in (CLICK, HOVER):
                    after, reward = widget.act(state, node, kind)
                    if reward == 1:
                        return step
                    if reward is None and after not in seen:
                        seen.add(after)
                        following.append(after)
        frontier = following
    return None


def test_of_tabs_one_is_open_and_its_links_end_the_episode():
    nodes = (
        Node("tab", "one", text="x y", opens=True),
        Node("tab", "two", text="z", opens=True),
        Node("link", "x", 0, final=True),
        Node("link", "z", 1, final=True),
    )
    widget = Widget(nodes, "", "z", start=1)
    assert labels(widget, 1) == ["one", "two", "x"]
    assert widget.page(1).text == "x y"
    state, reward = act(widget, 1, "two")
    assert (labels(widget, state), reward) == (["one", "two", "z"], None)
    assert states(widget, state) == {"one": "", "two": "selected", "z": ""}
    assert widget.page(state).text == "z"
    assert act(widget, state, "two") == (state, None)
    assert act(widget, state, "z") == (state, 1.0)
    assert act(widget, 1, "x")[1] == -1.0


def test_of_sections_one_is_open_or_none():
    nodes = (
        Node("section", "one", opens=True),
        Node("link", "a", 0, final=True),
        Node("section", "two", opens=True),
        Node("link", "b", 2, final=True),
    )
    widget = Widget(nodes, "", "b")
    assert labels(widget, 0) == ["one", "two"]
    first, _ = act(widget, 0, "one")
    assert labels(widget, first) == ["one", "a", "two"]
    second, _ = act(widget, first, "two")
    assert states(widget, second) == {"one": "closed", "two": "open", "b": ""}
    assert act(widget, second, "two")[0] == 0


def test_a_menu_opens_under_the_mouse_and_a_click_elsewhere_closes_all_of_it():
    widget = make_widget("menu", 3)
    assert labels(widget, widget.start) == ["Menu"]
    state, _ = act(widget, widget.start, "Menu")
    assert len(labels(widget, state)) == 5
    assert act(widget, state, labels(widget, state)[1], HOVER) == (state, None)
    inside, _ = act(widget, state, "More", HOVER)
    assert len(labels(widget, inside)) == 9
    assert act(widget, state, "More", CLICK)[0] == inside
    closed, _ = act(widget, inside, "Menu")
    assert closed == widget.start
    assert len(labels(widget, act(widget, closed, "Menu")[0])) == 5  # the submenu closed with it


def test_folders_keep_each_other_open_and_close_what_is_in_them():
    widget = make_widget("tree", 0)
    state, _ = act(widget, 0, "Folder 1")
    state, _ = act(widget, state, "Folder 1a")
    state, _ = act(widget, state, "Folder 3")
    assert len(labels(widget, state)) == 3 + 1 + 2 + 2 + 1 + 2
    state, _ = act(widget, state, "Folder 1")
    state, _ = act(widget, state, "Folder 1")
    assert states(widget, state)["Folder 1a"] == "closed"


def test_the_hidden_order():
    widget = make_widget("tabs-order", 0)
    target = widget.target

    def after(*tabs):
        state = widget.start
        for tab in tabs:
            state, _ = act(widget, state, f"Tab #{tab}")
        return labels(widget, state)

    assert target in after(3, 1)
    assert target in after(2, 3, 1, 1)
    for wrong in ((), (1,), (3,), (2, 1), (3, 2, 1), (3, 1, 2, 1)):
        assert target not in after(*wrong), wrong


def test_submitting_succeeds_when_armed_and_pages_look_alike():
    starts = set()
    for instance in range(20):
        widget = make_widget("arm", instance)
        armed = bool(widget.start & widget.flag)
        starts.add(armed)
        assert act(widget, widget.start, "Submit")[1] == (1.0 if armed else -1.0)
        state, _ = act(widget, widget.start, "Arm")
        assert act(widget, state, "Submit")[1] == 1.0
        assert widget.page(state).elements == widget.page(0).elements
        assert widget.page(state).text != widget.page(0).text
        assert act(widget, state, "Help") == (state, None)
    assert starts == {True, False}


@pytest.mark.parametrize("task", TASKS)
def test_every_instance_can_be_solved_and_names_its_target(task):
    for instance in range(60):
        widget = make_widget(task, instance)
        assert reached(widget, 8) is not None, instance
        if task not in ("arm", "toggle", "submit"):
            assert read_goal(widget.goal).slots == (widget.target,)
            assert any(node.label == widget.target and node.final for node in widget.nodes)


@pytest.mark.parametrize(("task", "steps"), [("link", 1), ("button", 1), ("tabs-order", 3)])
def test_how_many_steps_a_task_takes(task, steps):
    assert {reached(make_widget(task, i), 8) for i in range(30)} == {steps}


def test_panels_hold_twenty_words_of_which_a_fifth_are_links():
    widgets = [make_widget("tabs-6", i) for i in range(300)]
    panels = [node for w in widgets for node in w.nodes if node.role == "tab"]
    assert len(panels) == 6 * 300
    assert {len(node.text.split()) for node in panels} == {FILLER}
    links = sum(node.role == "link" for w in widgets for node in w.nodes)
    # 36,000 words: the standard error of the share is .0021.
    assert links / (len(panels) * FILLER) == pytest.approx(0.2, abs=0.01)
    for widget in widgets[:20]:
        for node in widget.nodes:
            assert node.role == "tab" or node.label in widget.nodes[node.parent].text.split()


def test_targets_lie_in_every_container():
    places = [
        {n.parent for n in w.nodes if n.final and n.label == w.target}
        for w in (make_widget("tabs-5", i) for i in range(200))
    ]
    counts = np.bincount([p for each in places for p in each], minlength=5)
    assert counts.min() > 20  # 40 of each are expected


def test_words_are_distinct_and_tasks_have_names():
    assert len(set(WORDS)) == len(WORDS)
    with pytest.raises(ValueError, match="no simulated task is named 'tabs-9'; choose from tabs-2"):
        find_task("tabs-9")


def test_submitting_succeeds_after_an_odd_number_of_toggles():
    widget = make_widget("toggle", 3)
    state = widget.start
    assert act(widget, state, "Submit")[1] == -1.0
    for toggles in range(1, 4):
        state, _ = act(widget, state, "Toggle")
        assert act(widget, state, "Submit")[1] == (1.0 if toggles % 2 else -1.0)
