"""A judge behind a local server that answers by rule, and everything that can go wrong with it."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.policies import make
from memenvs.policies.today.judge import ObservableJudge, configured_judge
from memenvs.policies.today.openai_judge import JudgeError, OpenAIJudge
from memenvs.policies.today.texts import observable_texts
from memories import told
from players import run


class Server(ThreadingHTTPServer):
    """Answers by rule; ``script`` holds what goes wrong first, one entry a request."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.asked = [], []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        self.server.asked.append((self.path, self.headers["Authorization"], body["model"], prompt))
        fault = self.server.script.pop(0) if self.server.script else None
        message = {"content": json.dumps(self.rule(prompt))}
        if fault == "slow":
            time.sleep(0.5)
        elif fault == "text":
            message = {"content": "I think so."}
        elif fault == "refusal":
            message = {"content": None, "refusal": "I cannot help with that."}
        elif fault == "wrong type":
            message = {"content": '{"contradiction": "maybe", "importance": true}'}
        sent = json.dumps({"choices": [{"message": message}]}).encode()
        if fault == "no json":
            sent = b"<html>"
        try:
            self.send_response(fault if isinstance(fault, int) else 200)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
        except ConnectionError:
            pass  # the client gave up waiting

    @staticmethod
    def rule(prompt):
        if "contradiction" in prompt:
            first, second = (line[3:] for line in prompt.splitlines()[-2:])
            return {"contradiction": ("not" in first) != ("not" in second)}
        return {"importance": 9 if "allergic" in prompt else 2}

    def log_message(self, *_):
        """Keep quiet."""


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def judge_of(server, **settings):
    return OpenAIJudge(server.url, "rule", **{"timeout": 5.0, "pause": 0.001, **settings})


SAID = ["Tom eats meat", "It rains", "Tom does not eat meat", "Tom eats meat daily"]


def environment(**settings):
    material = told(["a", "b", "a10", "a20"], texts=SAID)
    return MemorizationEnv(material, capacity=4, strict=True, **settings)


def held_by(name, env, judge):
    policy = make(name, env, judge=judge)
    observation, _ = env.reset(seed=0)
    state, over = None, False
    while not over:
        action, state = policy.predict(observation, state)
        observation, _, over, _, _ = env.step(action)
    return policy.held({k: v[None] for k, v in observation.items()}, state)[0].tolist()


def test_it_decides_on_contradictions(server):
    # One source and no times: the stand-in sees no contradiction, the model sees two.
    assert held_by("graphiti", environment(), ObservableJudge()) == [True, True, True, True]
    assert held_by("graphiti", environment(), judge_of(server)) == [False, True, False, True]
    prompts = [prompt for *_, prompt in server.asked]
    assert len(prompts) == len(set(prompts)) == 2  # 2 with 0; 3 with 2; the rest is given up or far


def test_it_rates_importance(server):
    texts = ["Nice day", "Lea is allergic to nuts", "It rains", "Hm"]
    env = MemorizationEnv(told("abcd", texts=texts), capacity=2, strict=True)
    judge = judge_of(server, key="secret")
    assert run(make("generative-agents", env, judge=judge), env)[-1] == [1, 3]
    path, authorization, model, _ = server.asked[0]
    assert (path, authorization, model) == ("/v1/chat/completions", "Bearer secret", "rule")
    assert len(server.asked) == 4  # no text twice


@pytest.mark.parametrize("fault", [500, 429, "slow", "text", "refusal", "no json", "wrong type"])
def test_it_tries_again(server, fault):
    server.script = [fault, fault]
    judge = judge_of(server, timeout=0.2)
    assert held_by("graphiti", environment(), judge) == [False, True, False, True]
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("fault", "said", "tries"),
    [
        (503, "answered with status 503", 3),
        (401, "answered with status 401", 1),
        ("slow", "cannot be reached: timed out", 3),
        ("text", "answered 'I think so.' where JSON with 'contradiction' was asked for", 3),
        ("refusal", "refused to answer: I cannot help with that.", 3),
        ("no json", "did not send a chat completion", 3),
    ],
)
def test_it_gives_up_and_says_why(server, fault, said, tries):
    server.script = [fault] * 9
    judge = judge_of(server, timeout=0.2, retries=2)
    with pytest.raises(JudgeError, match=f"the judge at {server.url}/chat/completions {said}"):
        held_by("graphiti", environment(), judge)
    assert len(server.asked) == tries


def test_it_waits_longer_each_time(server, monkeypatch):
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    server.script = [500, 500, 500]
    held_by("graphiti", environment(), judge_of(server, pause=2.0))
    assert pauses == [2.0, 4.0, 8.0]


def test_an_absent_server_is_named():
    judge = OpenAIJudge("http://127.0.0.1:9", "rule", retries=1, pause=0.001)
    with pytest.raises(JudgeError, match=r"http://127.0.0.1:9/chat/completions cannot be reached"):
        held_by("graphiti", environment(), judge)


def test_configuration(monkeypatch):
    assert isinstance(configured_judge(), ObservableJudge)
    monkeypatch.setenv("MEMENVS_JUDGE_URL", "http://127.0.0.1:9/v1/")
    monkeypatch.setenv("MEMENVS_JUDGE_MODEL", "small")
    judge = make("mem0:legacy", environment()).judge
    assert (judge.url, judge.model) == ("http://127.0.0.1:9/v1/chat/completions", "small")
    monkeypatch.setenv("MEMENVS_JUDGE_URL", "localhost")
    with pytest.raises(JudgeError, match="'localhost' is no address of a judge"):
        make("graphiti", environment())


def test_texts_in_view():
    env = environment()
    env.reset(seed=0)
    for action in (1, 2):
        env.step(action)
    (texts,) = observable_texts(env)
    assert texts.claim == SAID[2]
    assert texts.stored == (SAID[0], SAID[1], None, None)
