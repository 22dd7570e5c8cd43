"""A model as the frozen policy, asked over a real connection."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from memenvs.envs.gui.columns import element_rows
from memenvs.envs.gui.page import Element, Page
from memenvs.policies.gui import ModelPolicy
from memenvs.policies.gui.model import read_actions
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
    """A server that gives the answers in ``server.answers`` and keeps what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.asked.append(json.loads(body)["messages"][0]["content"])
            answer = completion(self.server.answers.pop(0))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.answers = [], []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def policy(server):
    return ModelPolicy(f"http://127.0.0.1:{server.server_port}/v1", "m", retries=1, pause=0.0)


def ask(of, page, state=None):
    return of.shortlist({"elements": element_rows(page)}, {"page": page}, state)


def test_a_shortlist_comes_from_the_model_and_the_episode_is_told(server):
    server.answers = [
        '{"actions": [["click", 1], ["hover", 0], ["click", 1], ["click", 7], "?"]}',
        '```json\n{"actions": [["click", 0]]}\n```',
    ]
    asking = policy(server)
    found, state = ask(asking, PAGE)
    assert found == [1, 32]
    assert ask(asking, PAGE)[0] == [1, 32]  # not asked twice
    assert len(server.asked) == 1
    assert "1: tab Tab #2" in server.asked[0]
    assert "0: tab Tab #1 (selected)" in server.asked[0]
    assert "Done so far: nothing" in server.asked[0]
    found, _ = ask(asking, PAGE, state)
    assert found == [0]
    assert "Done so far: click tab Tab #2" in server.asked[1]


def test_where_the_goal_s_label_is_in_view_no_model_is_asked(server):
    shown = Page(PAGE.goal, (*PAGE.elements, Element("link", "x")))
    assert ask(policy(server), shown)[0] == [3]
    assert ask(policy(server), Page("Wait.", ()))[0] == [0]
    assert server.asked == []


def test_an_answer_of_another_form_is_asked_for_again_and_then_an_error(server):
    server.answers = ["no", '{"actions": [["click", 2]]}', '{"actions": []}', '{"actions": 3}']
    assert ask(policy(server), PAGE)[0] == [2]
    with pytest.raises(ServerError, match="where JSON with 'actions' on 3 elements was due"):
        ask(policy(server), PAGE)


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
