"""The graph to look at: what DOT and the page hold of a memory that was filled by hand."""

from __future__ import annotations

import json
import re

from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.policies.bisimulation import TransitionMemory, as_dot, as_html, graph_of
from memenvs.wrappers import BisimulationMemory

LINK, TAB = 7, 8


def filled() -> TransitionMemory:
    memory = TransitionMemory()
    for page in (1, 2):
        memory.begin(page, 0)
        memory.record(page, TAB, 3, 1, 0.0, False)
    memory.record(3, LINK, 0, 0, 1.0, True)
    return memory


def test_blocks_say_what_their_actions_led_to():
    graph = graph_of(filled(), {1: "<first> page", TAB: 'click "Tab"'})
    first, second = graph["blocks"]
    assert first["pages"] == ["<first> page", "page 2"]
    (tab,) = first["actions"]
    assert (tab["action"], tab["leads"]) == ('click "Tab"', {"1": 2})
    assert second["actions"][0]["leads"] == {"success": 1}
    dot = as_dot(graph)
    assert '"0" -> "1" [label="click \\"Tab\\" ×2' in dot
    assert '"1" -> "success" [label="action 7 ×1 (+0.10)"];' in dot  # (1 - .8 + .1) / (2 + 1)


def test_the_page_holds_the_graph_and_loads_nothing():
    graph = graph_of(filled(), {1: "</script><b>"})
    page = as_html(graph)
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == graph
    assert not re.findall(r"(?:src|href)=", page)


def test_overrides_are_shown_with_what_the_policy_wanted():
    env = BisimulationMemory(PanelsEnv("toggle"), "scripted")
    for instance in range(22):
        env.reset(options={"instance": instance})
        over = False
        while not over:
            *_, terminated, truncated, _ = env.step(env.shortlist[0])
            over = terminated or truncated
    shown = env.graph()["overrides"]
    assert shown
    assert {(each["given"], each["taken"]) for each in shown} == {
        ("click button Submit", "click button Toggle"),
        ("click button Toggle", "click button Submit"),
    }
    assert all(each["taken_score"] > each["given_score"] for each in shown)
