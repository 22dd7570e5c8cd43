"""A memory for a real agent: it decides as its policy would in an environment, and survives."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from memenvs import policies
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies import WriteMemory, is_path
from memenvs.policies.live.memory_file import TEXT
from memenvs.storage.reading import sealed
from memenvs.text.encoders import HashingEncoder, embeddings
from saved_models import train

CLOSE = 2e-6
LINES = (
    ("The cat is called Tom.", "Ann"),
    ("It rained in May.", "Bob"),
    ("The dog is called Rex.", "Ann"),
    ("Tom is a cat.", "Eve"),
    ("Bob was born in 1980.", "Bob"),
)


def follow(material, memory, env, seed=0):
    """Let a policy play in an environment, and a memory of the same policy read along."""
    policy = policies.make(memory.policy_name, env, seed=seed)
    shown, _ = env.reset(seed=seed)
    state = policy.start(np.array([seed]))
    asked = embeddings(material)[2]
    for claim in material.claims:
        action, state = policy.predict(shown, state)
        shown, *_ = env.step(action)
        number = memory.add(
            claim.text,
            claim.source,
            claim.time,
            claim.confidence,
            group=claim.group,
            cost=claim.cost,
            cues=dict(claim.cues),
            embedding=claim.embedding,
        )
        assert number == env.episode.decision - 1
        stored = sorted(env.episode.slots.stored)
        assert [entry.number for entry in memory.contents()] == stored
        for settled in env.episode.log[len(env.episode.log) - env.episode.fresh :]:
            vector = asked[settled.query].tolist()
            memory.settled("", settled.answered, settled.claims, embedding=vector)
    own = memory.observation()
    for name, array in shown.items():
        np.testing.assert_allclose(own[name], array, rtol=CLOSE, atol=CLOSE, err_msg=name)


@pytest.mark.parametrize("network", ["pointer", "estimator-pointer", "mlp"])
def test_a_model_keeps_what_it_would_keep_in_an_environment(tmp_path, network):
    path = tmp_path / "best_model.zip"
    train(path, "readable", network=network, every=4, capacity=6)
    env = MemorizationEnv("readable", split="test", every=4, capacity=6)
    for place in (0, 1):
        material = env.materials.fixed[place]
        env.materials.fixed = [material]
        follow(material, WriteMemory(path, 6, claims=len(material.claims)), env)
        env = MemorizationEnv("readable", split="test", every=4, capacity=6)


def test_a_model_of_priorities_keeps_what_it_would_keep(tmp_path):
    path = tmp_path / "best_model.zip"
    arguments = {"capacity": 4, "action": "priority", "every": 4}
    train(path, "readable", "ppo", **arguments)
    env = MemorizationEnv("readable-test-5", **arguments)
    (material,) = env.materials.fixed
    follow(material, WriteMemory(path, 4, claims=len(material.claims)), env)


@pytest.mark.parametrize(
    "name", ["random", "fifo", "reservoir", "longest", "trust", "memorybank", "mem0", "lightmem"]
)
def test_a_heuristic_keeps_what_it_would_keep(name):
    env = MemorizationEnv("odyssey-noisy", capacity=3, every=2)
    (material,) = env.materials.fixed
    memory = WriteMemory(name, 3, claims=len(material.claims), encoder=HashingEncoder())
    follow(material, memory, env)


@pytest.mark.parametrize("name", ["reservoir", "memos", "MODEL", "HISTORY"])
def test_a_reopened_memory_goes_on_as_if_it_had_not_been_closed(tmp_path, name):
    """A model and rules with chance and a state of their own."""
    if name.isupper():
        path = tmp_path / "run" / "best_model.zip"
        network = "estimator-pointer" if name == "HISTORY" else "pointer"
        train(path, "odyssey-noisy", network=network, trained_on=(), capacity=3)
        name = str(path)
    one = WriteMemory(name, 2, seed=3)
    rng = np.random.default_rng(0)
    lines = [f"{text} {i}" for i in range(6) for text, _ in LINES]
    other = None
    for i, text in enumerate(lines):
        if i % 7 == 5:
            one.save(tmp_path / "memory")
            other = WriteMemory.load(tmp_path / "memory", name if is_path(name) else None)
            assert other.contents() == one.contents()
        if other is not None:
            assert other.add(text, LINES[i % 5][1]) == i
        one.add(text, LINES[i % 5][1])
        right = bool(rng.integers(2))
        one.settled(text, right)
        if other is not None:
            other.settled(text, right)
            assert other.contents() == one.contents()
            for array, same in zip(
                one.observation().values(), other.observation().values(), strict=True
            ):
                assert (array == same).all()


def test_what_was_read_has_room_in_a_stream_longer_than_it_was_said_to_be(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, "readable", network="estimator-pointer", every=4, capacity=6)
    memory = WriteMemory(path, 3, claims=8)
    for number, vector in enumerate(np.random.default_rng(0).normal(size=(30, 16))):
        assert memory.add("", f"s{number % 3}", embedding=vector) == number


def test_what_is_kept_can_be_read_and_searched():
    memory = WriteMemory("fifo", 3)
    for time, (text, source) in enumerate(LINES):
        memory.add(text, source, float(time), 0.5)
    kept = memory.contents()
    assert [entry.text for entry in kept] == [text for text, _ in LINES[2:]]
    assert (kept[0].source, kept[0].time, kept[0].confidence) == ("Ann", 2.0, 0.5)
    assert [entry.number for entry in memory.search("What is the dog called?", 1)] == [2]
    assert len(memory.search("What?", 9)) == 3


def test_the_most_similar_stored_claim_is_credited_unless_it_is_said_which():
    memory = WriteMemory("fifo", 3)
    for text, source in LINES:
        memory.add(text, source)
    memory.settled("What is the dog called?", True)
    memory.settled("When was Bob born?", False)
    memory.settled("When was Bob born?", False, claims=[3, 2])
    memory.settled("When was Bob born?", True, claims=())
    records = {entry.number: (entry.credits, entry.debits) for entry in memory.contents()}
    assert records == {2: (1, 1), 3: (0, 1), 4: (0, 1)}
    layout = MemorizationEnv("odyssey").layout
    answered = memory.observation()["context"][layout.index("answered", "context")]
    assert answered == np.float32(0.5)
    with pytest.raises(ValueError, match="claim 0 is not in the memory"):
        memory.settled("?", True, claims=[0])


def test_nothing_is_credited_where_nothing_is_alike():
    memory = WriteMemory("fifo", 3)
    memory.settled("When?", False)
    memory.add("Rex")
    memory.settled("", False)
    assert [entry.debits for entry in memory.contents()] == [0]


def test_what_no_agent_may_know_is_refused():
    for name in ("optimal", "greedy", "clairvoyant"):
        with pytest.raises(ValueError, match="is an oracle"):
            WriteMemory(name, 3)


def test_bad_input_says_what_is_wrong(tmp_path):
    memory = WriteMemory("trust", 3, cues=["importance"])
    with pytest.raises(ValueError, match="the cue 'weight' is unknown to the policy; it knows imp"):
        memory.add("x", cues={"weight": 1.0})
    with pytest.raises(ValueError, match="no vector of 64 finite numbers"):
        memory.add("x", embedding=[1.0])
    with pytest.raises(ValueError, match="confidence"):
        memory.add("x", confidence=2.0)
    assert memory.contents() == []
    assert memory.add("x", cues={"importance": 1.0}) == 0
    path = tmp_path / "best_model.zip"
    train(path, "readable", network="pointer")
    with pytest.raises(ValueError, match="a model brings its own"):
        WriteMemory(path, 3, cues=["importance"])
    with pytest.raises(ValueError, match="vectors of 16 numbers"):
        WriteMemory(path, 6).add("x")
    for name in ("trust", path):
        with pytest.raises(ValueError, match="capacity=0 is not a positive integer"):
            WriteMemory(name, 0)
        with pytest.raises(ValueError, match="claims=0 is not a positive integer"):
            WriteMemory(name, 3, claims=0)


def test_a_bad_file_or_another_model_is_refused(tmp_path):
    path = tmp_path / "run" / "best_model.zip"
    train(path, "odyssey-noisy", network="pointer", trained_on=(), capacity=3)
    memory = WriteMemory(path.parent, 2)
    memory.add("x")
    memory.save(tmp_path / "memory")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["memory", "run"]
    moved = tmp_path / "moved.zip"
    path.rename(moved)
    with pytest.raises(ValueError, match="a trained model, which a file must not name; give pol"):
        WriteMemory.load(tmp_path / "memory")
    assert WriteMemory.load(tmp_path / "memory", moved).contents() == memory.contents()
    train(moved, "odyssey-noisy", network="pointer", trained_on=(), capacity=3, seed=1)
    with pytest.raises(ValueError, match="is not the model"):
        WriteMemory.load(tmp_path / "memory", moved)
    (tmp_path / "text").write_text("no zip")
    with (
        zipfile.ZipFile(tmp_path / "memory") as whole,
        zipfile.ZipFile(tmp_path / "part", "w") as part,
    ):
        text = json.loads(whole.read(TEXT))
        del text["settings"], text["sha256"]
        part.writestr(TEXT, json.dumps(sealed(text)))
    for name, words in (
        ("part", "field 'settings': is missing"),
        ("text", "is no memory"),
        ("none", "cannot be read"),
    ):
        with pytest.raises(ValueError, match=words):
            WriteMemory.load(tmp_path / name)
