"""Faults that strangers found, each shown by public calls: files, owners, long use, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random

import pytest

from chat_server import chat_server
from commands import RUN
from memenvs import MaterialError
from memenvs.policies import WriteMemory
from memenvs.policies.weighted_tree import WeightedTree
from memenvs.text.chat import Chat
from trainings import SMALL

POSIX = pytest.mark.skipif(sys.platform != "linux", reason="files, streams, limits as Linux has")


def python(code: str, *arguments: object, limit: int = 120) -> subprocess.CompletedProcess[str]:
    """Run a few lines in a process of their own."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=limit,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )


def texts(path: Path) -> list[str]:
    tree = WeightedTree.open(path)
    try:
        return list(tree.nodes.texts)
    finally:
        tree.close()


@POSIX
@pytest.mark.parametrize("name", ["./tree", "link", "sub/../tree", "moved"])
def test_a_tree_that_is_saved_to_its_own_file_keeps_what_follows(tmp_path, monkeypatch, name):
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("tree")
    monkeypatch.chdir(tmp_path)
    tree = WeightedTree.open("tree")
    tree.begin_task("root")
    if name == "moved":
        monkeypatch.chdir(tmp_path / "sub")
        tree.save("../tree")
    else:
        tree.save(name)
    tree.record_action("acknowledged")
    tree.close()
    assert texts(tmp_path / "tree") == ["root", "acknowledged"]


@POSIX
def test_no_other_tree_is_saved_over_an_open_one(tmp_path):
    tree, other = WeightedTree.open(tmp_path / "tree"), WeightedTree()
    tree.begin_task("root")
    other.begin_task("other")
    with pytest.raises(ValueError, match="is open elsewhere"):
        other.save(tmp_path / "tree")
    tree.record_action("acknowledged")
    tree.close()
    assert texts(tmp_path / "tree") == ["root", "acknowledged"]


THREADS = """
import sys, threading
from memenvs.policies.weighted_tree import WeightedTree
tree = WeightedTree.open(sys.argv[1])
tree.begin_task("root")
sys.setswitchinterval(1e-6)
work = lambda name: [tree.record_action(f"{name} {n}") for n in range(50)]
threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
[t.start() for t in threads], [t.join() for t in threads]
tree.close()
"""


def test_two_threads_share_a_tree(tmp_path):
    for trial in range(3):
        done = python(THREADS, tmp_path / str(trial))
        assert done.stderr == ""
        assert len(texts(tmp_path / str(trial))) == 101


@POSIX
@pytest.mark.slow
def test_one_of_two_trainings_has_a_folder(tmp_path):
    """The second one is refused; what the first one trained is there."""
    (tmp_path / "small.json").write_text(json.dumps({**SMALL, "algorithm": "maskable-ppo"}))
    command = [*RUN, "train", "small.json", "--out", "run", "--seed"]
    options = {"cwd": tmp_path, "env": {**os.environ, "OMP_NUM_THREADS": "1"}, "text": True}
    runs = [subprocess.Popen([*command, n], stderr=subprocess.PIPE, **options) for n in "34"]
    said = [run.communicate(timeout=240)[1] for run in runs]
    codes = [run.returncode for run in runs]
    assert sorted(codes) == [0, 2], said
    assert "Traceback" not in "".join(said)
    with zipfile.ZipFile(tmp_path / "run" / "best_model.zip") as archive:
        assert json.loads(archive.read("memenvs.json"))["seed"] == 3 + codes.index(0)


def test_what_a_query_of_an_address_holds_is_sent_and_never_shown():
    with chat_server(lambda _: "fine") as server:
        chat = Chat(server.url + "?api-version=7&key=sk-secret", "m", "writer", pause=0.001)
        assert chat.text("q") == "fine"
        assert server.paths == ["/v1/chat/completions?api-version=7&key=sk-secret"]
    with pytest.raises(Exception, match=r"api-version=") as refused:
        chat.text("q")
    assert "sk-secret" not in str(refused.value)


@POSIX
@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_command_without_a_stream_shows_no_traceback(closed):
    done = subprocess.run(
        [*RUN, "envs"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.close(closed),
        check=False,
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


NESTED = """
import os, resource, sys
os.chdir(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (15, 15))
from memenvs.train.cli import main
main(["build", "nested.html", "--questions", "q.jsonl", "--out", "m.jsonl"])
"""


@POSIX
@pytest.mark.slow
def test_nested_html_is_read_in_bounded_time(tmp_path):
    """504 KB of it took more than a minute; 15 s of processor time are left to it here."""
    content = "<p>The kiln is in the north hall.</p>" + "<span>a" * 36_000 + "</span>" * 36_000
    (tmp_path / "nested.html").write_text(content)
    question = {"question": "Where is the kiln?", "evidence": "The kiln is in the north hall."}
    (tmp_path / "q.jsonl").write_text(json.dumps(question))
    done = python(NESTED, tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert "north hall" in (tmp_path / "m.jsonl").read_text()


KEPT = """
import sys
from memenvs.policies import WriteMemory
from memenvs.text.encoders import HashingEncoder
memory = WriteMemory("fifo", 5, claims=50, encoder=HashingEncoder(dimension=4096))
import tracemalloc
def more(count, start):
    for n in range(start, start + count):
        memory.add(f"line {n} of {n * 7}", f"source {n}")
more(300, 0)
tracemalloc.start()
more(300, 300)
first = tracemalloc.get_traced_memory()[0]
more(1200, 600)
print(first, tracemalloc.get_traced_memory()[0])
"""


def test_a_memory_forgets_the_vectors_of_what_it_forgot():
    """A vector has 4,096 numbers: 1,200 more claims would be 39 MB."""
    done = python(KEPT)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert after - before < 2_000_000


GONE = """
import gc, sys
sys.path.insert(0, sys.argv[1])
import gymnasium as gym, memenvs
from resident import resident
names, sizes = ("Hidden", "Worlds", "Readable"), ("", "Medium", "Large")
ids = [f"memenvs/{name}{size}-v0" for name in names for size in sizes]
def play():
    for name in ids:
        env = gym.make(name)
        for seed in range(6):
            env.reset(seed=seed)
        env.close()
        del env
        gc.collect()
play()
first = resident()
for _ in range(4):
    play()
print(first, resident())
"""


@POSIX
@pytest.mark.slow
def test_environments_take_what_they_kept_with_them():
    done = python(GONE, Path(__file__).parent, limit=300)
    assert done.returncode == 0, done.stderr
    first, last = map(float, done.stdout.split())
    assert last < first + 100


def test_what_was_changed_in_a_memory_s_file_is_refused_in_a_line(tmp_path):
    """Any byte of it: the sums over its entries hold no longer."""
    memory = WriteMemory("trust", 5)
    for n in range(12):
        memory.add(f"line {n}", f"source {n % 3}")
    memory.save(tmp_path / "memory")
    content, rng, kept = (tmp_path / "memory").read_bytes(), Random(5), memory.contents()
    for _ in range(200):
        changed = bytearray(content)
        for _ in range(rng.choice((1, 3, 20))):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        (tmp_path / "changed").write_bytes(changed)
        said = ""
        try:
            assert WriteMemory.load(tmp_path / "changed").contents() == kept
        except MaterialError as error:
            said = str(error).replace(str(tmp_path), "")
        assert len(said) < 300
        assert "\n" not in said
