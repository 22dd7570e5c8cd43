"""Conversations with a model: nothing is asked twice, and what it cost is counted."""

import json

import pytest

from chat_server import chat_server
from memenvs.text.cache import Cache
from memenvs.text.chat import Chat, _text, configured_chat
from memenvs.text.model_server import ServerError, chat_field


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
