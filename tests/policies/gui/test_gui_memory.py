"""The memory for any agent: five lines, any format, one file that survives kills and no damage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from memenvs.errors import MaterialError
from memenvs.policies.gui.actions import Act, read_action
from memenvs.policies.gui.gui_memory import GuiMemory
from memenvs.policies.gui.nodes import View
from memenvs.policies.gui.views import (
    from_android,
    from_browsergym,
    from_dom,
    from_html,
    from_playwright,
    from_tree,
    from_webarena,
)


def tabs(shown: int, word: str, run: int = 0) -> View:
    """Three tabs of which the second holds the link; numbers of elements change from run to run."""
    lines = [
        f'- tab "Tab {i}"{" [selected]" * (i == shown)} [ref=e{10 * run + i}]' for i in range(3)
    ]
    lines.append(f"- text: filler {word}{shown}")
    if shown == 1:
        lines.append(f'- link "{word}" [ref=e{10 * run + 9}]')
    return from_playwright("\n".join(lines), f'Find the link "{word}" and click on it.')


def episode(memory: GuiMemory, word: str, run: int, order: tuple[int, ...]) -> None:
    view = tabs(0, word, run)
    for tab in order:
        after = tabs(tab, word, run)
        memory.observe(view, f"click e{10 * run + tab}", after)
        view = after
    if view.page.elements[-1].role == "link":
        memory.observe(view, f"click e{10 * run + 9}", view, reward=1.0, done=True)
    else:
        memory.observe(view, f"click e{10 * run}", tabs(0, word, run), done=True)


def taught(path: object = None, **settings: object) -> GuiMemory:
    memory = GuiMemory(path, **settings)
    for run, order in enumerate([(1,), (2, 0), (1,), (2, 1), (1,)]):
        episode(memory, f"word{run}", run, order)
    return memory


def test_what_led_on_is_suggested_first_on_a_page_never_seen():
    memory = taught()
    view = tabs(0, "other", run=7)
    ranked = memory.suggest(view, ["click e72", "click e70", "click e71"])
    assert ranked[0].action == "click e71"
    assert ranked[0].evidence > 0
    assert ranked[0].times == 4  # three first pages, and one with another tab open: they are one
    unknown = memory.suggest(view, ["hover e72", "hover e71"])
    assert [each.action for each in unknown] == ["hover e72", "hover e71"]  # the agent's own order
    assert unknown[0].times == 0


def test_what_did_nothing_here_is_not_suggested_again_in_the_episode():
    memory = GuiMemory()
    view = tabs(0, "a")
    memory.observe(view, "click e2", view)
    assert memory.suggest(view, ["click e2", "click e1"])[0].action == "click e1"
    memory.end()  # another episode may find what no element shows changed
    memory.begin(view)
    assert memory.suggest(view, ["click e2"])[0].evidence > -0.2


def test_the_file_holds_all_of_it(tmp_path):
    path = tmp_path / "gui.memory"
    first = taught(path)
    proposed = ["click e72", "click e70", "click e71"]
    expected = first.suggest(tabs(0, "other", 7), proposed)
    with pytest.raises(MaterialError, match="is open elsewhere"):
        GuiMemory(path)
    first.close()
    second = GuiMemory(path)
    assert list(second.events()) == list(first.events())
    assert second.suggest(tabs(0, "other", 7), proposed) == expected
    second.close()


def test_no_damaged_file_is_another_memory(tmp_path):
    path = tmp_path / "gui.memory"
    memory = taught(path)
    memory.close()
    whole, expected = path.read_bytes(), list(memory.events())
    rng = np.random.default_rng(0)
    for _ in range(1000):
        content = bytearray(whole)
        kind, place = rng.integers(4), int(rng.integers(len(whole)))
        if kind == 0:
            content[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del content[place:]
        elif kind == 2:
            del content[place : place + int(rng.integers(1, 80))]
        else:
            content[place:place] = bytes(rng.integers(0, 256, 5).tolist())
        path.write_bytes(content)
        try:
            found = GuiMemory(path)
        except MaterialError:
            continue
        assert list(found.events()) == expected
        found.close()


WRITER = """
import sys
from memenvs.policies.gui.gui_memory import GuiMemory
from memenvs.policies.gui.views import from_playwright
memory = GuiMemory(sys.argv[1])
for run in range(10**6):
    view = from_playwright(f'- button "Go" [ref=e1]\\n- text: page {run}', "Go on.")
    memory.observe(view, "click e1", view, 1.0, done=True)
    print(run, flush=True)
