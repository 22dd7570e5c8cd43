"""Files from strangers are data: nothing in one names what is run, asked or loaded."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zipfile
from contextlib import suppress
from dataclasses import replace

import gymnasium as gym
import pytest

from chat_server import chat_server
from commands import memenvs_cli
from memenvs import MaterialError, policies
from memenvs.material.files import save_materials
from memenvs.materials.odyssey import odyssey
from memenvs.policies import WriteMemory
from memenvs.policies.learned.plain import plain_entries
from memenvs.policies.learned.saved import read_card, save_entries, write_card
from memenvs.policies.live.memory_file import TEXT
from memenvs.storage.archives import packed
from memenvs.storage.reading import sealed
from memenvs.text.embedders.endpoint import EndpointEncoder
from memenvs.text.encoder_files import encoder_of, save_encoder
from memenvs.text.encoders import HashingEncoder, encoder_description
from saved_models import train


def forged(path, **changes):
    """Change a memory's text as one does who knows the format."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(entries[TEXT])
    del document["sha256"]
    entries[TEXT] = json.dumps(sealed(document | changes)).encode()
    path.write_bytes(packed(entries))


@pytest.mark.parametrize(
    "policy",
    ["process:touch {}", "system:os:system", "{}.zip", "estimator:{}", "llm-writer", "mem0:{}"],
)
def test_a_memory_runs_nothing_that_its_file_names(tmp_path, policy):
    memory = WriteMemory("fifo", 3)
    memory.add("a")
    memory.save(tmp_path / "memory")
    forged(tmp_path / "memory", policy=policy.format(tmp_path / "made"))
    with pytest.raises(MaterialError, match="which a file must not choose; give policy="):
        WriteMemory.load(tmp_path / "memory")
    assert [p.name for p in tmp_path.iterdir()] == ["memory"]
    assert WriteMemory.load(tmp_path / "memory", "fifo").contents() == memory.contents()


def test_what_its_user_ran_is_not_written_into_the_file(tmp_path):
    (tmp_path / "here").mkdir()
    memory = WriteMemory("trust", 3)
    memory._given = "process:secret-command --key 123"
    memory.save(tmp_path / "memory")
    with zipfile.ZipFile(tmp_path / "memory") as archive:
        assert b"secret-command" not in archive.read(TEXT)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("MEMENVS_EMBEDDINGS_KEY", "sk-secret")


def test_no_file_sends_key_or_texts_to_a_server(tmp_path, key, monkeypatch):
    with chat_server(lambda body: "") as server:
        stranger = EndpointEncoder(server.url, "m", 64)
        described = encoder_description(stranger)
        memory = WriteMemory("fifo", 3)
        memory.save(tmp_path / "memory")
        forged(tmp_path / "memory", encoder=described)
        save_encoder(stranger, tmp_path / "m.jsonl")
        train(tmp_path / "best_model.zip", "odyssey-noisy", network="pointer", capacity=3)
        card = read_card(tmp_path / "best_model.zip")
        write_card(tmp_path / "best_model.zip", replace(card, encoder=described))
        uses = (
            lambda: WriteMemory.load(tmp_path / "memory").add("private"),
            lambda: encoder_of(tmp_path / "m.jsonl"),
            lambda: WriteMemory(tmp_path / "best_model.zip", 3).add("private"),
        )
        for own in (None, "https://api.example.com/v1"):
            if own is not None:
                monkeypatch.setenv("MEMENVS_EMBEDDINGS_URL", own)
            for use in uses:
                with pytest.raises(MaterialError, match=r"which a file names;.* give encoder="):
                    use()
        assert server.keys == []
        with pytest.raises(MaterialError, match="another encoder"):
            WriteMemory.load(tmp_path / "memory", encoder=HashingEncoder())
        assert WriteMemory.load(tmp_path / "memory", encoder=stranger).encoder is stranger
        monkeypatch.setenv("MEMENVS_EMBEDDINGS_URL", server.url)
        assert encoder_of(tmp_path / "m.jsonl") == stranger


