"""The memory's file: the same memory again, or a clear refusal."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from subprocess import PIPE

import numpy as np
import pytest
from hypothesis import given, settings

from bisimulations import play, streams
from memenvs import MaterialError
from memenvs.policies.bisimulation import RULES, TransitionMemory
from memenvs.storage.reading import sealed

SAVER = """
import sys
from memenvs.policies.bisimulation import TransitionMemory
memory = TransitionMemory()
for page in range(1, 10_000):
    memory.begin(page, 0, frozenset(range(100)))
    memory.save(sys.argv[1])
    print(page, flush=True)  # acknowledged
"""


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=8, deadline=None)
@given(stream=streams())
def test_a_saved_memory_goes_on_as_the_one_that_was_saved(tmp_path_factory, rule, stream):
    path = tmp_path_factory.mktemp("memory") / "memory.json"
    memory = play(TransitionMemory(rule), stream)
    memory.save(path)
    loaded = TransitionMemory.load(path)
    assert loaded.rule == rule
    for each in (memory, loaded):  # what comes later is placed by what was recorded last
        play(each, stream)
        each.begin(1000, 0)
    assert loaded.partition() == memory.partition()
    for page, *_ in memory.pages():
        was, now = memory.evidence(page, [0, 1, 2]), loaded.evidence(page, [0, 1, 2])
        np.testing.assert_allclose(now.values, was.values, atol=1e-10)
        assert (now.total, now.counts.tolist()) == (was.total, was.counts.tolist())


def some() -> TransitionMemory:
    memory = TransitionMemory()
    memory.begin(1, 2, frozenset({3}))
    memory.record(1, 0, 2, 2, 0.0, False)
    return memory


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "memory.json"
    some().save(path)
    before = path.read_bytes()

    def refuse(*arguments, **options):
        raise OSError("no space left")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(OSError, match="no space"):
        TransitionMemory().save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["memory.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"format": "memenvs.bisimulation/0"},
        {"rule": "similarity"},
        {"constants": {"threshold": 0.3, "colour": 1}},
        {"edges": [[3, 0, 99, 1, 1]]},
        {"edges": [[0, 0, 3, 1, 1]]},
        {"edges": [[3, 7, 4, 1, 1]]},
        {"edges": [[3, 0, 4, 0, 1]]},
        {"begun": [[5, 1]]},
        {"begun": [[0, 0]]},
        {"edges": [[3, 0, 4, 1 << 70, 1]]},
        {"edges": [[3, 0, 4, 1, 1], [3, 0, 4, 1, 1]]},
        {"constants": {"rounds": 1 << 70}},
        {"constants": {"rounds": 10**6}},
        {"pages": "none"},
        {"templates": None},
    ],
)
def test_what_is_no_memory_is_refused_by_name(tmp_path, change):
    path = tmp_path / "memory.json"
    some().save(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | change))
    with pytest.raises(MaterialError, match=r"was changed or damaged|is another version"):
        TransitionMemory.load(path)
    del document["sha256"]
    path.write_text(json.dumps(sealed(document | change)))  # as a stranger might
    with pytest.raises(MaterialError, match=r"memory\.json: ") as refused:
        TransitionMemory.load(path)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "memory.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is no bisimulation memory|nested too deeply"):
        TransitionMemory.load(path)
    assert path.read_bytes() == content


def test_a_kill_loses_no_save_that_was_acknowledged(tmp_path):
    path = tmp_path / "memory.json"
    with subprocess.Popen([sys.executable, "-c", SAVER, path], stdout=PIPE, text=True) as saver:
        said = [saver.stdout.readline()]
        time.sleep(0.05)
        saver.kill()
        said += saver.stdout.read().splitlines(keepends=True)
    acknowledged = int([line for line in said if line[-1] == "\n"][-1])
    assert acknowledged <= len(TransitionMemory.load(path).pages()) <= acknowledged + 1


def test_half_a_file_is_refused(tmp_path):
    path = tmp_path / "memory.json"
    some().save(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"is no bisimulation memory|nested too deeply"):
        TransitionMemory.load(path)
    with pytest.raises(MaterialError, match="cannot be read: No such file"):
        TransitionMemory.load(tmp_path / "missing.json")
