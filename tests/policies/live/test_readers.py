"""A memory that is read in part: what is found, credited and heard is what its reader reads."""

from __future__ import annotations

import numpy as np
import pytest

from memenvs import policies
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.material.material import Material
from memenvs.material.records import Claim, Query
from memenvs.materials.odyssey import odyssey_noisy
from memenvs.policies import WriteMemory
from memenvs.reading.layer import claims_as_items
from memenvs.reading.readers import BM25Reader
from memenvs.text.encoders import embeddings
from saved_models import train

TEXTS = ("Rex Rex Rex sleeps.", "Rex is the dog of Ann.", "Tom is a cat.")


def memory_of(reader, policy="fifo"):
    memory = WriteMemory(policy, 3, reader=reader)
    for text in TEXTS:
        memory.add(text, "Ann")
    return memory


def reads_of(memory):
    """The column of reads, slot by slot in the order of writing."""
    columns = memory._layout.memory.slices["reads"]
    return memory.observation()["memory"][:, columns].ravel().tolist()


def test_bm25_finds_what_shares_a_word_and_nothing_else():
    memory = memory_of("bm25:2")
    assert [entry.number for entry in memory.search("rex")] == [0, 1]
    assert [entry.number for entry in memory.search("cat")] == [2]
    assert memory.search("submarine") == memory.search("?") == []
    assert len(memory.search("rex", k=1)) == 1


def test_a_search_gives_as_many_as_the_reader_reads():
    assert len(memory_of("similarity:2").search("Where is Rex?")) == 2
    assert len(memory_of("similarity:2").search("Where is Rex?", k=3)) == 3
    assert len(memory_of(None).search("Where is Rex?")) == 3
    assert memory_of("similarity:2").search("Where is Rex?", k=0) == []
    with pytest.raises(ValueError, match="k is -1; give how many claims to find"):
        memory_of("similarity:2").search("Where is Rex?", k=-1)


def test_an_index_that_was_changed_is_that_of_what_is_stored():
    """Write over, reword, forget and ask, against a reader of the same texts in one material."""
    rng = np.random.default_rng(0)
    vocabulary = [f"w{n}" for n in range(12)]
    memory = WriteMemory("fifo", 6, reader="bm25:3")

    def said(most):
        return " ".join(rng.choice(vocabulary, size=rng.integers(1, most)))

    for _ in range(60):
        memory.add(said(9), "Ann")
        stored = [entry.number for entry in memory.contents()]
        if rng.random() < 0.3:
            memory.update(int(rng.choice(stored)), said(9))
        if rng.random() < 0.2:
            memory.forget(int(rng.choice(stored)))
        asked, entries = said(4), memory.contents()
        claims = tuple(Claim(id=str(entry.number), text=entry.text) for entry in entries)
        again = claims_as_items(Material("m", claims, (), (Query(id="q", text=asked),)))
        scores = np.round(BM25Reader().scores(again, np.arange(len(claims)))[0], 9)
        order = np.argsort(-scores, kind="stable")[:3]
        expected = [(entries[n].number, scores[n]) for n in order if scores[n] > 0]
        found = [(entry.number, entry.score) for entry in memory.search(asked)]
        assert [number for number, _ in found] == [number for number, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected])


def test_what_is_read_is_counted_and_the_best_of_it_credited():
    memory = memory_of("bm25:1")
    memory.settled("cat", True)
    memory.settled("submarine", False)  # nothing is read
    memory.settled("tom", False, claims=())
    records = [(entry.credits, entry.debits) for entry in memory.contents()]
    assert records == [(0, 0), (0, 0), (1, 0)]
    assert reads_of(memory) == [0, 0, 2]


def test_a_reader_goes_to_the_file_and_comes_back(tmp_path):
    memory = memory_of("bm25:1")
    memory.settled("cat", True)
    memory.save(tmp_path / "memory")
    again = WriteMemory.load(tmp_path / "memory")
    assert reads_of(again) == [0, 0, 1]
    assert again.search("rex") == memory.search("rex")
    assert len(again.search("rex")) == 1


@pytest.mark.parametrize("reader", ["oracle", "own", "nearest:2", "similarity:0", "all:2"])
def test_a_reader_that_no_agent_has_is_refused(reader):
    with pytest.raises(ValueError, match="reader"):
        WriteMemory("fifo", 3, reader=reader)


@pytest.mark.parametrize("reader", ["similarity:1", "similarity:2"])
def test_it_reads_what_the_environment_would_read(reader):
    """Where each item is one claim, the same claims are read equally often."""
    material = claims_as_items(odyssey_noisy())
    env = MemorizationEnv(material, capacity=4, every=2, reader=reader)
    memory = WriteMemory("fifo", 4, reader=reader, claims=len(material.claims))
    claims, _, asked = embeddings(material)
    rule = policies.make("fifo", env, seed=0)
    shown, _ = env.reset(seed=0)
    state = rule.start(np.array([0]))
    for claim, vector in zip(material.claims, claims, strict=True):
        action, state = rule.predict(shown, state)
        shown, *_ = env.step(action)
        memory.add(claim.text, claim.source, embedding=vector.tolist())
        for settled in env.episode.log[len(env.episode.log) - env.episode.fresh :]:
            vector = asked[settled.query].tolist()
            memory.settled("", settled.answered, settled.claims, embedding=vector)
    reads = env.layout.memory.slices["reads"]
    assert shown["memory"][:, reads].sum() > 0
    assert shown["memory"][:, reads].ravel().tolist() == reads_of(memory)


def test_a_model_brings_its_reader(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, "odyssey-noisy", network="pointer", trained_on=(), capacity=3, reader="bm25:1")
    memory = WriteMemory(path, 3)
    for text in TEXTS:
        memory.add(text, "Ann")
    assert len(memory.search("rex")) <= 1
    assert len(WriteMemory(path, 3, reader="similarity:2").search("rex")) == 0
