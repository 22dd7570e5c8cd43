"""A writer behind a local server that answers by rule: what it keeps, costs and remembers."""

import json

import pytest

from chat_server import chat_server
from commands import answer, memenvs_cli
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.materials.odyssey import odyssey
from memenvs.policies import make
from memenvs.policies.live.write_memory import WriteMemory
from memenvs.text.chat import Chat
from players import run


def newest(prompt):
    """Keep what fits; else write over the slots in turn, by how much is left to be read."""
    if ": free" in prompt:
        return 'Of course: {"action": "keep"}'
    left = int(prompt.split("%")[0].split()[-1])
    return json.dumps({"action": "replace", "slot": 1 + (left > 40)})


def test_it_writes_what_the_model_says():
    with chat_server(newest) as server:
        env = MemorizationEnv(odyssey(), capacity=2, strict=True)
        policy = make("llm-writer", env, chat=Chat(server.url, "rule", "writer"))
        # 67 % and 50 % left: into slot 2; 33 % and 17 %: into slot 1
        assert run(policy, env) == [[0], [0, 1], [0, 2], [0, 3], [3, 4], [3, 5]]
        assert "at most 2 of them" in server.prompts[0]
        assert "Statement: " in server.prompts[0]
        assert policy.invalid == 0


@pytest.mark.parametrize("said", ["I do not know.", "", None])  # None: it will not, or filtered
def test_a_reply_that_is_no_action_is_a_pass(said):
    with chat_server(lambda _: said) as server:
        env = MemorizationEnv(odyssey(), capacity=2, strict=True)
        policy = make("llm-writer", env, chat=Chat(server.url, "rule", "writer"))
        assert run(policy, env)[-1] == []
        assert policy.remark() == (
            "6 answers of the server (60 + 18 tokens), 0 from the cache; "
            "6 replies were no legal action and passed"
        )


@pytest.fixture
def configured(monkeypatch, tmp_path):
    with chat_server(newest) as server:
        monkeypatch.setenv("MEMENVS_WRITER_URL", server.url)
        monkeypatch.setenv("MEMENVS_CACHE", str(tmp_path))
        yield server


def test_it_is_one_more_row_and_the_second_time_for_nothing(configured):
    options = [
        "compare", "--material", "odyssey", "--capacity", "2", "--episodes", "1", "--policy",
        "llm-writer", "--policy", "fifo",
    ]  # fmt: skip
    first, second = answer(*options), answer(*options)
    assert first["rows"] == second["rows"]
    row = first["rows"][0]
    assert (row["size"], row["illegal"]) == (2, 0)
    assert first["summary"][0]["remark"].startswith("6 answers of the server (60 + 18 tokens)")
    assert "0 answers of the server (0 + 0 tokens), 6 from" in second["summary"][0]["remark"]
    assert len(configured.prompts) == 6


def test_it_serves_a_real_stream(configured):
    memory = WriteMemory("llm-writer", 2, claims=4)
    for text in ("a", "b", "c"):
        memory.add(text)
    assert [entry.text for entry in memory.contents()] == ["a", "c"]


def test_without_a_server_one_line_says_what_to_set(monkeypatch):
    monkeypatch.delenv("MEMENVS_WRITER_URL", raising=False)
    result = memenvs_cli("compare", "--material", "odyssey", "--policy", "llm-writer")
    assert result.exit_code == 2
    assert "no writer is configured; set MEMENVS_WRITER_URL" in result.stderr