class Touch:
    """A pickle that makes a folder when it is loaded."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_pickles_that_name_what_is_unknown_are_loaded_for_those_alone_who_say_so(
    tmp_path, monkeypatch
):
    path, touched = tmp_path / "best_model.zip", tmp_path / "touched"
    train(path, "odyssey-noisy", network="pointer", capacity=3)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    data = json.loads(entries["data"])
    evil = base64.b64encode(pickle.dumps(Touch(touched))).decode()
    data["observation_space"][":serialized:"] = evil
    save_entries(path, entries | {"data": json.dumps(data).encode()}, read_card(path))
    plain = tmp_path / "without_card.zip"
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", entries["policy.pth"])
    monkeypatch.setenv("MEMENVS_STATE", str(tmp_path / "state of another user"))
    env = gym.make("memenvs/OdysseyNoisy-v0", capacity=3)
    for load in (lambda: policies.load(path), lambda: policies.make(str(plain), env)):
        with pytest.raises(MaterialError, match=r"holds pickles.* give trust=True, or run once"):
            load()
        assert not touched.exists()
    result = memenvs_cli("trust", str(path))
    assert result.exit_code == 0
    with suppress(ValueError):  # it is run, and is no space
        policies.load(path)
    assert touched.exists()
    touched.rmdir()
    with suppress(ValueError):
        policies.make(str(plain), env, trust=True)
    assert touched.exists()


def test_what_memenvs_trained_loads_without_pickles(tmp_path, monkeypatch):
    for network, material in (("pointer", "odyssey-noisy"), ("mlp", "readable")):
        path = tmp_path / network / "best_model.zip"
        model = train(path, material, network=network, capacity=3, every=4)
        with zipfile.ZipFile(path) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        plain = plain_entries(model)
        assert plain
        touched = tmp_path / "touched"
        entries |= plain | {"data": pickle.dumps(Touch(touched)), "policy.pth": b""}
        save_entries(tmp_path / "plain.zip", entries, read_card(path))
        one = policies.load(path)
        monkeypatch.setenv("MEMENVS_STATE", str(tmp_path / "state of another user"))
        other = policies.load(tmp_path / "plain.zip")
        monkeypatch.undo()
        assert not touched.exists()
        ours, theirs = (p._networks[0]._policy.state_dict() for p in (one, other))
        assert ours.keys() == theirs.keys()
        assert all((ours[name] == theirs[name]).all() for name in ours)


@pytest.mark.parametrize(
    "settings",
    [
        "policy: ['process:touch made']",
        "policy: system:os:system",
        "material: [os:getcwd]",
        "env: os:memenvs/x",
    ],
)
def test_a_configuration_runs_nothing_that_it_names(tmp_path, settings, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(settings)
    result = memenvs_cli("compare", "c.yaml")
    assert result.exit_code == 2
    assert "names code to run, which a file may not" in result.stderr
    assert not (tmp_path / "made").exists()
    (tmp_path / "bomb.yaml").write_text("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n")
    assert "holds a reference" in memenvs_cli("compare", "bomb.yaml").stderr


def test_words_of_others_steer_no_terminal_and_are_no_formula(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    material = odyssey()
    evil = "\x1b]0;owned\x07\x1b[2J"
    claims = tuple(type(c)(id=f"{evil}{c.id}", text=c.text) for c in material.claims)
    items = tuple(
        type(i)(
            id=i.id,
            supports=tuple(tuple(f"{evil}{c}" for c in s) for s in i.supports),
            answers=i.answers,
        )
        for i in material.items
    )
    save_materials([type(material)(evil, claims, items, material.queries)], "m.json")
    for command in (("frontier", "m.json"), ("inspect", "m.json"), ("check", "m.json")):
        result = memenvs_cli(*command)
        assert result.exit_code == 0, result.stderr
        assert "\x1b" not in result.stdout + result.stderr
