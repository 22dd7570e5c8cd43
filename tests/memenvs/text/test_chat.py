"""Conversations with a model: nothing is asked twice, and what it cost is counted."""

import json
import re
import threading
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_server import chat_server
from memenvs.text.cache import Cache
from memenvs.text.chat import Chat, _text, configured_chat
from memenvs.text.completions import chat_field, quoted
from memenvs.text.model_server import ServerError


def test_nothing_is_asked_twice_by_another_process(tmp_path):
    with chat_server(lambda prompt: prompt.upper()) as server:
        for start in range(2):  # each with a cache of its own over the same folder
            cache = Cache(tmp_path)
            chat = Chat(server.url, "m", "writer", cache, pause=0.001)
            assert [chat.text("a"), chat.text("b"), chat.text("a")] == ["A", "B", "A"]
            usage = chat.usage
            counts = (usage.answers, usage.cached, usage.prompt_tokens, usage.completion_tokens)
            assert counts == [(2, 1, 20, 6), (0, 3, 0, 0)][start]
            cache.close()
        other = Chat(server.url, "n", "writer", Cache(tmp_path))
        assert other.text("a") == "A"
        assert server.prompts == ["a", "b", "a"]  # another model is another question


def test_without_a_folder_nothing_is_kept():
    with chat_server(lambda _: "yes") as server:
        chat = Chat(server.url, "m", "writer")
        assert [chat.text("a"), chat.text("a")] == ["yes", "yes"]
        assert len(server.prompts) == 2
        assert str(chat.usage) == "2 answers of the server (20 + 6 tokens), 0 from the cache"


def test_an_answer_of_no_use_is_asked_for_again_and_paid_for(tmp_path):
    said = iter(['{"answer": 3}', "no", '```json\n{"answer": "tea"}\n```'])
    with chat_server(lambda _: next(said)) as server:
        chat = Chat(server.url, "m", "reasoner", Cache(tmp_path), pause=0.001)
        assert chat.field("q", "answer", str) == "tea"
        assert chat.field("q", "answer", str) == "tea"
        assert (chat.usage.answers, chat.usage.cached) == (3, 1)
        assert chat.usage.prompt_tokens == 30


def test_a_server_that_fails_for_a_moment_is_asked_again():
    said = iter([500, 429, "fine"])
    with chat_server(lambda _: next(said)) as server:
        assert Chat(server.url, "m", "writer", pause=0.001).text("q") == "fine"
        assert len(server.prompts) == 3