"""


@pytest.mark.parametrize("delay", [0.05, 0.11])
def test_what_was_acknowledged_survives_a_kill(tmp_path, delay):
    path = tmp_path / "gui.memory"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    said = writer.stdout.readline()
    time.sleep(delay)
    os.kill(writer.pid, signal.SIGKILL)
    said += writer.stdout.read()
    writer.wait()
    writer.stdout.close()
    last = len(said.split("\n")) - 2  # whole lines were acknowledged
    memory = GuiMemory(path)
    assert memory.core.graph.begun in (last + 1, last + 2)
    episode(memory, "after", 5, (1,))
    memory.close()


def test_the_oldest_pages_are_forgotten(tmp_path):
    path = tmp_path / "gui.memory"
    memory = GuiMemory(path, limit=20)
    for run in range(30):
        episode(memory, f"word{run}", run, (2, 1))
        assert len(memory.core.pages()) <= 25
    proposed = ["click e72", "click e70"]
    expected = memory.suggest(tabs(0, "x", 7), proposed)
    assert expected[0].evidence > 0
    memory.close()
    again = GuiMemory(path, limit=20)
    assert again.suggest(tabs(0, "x", 7), proposed) == expected
    again.close()


def test_two_memories_become_one():
    first, second = GuiMemory(), GuiMemory()
    episode(first, "a", 1, (2, 1))
    episode(second, "b", 2, (1,))
    both = GuiMemory()
    episode(both, "a", 1, (2, 1))
    episode(both, "b", 2, (1,))
    first.merge(second)
    assert sorted(map(str, first.events())) == sorted(map(str, both.events()))


def test_a_page_read_in_another_way_is_refused():
    memory = taught()
    android = from_android([{"text": "Tab 1", "is_clickable": True}], "Find it.")
    with pytest.raises(ValueError, match=r"read as playwright/1, and .* as android/1"):
        memory.suggest(android, ["click 0"])
    other = GuiMemory()
    other.observe(android, {"action_type": "click", "index": 0}, android, done=True)
    with pytest.raises(ValueError, match="one memory reads"):
        memory.merge(other)
    with pytest.raises(ValueError, match="the page has no element '77'; it has e0, e1, e2"):
        memory.suggest(tabs(0, "x"), [Act("click", "77")])


def test_every_format_gives_the_same_buttons():
    goal = "Save it."
    axtree = {
        "nodes": [
            {"role": {"value": "RootWebArea"}, "name": {"value": "Page"}},
            {
                "role": {"value": "button"},
                "name": {"value": "Save"},
                "browsergym_id": "a4",
                "properties": [{"name": "disabled", "value": {"value": True}}],
            },
            {"role": {"value": "StaticText"}, "name": {"value": "Hello"}},
        ]
    }
    tree = {"role": "WebArea", "children": [{"role": "button", "name": "Save", "disabled": True}]}
    dom = {
        "tag": "BODY", "left": 0, "top": 0, "width": 9, "height": 9, "ref": 1,
        "children": [
            {"tag": "BUTTON", "text": "Save", "left": 1, "top": 1, "width": 3, "height": 3,
             "ref": 4, "children": []}
        ],
    }  # fmt: skip
    android = [{"text": "Save", "class_name": "android.widget.Button", "is_enabled": False}]
    playwright = '- main:\n  - button "Save" [disabled] [ref=e4]\n  - text: Hello'
    html = "<p>Hello<script>var button</script></p><button bid='4' disabled>Save</button>"
    views = [
        (from_playwright(playwright, goal), "e4"),
        (from_browsergym({"goal": goal, "axtree_object": axtree}), "a4"),
        (from_webarena("[1] RootWebArea 'x'\n\t[4] button 'Save' disabled: True", goal), "4"),
        (from_html(html, goal), "4"),
        (from_tree(tree, goal), "0"),
        (from_android(android, goal), "0"),
    ]
    for view, ref in views:
        assert view.page.elements == (("button", "Save", "disabled"),), view.reads
        assert view.refs == (ref,)
        assert "Save" not in view.page.text
    assert from_dom(dom, goal).page.elements == (("button", "Save", ""),)
    assert from_dom(dom, goal).at(2, 2) == "4"
    assert from_dom(dom, goal).at(7, 7) is None


def test_actions_are_read_as_agents_write_them():
    view = from_html('<input bid="12" name="q"><button bid="a46">Go</button>', "Find it.")
    assert read_action("click('a46')", view) == Act("click", "a46")
    assert read_action("fill('12', 'Ada, \"b\"')", view) == Act("fill", "12", 'Ada, "b"')
    assert read_action("type [12] [Ada] [1]", view) == Act("fill", "12", "Ada 1")
    assert read_action("scroll [down]", view) == Act("scroll", "", "down")
    assert read_action("noop()", view) == Act("noop")
    assert read_action('{"action_type": "input_text", "text": "x", "index": 3}', view) == Act(
        "fill", "3", "x"
    )
    for bad, said in (("", "empty"), ("click(os)", "cannot be read"), ("{}", "no action_type")):
        with pytest.raises(ValueError, match=said):
            read_action(bad, view)


def test_the_head_of_a_file_names_its_format(tmp_path):
    memory = taught(tmp_path / "gui.memory")
    memory.close()
    head = json.loads((tmp_path / "gui.memory").read_bytes().splitlines()[0])
    assert head["format"] == "memenvs.gui/1"
