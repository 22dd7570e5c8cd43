"""A model as the frozen policy, asked over a real connection."""

import json

import pytest

from chat_server import chat_server
from memenvs.envs.gui.columns import element_rows
from memenvs.envs.gui.page import Element, Page
from memenvs.policies.gui import ModelPolicy
from memenvs.policies.gui.model import read_actions
from memenvs.text.chat import Chat
from memenvs.text.model_server import ServerError

PAGE = Page(
    'Find "x".',
    (Element("tab", "Tab #1", "selected"), Element("tab", "Tab #2"), Element("link", "y")),
    "some y text",
)


def completion(content):
    return json.dumps({"choices": [{"message": {"content": content}}]}).encode()


@pytest.fixture
def server():
    """A server that gives the answers in ``answers`` and keeps what it was asked."""
    answers = []
    with chat_server(lambda prompt: answers.pop(0)) as server:
        server.answers, server.asked = answers, server.prompts
        yield server


def policy(server):
    return ModelPolicy(Chat(server.url, "m", "model", retries=1, pause=0.0))


def ask(of, page, state=None):
    return of.shortlist({"elements": element_rows(page)}, {"page": page}, state)


def test_a_shortlist_takes_two_calls_and_the_head_is_the_model_s_own(server):
    server.answers += [
        '{"actions": [["click", 1], ["click", 2]]}',
        '{"actions": [["hover", 0], ["click", 1], ["click", 7], "?"]}',
    ]
    asking = policy(server)
    assert ask(asking, PAGE)[0] == [1, 32]
    assert ask(asking, PAGE)[0] == [1, 32]  # not asked twice
    assert len(server.asked) == 2
    assert "1: tab Tab #2" in server.asked[0]
    assert "0: tab Tab #1 (selected)" in server.asked[0]
    assert "Done so far: nothing" in server.asked[0]
    assert "up to 3 other actions than click tab Tab #2" in server.asked[1]


def test_the_model_is_told_what_was_executed_and_not_what_it_chose(server):
    server.answers += ['{"actions": [["click", 1]]}', '{"actions": [["click", 2]]}'] * 2
    asking = policy(server)
    found, state = ask(asking, PAGE)
    assert found == [1, 2]
    ask(asking, PAGE, asking.observe(2, state))
    assert "Done so far: click link y" in server.asked[2]
    assert "Tab #2;" not in server.asked[2]


def test_where_the_goal_s_label_is_in_view_no_model_is_asked(server):
    shown = Page(PAGE.goal, (*PAGE.elements, Element("link", "x")))
    assert ask(policy(server), shown)[0] == [3]
    assert ask(policy(server), Page("Wait.", ()))[0] == [0]
    assert server.asked == []


def test_an_answer_of_another_form_is_asked_for_again_and_then_an_error(server):
    server.answers += ["no", *['{"actions": [["click", 2]]}'] * 2, '{"actions": []}', "[]"]
    asking = policy(server)
    found, state = ask(asking, PAGE)
    assert found == [2]
    with pytest.raises(ServerError, match="where JSON with 'actions'"):
        ask(asking, PAGE, asking.observe(0, state))


@pytest.mark.parametrize(
    "content",
    [
        '{"actions": [["click", true], ["press", 1], ["click", -1], ["click"], ["click", 1.0]]}',
        '{"actions": {"click": 1}}',
        "[1]",
    ],
)
def test_actions_that_are_none_of_the_page(content):
    with pytest.raises(ValueError, match="was due"):
        read_actions(completion(content), PAGE)