def test_a_refusal_is_what_it_says():
    body = {"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}
    assert _text(json.dumps(body).encode()) == "I cannot."
    with pytest.raises(ValueError, match="refused to answer: 'I cannot"):
        chat_field(json.dumps(body).encode(), "answer")


def test_what_never_answers_is_refused_in_one_line():
    with chat_server(lambda _: json.dumps({"answer": None})) as server:
        chat = Chat(server.url, "m", "reasoner", retries=1, pause=0.001)
        with pytest.raises(ServerError, match=r"reasoner at .* where JSON with 'answer' was asked"):
            chat.field("q", "answer", str)


def test_configuration(monkeypatch, tmp_path):
    monkeypatch.delenv("MEMENVS_WRITER_URL", raising=False)
    with pytest.raises(ServerError, match="no writer is configured; set MEMENVS_WRITER_URL"):
        configured_chat("writer")
    with chat_server(lambda _: "ok") as server:
        monkeypatch.setenv("MEMENVS_WRITER_URL", server.url)
        monkeypatch.setenv("MEMENVS_WRITER_MODEL", "small")
        monkeypatch.setenv("MEMENVS_WRITER_KEY", "secret")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        monkeypatch.delenv("MEMENVS_CACHE", raising=False)
        chat = configured_chat("writer")
        assert (chat.model, chat.text("q")) == ("small", "ok")
        assert server.keys == ["Bearer secret"]
        assert (tmp_path / "xdg" / "memenvs" / "replies" / "cache.sqlite").is_file()
        monkeypatch.setenv("MEMENVS_CACHE", str(tmp_path / "mine"))
        configured_chat("writer").text("q")
        assert len(server.prompts) == 2
        assert (tmp_path / "mine" / "cache.sqlite").is_file()


THOUGHTS = (
    '<think>The user wants {"answer": "coal"}.</think>\n{"answer": "tea"}',
    'Maybe {"answer": "milk"}? No. ```json\n{"answer": "tea"}\n``` That is it.',
    'I think {so}: </think> {"answer": "tea", "why": {"answer": "inner"}} {"other": 1}',
    '<thinking>\n\n</thinking>{"answer": "tea"',
)


@pytest.mark.parametrize("said", THOUGHTS[:3])
def test_the_last_object_with_the_field_is_the_answer(said):
    with chat_server(lambda _: said) as server:
        assert Chat(server.url, "m", "reasoner").field("q", "answer", str) == "tea"


def test_an_object_that_is_cut_off_is_none():
    with chat_server(lambda _: THOUGHTS[3]) as server:
        chat = Chat(server.url, "m", "reasoner", retries=0)
        assert chat.text("q") == '{"answer": "tea"'
        with pytest.raises(ServerError, match="where JSON with 'answer' was asked"):
            chat.field("q", "answer", str)


def test_nothing_is_sent_that_was_not_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMENVS_CACHE", str(tmp_path))
    with chat_server(lambda _: "ok") as server:
        monkeypatch.setenv("MEMENVS_WRITER_URL", server.url)
        for options in ("", '{"temperature": 0.5, "max_tokens": 7}'):
            monkeypatch.setenv("MEMENVS_WRITER_OPTIONS", options)
            configured_chat("writer").text("q")
        plain, optional = server.bodies
        assert plain.keys() == {"model", "messages"}
        assert optional == {**plain, "temperature": 0.5, "max_tokens": 7}
        for wrong in ("[]", "{", '{"model": "other"}'):
            monkeypatch.setenv("MEMENVS_WRITER_OPTIONS", wrong)
            with pytest.raises(ServerError, match="MEMENVS_WRITER_OPTIONS is no JSON object of"):
                configured_chat("writer")


def test_a_retrained_model_is_asked_anew_and_a_recording_asks_nobody(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMENVS_CACHE", str(tmp_path))
    with chat_server(lambda prompt: f"{prompt} {len(server.prompts)}") as server:
        monkeypatch.setenv("MEMENVS_WRITER_URL", server.url)

        def say(prompt="q", **variables):
            with monkeypatch.context() as patch:
                for name, value in variables.items():
                    patch.setenv(f"MEMENVS_{name}", value)
                return configured_chat("writer").text(prompt)

        assert [say(), say(), say(WRITER_REVISION="2"), say()] == ["q 1", "q 1", "q 2", "q 1"]
        assert say(REPLIES="off") == "q 3"
        assert [say(REPLIES="record"), say()] == ["q 4", "q 4"]
        with pytest.raises(ServerError, match="MEMENVS_REPLIES='no' is none of keep, record, repl"):
            say(REPLIES="no")
    assert say(REPLIES="replay") == "q 4"  # the server is gone
    with pytest.raises(ServerError, match=r"no reply of the writer at .* is recorded for 'other'"):
        say("other", REPLIES="replay")


def test_several_questions_wait_at_once():
    met = threading.Barrier(3, timeout=20)

    def rule(prompt):
        met.wait()  # passes where three are asked at the same time
        return json.dumps({"answer": prompt})

    with chat_server(rule) as server:
        chat = Chat(server.url, "m", "reasoner", together=3)
        prompts = ["a", "b", "a", "c"]
        assert chat.fields(prompts, "answer", str) == prompts
        assert sorted(server.prompts) == ["a", "b", "c"]
        assert (chat.usage.answers, chat.usage.cached) == (3, 0)


def test_an_answer_is_kept_where_another_one_fails(tmp_path):
    with chat_server(lambda prompt: 400 if prompt == "b" else prompt) as server:
        chat = Chat(server.url, "m", "reasoner", Cache(tmp_path), together=1)
        with pytest.raises(ServerError, match="status 400"):
            chat.ask_all(["a", "b", "c"], bytes)
        assert chat.text("a") == "a"
        assert server.prompts == ["a", "b"]


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("7", 7, 7), ("1e9", 60, 60), ("-3", 0, 0), ("soon", 0.5, 0.5), ("nan", 0.5, 0.5)],
)
def test_a_server_says_how_long_to_wait(header, least, most, monkeypatch):
    pauses, said = [], iter([429, "fine"])
    monkeypatch.setattr("memenvs.text.model_server.time.sleep", pauses.append)
    with chat_server(lambda _: next(said)) as server:
        server.headers = {"Retry-After": header}
        assert Chat(server.url, "m", "writer").text("q") == "fine"
    assert least <= pauses[0] <= most


def test_a_date_to_wait_for(monkeypatch):
    pauses, said = [], iter([503, "fine"])
    monkeypatch.setattr("memenvs.text.model_server.time.sleep", pauses.append)
    with chat_server(lambda _: next(said)) as server:
        server.headers = {"Retry-After": formatdate(time.time() + 30, usegmt=True)}
        assert Chat(server.url, "m", "writer").text("q") == "fine"
    assert 20 < pauses[0] <= 30


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"error": {"message": "temperature is not supported"}}, ": 'temperature is not supported"),
        ({"error": "model 'x' not found, key sk-secret"}, 'not found, key ..."$'),
        ("plain\n\x1b[31mtext", r": 'plain\\n\\x1b\[31mtext'$"),
        ("<html><body>no</body></html>", "status 400$"),
    ],
)
def test_why_a_server_refuses_is_told_without_the_key(sent, told):
    with chat_server(lambda _: 400) as server:
        server.refusal = sent if isinstance(sent, str) else json.dumps(sent)
        chat = Chat(server.url, "m", "writer", key="sk-secret")
        with pytest.raises(ServerError, match=f"answered with status 400|{told}") as refused:
            chat.text("q")
    assert re.search(told, str(refused.value))
    assert "sk-secret" not in str(refused.value)
    assert str(refused.value).isprintable()


FORGED = st.lists(
    st.sampled_from(
        ["\n", "Memory:\n1: ", "Questions: 100 %", "```", '"}', "\u2028", "\nSystem: ", "}}", "<s>"]
    )
    | st.text(max_size=5)
).map("".join)


@given(FORGED, FORGED)
def test_what_others_said_stays_within_its_quotation(one, two):
    line = quoted({"new": one, "statements": {1: two}})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"new": one, "statements": {"1": two}}
