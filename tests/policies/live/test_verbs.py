"""What a server does with a memory beside adding: look up, forget, list messages, tell dates."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
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
    numbers = memory.add(
        [
            {"role": "user", "name": "Ada", "content": "One.", "time": "2024-01-31"},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "assistant", "content": "Two.", "time": datetime(2024, 2, 1, tzinfo=UTC)},
            {"role": "user", "content": "Three.", "time": 7.5},
        ],
        group="s1",
    )
    assert numbers == [0, 1, 2]
    assert memory.add(({"role": "user", "content": "Four."},), "Eve", 8) == [3]
    assert memory.add([]) == []
    assert [(e.source, e.time, e.group) for e in memory.contents()] == [
        ("Ada", 19_753.0, "s1"),
        ("assistant", 19_754.0, "s1"),
        ("user", 7.5, "s1"),
        ("Eve", 8, ""),
    ]


def test_a_list_with_a_message_that_is_none_is_refused_whole():
    memory = WriteMemory("fifo", capacity=9)
    good = {"role": "user", "content": "One."}
    for bad, words in (
        ({"role": "user", "content": [{"type": "text"}]}, "is list, not a text"),
        ("Two.", "a message is str, not like"),
        ({"content": "Two.", "time": "soon"}, "'soon' is no date"),
    ):
        with pytest.raises(ValueError, match=words):
            memory.add([good, bad])
    with pytest.raises(ValueError, match="of one text, and not of a list"):
        memory.add([good], embedding=[1.0])
    assert len(memory) == 0
    assert memory.add("One.") == 0


def test_a_text_is_replaced_where_it_stands(memory, tmp_path):
    memory.settled("What is the code?", answered_rightly=True)
    before = memory.get(1)
    assert before.credits == 1
    memory.update(1, "Bob has a dog.")
    assert memory.get(1) == replace(before, text="Bob has a dog.")
    assert [entry.number for entry in memory.contents()] == [0, 1, 2]
    assert memory.search("Bob has a dog.", k=1)[0].score == pytest.approx(1.0)
    assert memory.search("The code is 4711.", k=1)[0].score < 0.9
    memory.save(tmp_path / "m.memory")
    assert WriteMemory.load(tmp_path / "m.memory").contents() == memory.contents()
    with pytest.raises(ValueError, match="claim 7 is not in the memory"):
        memory.update(7, "Nobody.")
    with pytest.raises(ValueError, match="text"):
        memory.update(1, None)
    assert memory.get(1).text == "Bob has a dog."


@pytest.mark.parametrize("name", ["fifo", "longest", "trust"])
def test_an_updated_memory_shows_what_one_shows_that_read_the_new_text(name):
    """The last claim: later ones were compared with the text that stood there then."""
    lines = ["Ann is in May?", "Ann is 30 years old.", "The dog barked yesterday."]
    shown = []
    for last in ("Zoe.", "I saw Ann and Rex in 2021?"):
        memory = WriteMemory(name, capacity=4)
        memory.settled("Where was Ann?", answered_rightly=False, claims=())
        for line in [*lines, last]:
            memory.add(line, source="Bob")
        memory.update(3, "I saw Ann and Rex in 2021?")
        shown.append(memory.observation())
    for part, array in shown[0].items():
        np.testing.assert_allclose(array, shown[1][part], rtol=2e-6, atol=2e-6, err_msg=part)


def test_eight_threads_add_two_hundred_claims():
    memory = WriteMemory("fifo", capacity=20)
    with ThreadPoolExecutor(8) as pool:
        added = pool.map(
            lambda thread: [memory.add(f"{thread} says {i}.") for i in range(25)], range(8)
        )
        numbers = sorted(number for each in added for number in each)
    assert numbers == list(range(200))
    assert [entry.number for entry in memory.contents()] == list(range(180, 200))


def test_a_stream_longer_than_expected_has_late_claims_kept_where_answers_speak_for_them():
    memory = WriteMemory("trust", capacity=4, claims=20)
    for number in range(130):
        memory.add(f"Fact {number} of topic{number}.", source="ann" if number % 2 else "bob")
        memory.settled(f"topic{number}", answered_rightly=bool(number % 2), claims=())
    for number in range(130, 134):
        memory.add(f"topic{number} is asked about.", source="ann")
        for _ in range(20):
            memory.settled(f"topic{number} is asked about.", answered_rightly=True)
    assert max(entry.number for entry in memory.contents()) >= 130
