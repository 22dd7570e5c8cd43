"""What a server does with a memory beside adding: look up, forget, list messages, tell dates."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memenvs.policies import WriteMemory


@pytest.fixture
def memory():
    made = WriteMemory("fifo", capacity=3)
    for text in ("The key is under the pot.", "The code is 4711.", "Rain fell."):
        made.add(text, source="ada")
    return made


def test_a_claim_is_looked_up_and_forgotten(memory):
    assert (memory.get(1).text, memory.get(1).score) == ("The code is 4711.", None)
    memory.forget(1)
    assert [entry.number for entry in memory.contents()] == [0, 2]
    for verb in (memory.get, memory.forget):
        with pytest.raises(ValueError, match="claim 1 is not in the memory"):
            verb(1)
    assert all(entry.number != 1 for entry in memory.search("code 4711"))
    number = memory.add("The door is red.")  # the slot is free: nothing else goes
    assert [entry.number for entry in memory.contents()] == [0, 2, number]
    with pytest.raises(ValueError, match="claim 1 is not in the memory"):
        memory.settled("code", answered_rightly=True, claims=[1])


def test_what_was_forgotten_stays_so_in_a_file(memory, tmp_path):
    memory.forget(0)
    memory.save(tmp_path / "m.memory")
    assert WriteMemory.load(tmp_path / "m.memory").contents() == memory.contents()


def test_search_gives_scores_from_the_best_down(memory):
    found = memory.search("Where is the key, under the pot?", k=3)
    scores = [entry.score for entry in found]
    assert found[0].number == 0
    assert scores == sorted(scores, reverse=True)
    assert memory.search("The code is 4711.", k=1)[0].score == pytest.approx(1.0)


def test_length_and_name(memory):
    assert len(memory) == 3
    assert repr(memory) == "WriteMemory('fifo', 3 of 3 claims)"
    assert WriteMemory("fifo", capacity=2)  # an empty memory is one, too


def test_messages_and_dates():
    memory = WriteMemory("fifo", capacity=9)
    numbers = memory.add_messages(
        [
            {"role": "user", "name": "Ada", "content": "One.", "time": "2024-01-31"},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "assistant", "content": "Two.", "time": datetime(2024, 2, 1, tzinfo=UTC)},
            {"role": "user", "content": "Three.", "time": 7.5},
        ],
        group="s1",
    )
    assert numbers == [0, 1, 2]
    assert [(e.source, e.time, e.group) for e in memory.contents()] == [
        ("Ada", 19_753.0, "s1"),
        ("assistant", 19_754.0, "s1"),
        ("user", 7.5, "s1"),
    ]
    with pytest.raises(ValueError, match="'soon' is no date"):
        memory.add("Four.", time="soon")
    with pytest.raises(ValueError, match="is list, not a text"):
        memory.add_messages([{"role": "user", "content": [{"type": "text"}]}])
    assert len(memory) == 3
