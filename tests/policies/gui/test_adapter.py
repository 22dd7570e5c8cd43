"""What a memory sees of a page: what must differ differs, what is of the episode alone does not."""

import dataclasses
import subprocess
import sys

import pytest

from browsers import PAGES, RECORDED
from memenvs.envs.gui.gui_env import encode
from memenvs.envs.gui.page import CLICK, HOVER, Action, Element, Page
from memenvs.envs.miniwob.miniwob_env import MiniWoBEnv
from memenvs.envs.panels.panels_vector import PanelsVectorEnv
from memenvs.envs.panels.tasks import TASKS
from memenvs.policies.bisimulation import FAILURE, NEITHER, SUCCESS, UNKNOWN, adapter_for
from memenvs.policies.gui import GuiAdapter
from memenvs.policies.gui.adapter import look_at

TABS = (Element("tab", "Tab #1", "selected"), Element("tab", "Tab #2"))


def page(target, *links, tabs=TABS, text=""):
    return Page(f'Click on "{target}".', (*tabs, *(Element("link", link) for link in links)), text)


def test_the_label_is_of_the_task_and_not_of_the_episode():
    label = look_at(page("a", "x", "y")).label
    assert look_at(page("b", "z", text="other")).label == label
    opened = (Element("tab", "Tab #1"), Element("tab", "Tab #2", "selected"))
    assert look_at(page("a", "x", tabs=opened)).label == label
    different = (
        page("a", "a"),  # a slot can be filled
        page("a"),  # no links
        page("a", "x", tabs=TABS[:1]),  # fewer controls
        dataclasses.replace(page("a", "x"), goal='Find "a".'),
    )
    labels = {look_at(each).label for each in different}
    assert len(labels) == 4
    assert label not in labels


def test_the_signature_is_of_all_that_is_shown():
    pages = (
        page("a", "x"),
        page("b", "x"),
        page("a", "y"),
        page("a", "x", text="t"),
        page("a", "x", tabs=TABS[::-1]),
        page("a", "x", tabs=(TABS[0], Element("tab", "Tab #2", "disabled"))),
    )
    assert len({look_at(each).signature for each in pages}) == len(pages)


def test_templates_name_slots_and_labels_and_resolve_where_they_mean_one_element():
    first, second = look_at(page("a", "a", "x")), look_at(page("b", "y", "b", "y"))
    link, other = encode(Action(2)), encode(Action(3))
    assert first.templates[link] == second.templates[other]  # the goal's first slot
    assert first.templates[0] == second.templates[0]
    assert first.templates[0] != first.templates[1]
    assert first.templates[0] != first.templates[encode(Action(0, HOVER))]
    assert second.resolved[other]
    assert not second.resolved[link]  # two links are called "y"
    assert second.named([link, other]) == [UNKNOWN, first.templates[link]]
    assert not first.resolved[encode(Action(4, CLICK))]


def test_elements_named_by_page_and_number_survive_no_episode_by_number_alone_they_do():
    numbers = GuiAdapter(templates="elements")
    looks = [numbers.look(None, {"page": page("a", x)}).templates for x in ("x", "y")]
    assert looks[0] == looks[1]
    assert looks[0][0] != looks[0][1]
    adapter = GuiAdapter(templates="pages")
    first, second = (adapter.look(None, {"page": page("a", x)}) for x in ("x", "y"))
    assert not set(first.templates) & set(second.templates) - {UNKNOWN}
    assert first.label == look_at(page("a", "x")).label
    with pytest.raises(ValueError, match="templates='ids' is unknown"):
        GuiAdapter(templates="ids")


def test_how_an_episode_ended():
    adapter = GuiAdapter()
    roles = [adapter.role(*each) for each in ((1.0, 3, True), (-1.0, 3, True), (0.0, 8, False))]
    assert roles == [SUCCESS, FAILURE, NEITHER]


def test_the_memory_finds_the_adapter_of_every_graphical_environment():
    for task in TASKS:
        assert isinstance(adapter_for(PanelsVectorEnv(task, num_envs=2)), GuiAdapter)
    env = MiniWoBEnv("click-option", recording=PAGES, live=False)
    adapter = adapter_for(env)
    looks = [adapter.look(*env.reset(options={"instance": instance})) for instance in RECORDED]
    assert len({look.signature for look in looks}) == len(looks)


def test_numbers_are_alike_in_every_process():
    script = (
        "from memenvs.envs.gui.page import Element, Page\n"
        "from memenvs.policies.gui.adapter import look_at\n"
        "look = look_at(Page('Click on \"a\".', (Element('tab', 'é'), Element('link', 'a'))))\n"
        "print(look.signature, look.label, look.templates[:2], sorted(look.elements))\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
