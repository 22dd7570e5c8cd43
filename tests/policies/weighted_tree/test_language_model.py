"""Selector and summariser behind a local server that answers by rule, and what goes wrong."""

import json
import logging
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memenvs.policies.weighted_tree import WeightedTree, count_tokens
from memenvs.policies.weighted_tree.language_model import OpenAISelector, OpenAISummarizer


class Handler(BaseHTTPRequestHandler):
    """Selects what mentions the word "pick", the last first; ``server.fault`` spoils answers."""

    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = prompt["messages"][0]["content"]
        self.server.asked.append(prompt)
        fault, message = self.server.fault, {"content": json.dumps(self.rule(prompt))}
        if fault == "late":
            time.sleep(0.3)
        elif fault == "refusal":
            message = {"content": None, "refusal": "I will not."}
        elif isinstance(fault, dict):
            message = {"content": json.dumps(fault)}
        sent = (
            b"{"
            if fault == "bad JSON"
            else json.dumps({"choices": [{"message": message}]}).encode()
        )
        try:
            self.send_response(500 if fault == "status" else 200)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
        except ConnectionError:
            pass  # the client gave up waiting

    @staticmethod
    def rule(prompt):
        if prompt.startswith("Summarise"):
            return {"summary": "The model's own summary."}
        picked = [line for line in prompt.splitlines()[1:] if "pick" in line]
        return {"selected": [int(line.split()[0]) for line in reversed(picked)]}

    def log_message(self, *_):
        """Keep quiet."""


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.fault = [], None
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def tree_of(server=None, **settings):
    models = {}
    if server is not None:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        options = {"retries": 1, "pause": 0.001, "timeout": 5.0, **settings}
        models["selector"] = OpenAISelector(url, "rule", **options)
        models["summarizer"] = OpenAISummarizer(url, "rule", **options)
    tree = WeightedTree("full", **models)
    tree.begin_task("which stone")
    for text in ("red stone", "pick blue", "grey stone", "pick green"):
        tree.record_action(text, "success")
    return tree


def test_the_model_chooses_and_summarises_and_its_tokens_are_counted(server, caplog):
    tree = tree_of(server)
    context = tree.context("red stone")
    assert context.selected == (2, 4)
    assert context.selector_tokens == count_tokens(server.asked[0])
    assert "3 action active 0.75 0.66: grey stone" in server.asked[0]
    assert tree.nodes.missed[[1, 2, 3, 4]].tolist() == [1, 0, 1, 0]
    summary = tree.complete(result="blue")
    assert tree.nodes.texts[summary] == "The model's own summary."
    assert tree.tokens.summarizer == count_tokens(server.asked[1])
    assert not caplog.records


FAULTS = {
    "bad JSON": "did not send a chat completion",
    "refusal": "refused to answer: 'I will not.'",
    "late": "timed out",
    "status": "answered with status 500",
}
WRONG = [{"selected": "2"}, {"selected": [True]}, {"selected": [99]}, {"selected": [2, 2]}, {}]


@pytest.mark.parametrize("fault", [*FAULTS, *WRONG], ids=str)
def test_faults_fall_back_to_what_needs_no_model_with_a_warning(server, caplog, fault):
    server.fault = fault
    tree, plain = tree_of(server, timeout=0.1 if fault == "late" else 5.0), tree_of()
    with caplog.at_level(logging.WARNING, "memenvs"):
        context = tree.context("red stone", 14)
    assert context.selected == plain.context("red stone", 14).selected
    (record,) = caplog.records
    said = FAULTS.get(fault, "answered") if isinstance(fault, str) else "answered"
    assert said in record.message
    assert record.message.endswith("going on without the selector")
    # Both tries are paid for.
    assert context.selector_tokens == 2 * count_tokens(server.asked[0])


@pytest.mark.parametrize("fault", [*FAULTS, {"summary": 3}, {"summary": " "}], ids=str)
def test_a_summary_is_written_without_the_model_too(server, caplog, fault):
    server.fault = fault
    tree, plain = tree_of(server, timeout=0.1 if fault == "late" else 5.0), tree_of()
    summary, other = tree.complete(result="red"), plain.complete(result="red")
    assert tree.nodes.texts[summary] == plain.nodes.texts[other]
    assert "going on without the summariser" in caplog.records[-1].message


def test_an_absent_server_is_warned_of(server, caplog):
    tree = tree_of(server)
    server.shutdown()
    server.server_close()
    assert tree.context("red stone", 14).selected == tree_of().context("red stone", 14).selected
    assert "cannot be reached" in caplog.records[0].message
