"""A judge behind a local server that answers by rule, and everything that can go wrong with it."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies import make
from memenvs.policies.published.judge import ObservableJudge, configured_judge
from memenvs.policies.published.openai_judge import OpenAIJudge, observable_texts
from memenvs.text.chat import Chat
from memenvs.text.model_server import ServerError
from memories import told
from players import run

REDIRECTIONS = (301, 302, 303, 307, 308)


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
        elif isinstance(fault, dict):
            message = fault
        elif fault == "wrong type":
            message = {"content": '{"contradicts": "maybe", "importance": true}'}
        sent = json.dumps({"choices": [{"message": message}]}).encode()
        if fault == "no json":
            sent = b"<html>"
        elif fault == "deep":
            sent = b"[" * 100_000
        elif fault == "too much":
            sent = b" " * (2**20 + 1)
        try:
            if fault == "drip":
                self.drip()
                return
            if fault == "garbage":
                self.wfile.write(b"\x00\x1b[31mgarbage\r\n\r\n")
                return
            self.send_response(fault if isinstance(fault, int) else 200)
            if fault in REDIRECTIONS:
                self.send_header("Location", f"http://localhost:{self.server.server_port}/else")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
        except ConnectionError:
            pass  # the client gave up waiting

    def do_GET(self):
        self.server.asked.append((self.path, self.headers["Authorization"], "", ""))
        self.send_error(404)

    def drip(self):
        self.send_response(200)
        self.end_headers()
        for _ in range(100):  # each byte is in time
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.02)

    @staticmethod
    def rule(prompt):
        data = json.loads(prompt.splitlines()[-1])
        if "statements" in data:
            new, known = data["new"], data["statements"]
            return {"contradicts": [int(n) for n, text in known.items() if opposed(new, text)]}
        return {"importance": 9 if "allergic" in prompt else 2}

    def log_message(self, *_):
        """Keep quiet."""


def opposed(first, second):
    """They are of one subject, and one of them says "not"."""
    return first.split()[0] == second.split()[0] and ("not" in first) != ("not" in second)


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
    return OpenAIJudge(
        Chat(server.url, "rule", "judge", **{"timeout": 5.0, "pause": 0.001, **settings})
    )


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
    # One question a claim: what it is compared with are the nearest, however far they are.
    asked = [json.loads(prompt.splitlines()[-1]) for prompt in prompts]
    assert [(each["new"], list(each["statements"].values())) for each in asked] == [
        (SAID[1], [SAID[0]]),
        (SAID[2], [SAID[0], SAID[1]]),
        (SAID[3], [SAID[1], SAID[2]]),  # 0 was given up
    ]


def test_it_rates_importance(server):
    texts = ["Nice day", "Lea is allergic to nuts", "It rains", "Hm"]
    env = MemorizationEnv(told("abcd", texts=texts), capacity=2, strict=True)
    judge = judge_of(server, key="secret")
    assert run(make("generative-agents", env, judge=judge), env)[-1] == [1, 3]
    path, authorization, model, _ = server.asked[0]
    assert (path, authorization, model) == ("/v1/chat/completions", "Bearer secret", "rule")
    assert len(server.asked) == 4  # no text twice


@pytest.mark.parametrize(
    "fault", [500, 408, 409, 429, "slow", "text", "refusal", "no json", "wrong type"]
)
def test_it_tries_again(server, fault):
    server.script = [fault, fault]
    judge = judge_of(server, timeout=0.2)
    assert held_by("graphiti", environment(), judge) == [False, True, False, True]
    assert len(server.asked) == 5


@pytest.mark.parametrize(
    ("fault", "said", "tries"),
    [
        (503, "answered with status 503", 3),
        (401, "answered with status 401", 1),
        ("slow", "cannot be reached: timed out", 3),
        ("text", "answered 'I think so.' where JSON with 'contradicts' was asked for", 3),
        ("refusal", "refused to answer: 'I cannot help with that.'", 3),
        ("no json", "did not send a chat completion", 3),
        ("deep", "did not send a chat completion", 3),
        ("drip", "cannot be reached: timed out", 3),
        ("too much", "sent more than 1048576 bytes", 3),
        ("garbage", "cannot be reached: ", 3),
        ({"refusal": {"a": 1}}, "refused to answer: {'a': 1}", 3),
        ({"refusal": ["no"]}, r"refused to answer: \['no'\]", 3),
        ({"refusal": True}, "refused to answer: True", 3),
        ({"refusal": "no\n\x1b[31m" + "o" * 200}, r"refused to answer: 'no\\n\\x1b\[31mo+'$", 3),
        ({"content": "[" * 100_000}, r"answered '\[{99}' where JSON", 3),
        ({"content": [{"type": "text"}]}, r"answered \[{'type': 'text'}\] where JSON", 3),
        *((code, f"answered with status {code}; redirections are not", 1) for code in REDIRECTIONS),
    ],
)
def test_it_gives_up_and_says_why(server, fault, said, tries):
    server.script = [fault] * 9
    judge = judge_of(server, timeout=0.2, retries=2)
    with pytest.raises(
        ServerError, match=f"the judge at {server.url}/chat/completions {said}"
    ) as caught:
        held_by("graphiti", environment(), judge)
    assert len(server.asked) == tries
    assert str(caught.value).isprintable()  # one line, whatever was sent
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1" + "0" * 400, '"5"', "true"])
def test_importance_is_a_finite_number(server, number):
    server.script = [{"content": f'{{"importance": {number}}}'}] * 2
    judge = judge_of(server, retries=1)
    env = environment()
    with pytest.raises(ServerError, match="where JSON with 'importance' was asked for"):
        run(make("generative-agents", env, judge=judge), env)


def test_json_in_a_fence_is_read(server):
    server.script = [
        {"content": '```json\n{"contradicts": []}\n```'},
        {"content": ' ```\n{"contradicts": [1]}```\n'},
    ]
    assert held_by("graphiti", environment(), judge_of(server)) == [False, True, False, True]
    assert len(server.asked) == 3


def test_a_server_on_this_machine_is_not_asked_through_a_proxy(server, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert held_by("graphiti", environment(), judge_of(server)) == [False, True, False, True]


@pytest.mark.parametrize("key", ["se\ncret", "secret\r", "se\x00cret", "сecret"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key):
    with pytest.raises(ValueError, match="the judge's key holds characters") as caught:
        Chat("http://127.0.0.1:9", "rule", "judge", key=key)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://", "http://[bad", "http://h:port/v1", "http://h/a b", "http://h\n", "ftp://h"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ServerError, match="is no address of a judge") as caught:
        Chat(url, "rule", "judge")
    assert str(caught.value).isprintable()


def test_it_waits_longer_each_time(server, monkeypatch):
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    server.script = [500, 500, 500]
    held_by("graphiti", environment(), judge_of(server, pause=2.0))
    assert pauses == [2.0, 4.0, 8.0]


def test_an_absent_server_is_named():
    judge = OpenAIJudge(Chat("http://127.0.0.1:9", "rule", "judge", retries=1, pause=0.001))
    with pytest.raises(ServerError, match=r"http://127.0.0.1:9/chat/completions cannot be reached"):
        held_by("graphiti", environment(), judge)


def test_a_configured_judge_is_announced_in_one_line(monkeypatch, caplog):
    monkeypatch.setenv("MEMENVS_JUDGE_URL", "http://127.0.0.1:7/announced")
    monkeypatch.setenv("MEMENVS_JUDGE_MODEL", "a\nmodel")
    monkeypatch.setenv("MEMENVS_JUDGE_KEY", "secret")
    for name in ("graphiti", "mem0:legacy"):
        make(name, environment())
    url = "http://127.0.0.1:7/announced/chat/completions"
    line = f"memories in use ask the judge 'a\\nmodel' at {url} (MEMENVS_JUDGE_URL)"
    assert caplog.messages == [line]


def test_configuration(monkeypatch):
    assert isinstance(configured_judge(), ObservableJudge)
    monkeypatch.setenv("MEMENVS_JUDGE_URL", "http://127.0.0.1:9/v1/")
    monkeypatch.setenv("MEMENVS_JUDGE_MODEL", "small")
    judge = make("mem0:legacy", environment()).judge
    assert (judge.url, judge.model) == ("http://127.0.0.1:9/v1/chat/completions", "small")
    monkeypatch.setenv("MEMENVS_JUDGE_URL", "localhost")
    with pytest.raises(ServerError, match="'localhost' is no address of a judge"):
        make("graphiti", environment())


def test_texts_in_view():
    env = environment()
    env.reset(seed=0)
    for action in (1, 2):
        env.step(action)
    (texts,) = observable_texts(env)
    assert texts.claim == SAID[2]
    assert texts.stored == (SAID[0], SAID[1], None, None)
