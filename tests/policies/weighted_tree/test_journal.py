"""The file of a tree: opened equal, never half-written, nothing acknowledged is lost."""

import json
import signal
import subprocess
import sys
import time
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from memenvs import MaterialError
from memenvs.policies.weighted_tree import (
    CONFIGURATIONS,
    Constants,
    WeightedTree,
)
from memenvs.policies.weighted_tree.journal import line_of, read_events
from memenvs.policies.weighted_tree.nodes import COLUMNS
from trees import histories, played

WRITER = """
import sys
from memenvs.policies.weighted_tree import WeightedTree
tree = WeightedTree.open(sys.argv[1])
if tree.active is None:
    tree.begin_task("root")
while True:
    node = tree.record_action(f"action {len(tree.nodes)} " + "word " * 200, "success")
    context = tree.context("word", 500, step_id=node)
    print(node, flush=True)  # acknowledged
"""


def told(tree):
    """Everything that a tree knows."""
    nodes = tree.nodes
    arrays = {name: getattr(nodes, name).tolist() for name in COLUMNS}
    rest = nodes.texts, nodes.metadata, tree.active, tree.tokens, tree.candidates().tolist()
    return deepcopy((arrays, rest))


@pytest.mark.parametrize("name", CONFIGURATIONS)
@given(events=histories())
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_tree_is_opened_as_it_was_and_goes_on_alike(tmp_path, name, events):
    path = tmp_path / "tree.jsonl"
    path.unlink(missing_ok=True)
    tree = WeightedTree.open(path, name)
    played(tree, events)
    copy = tmp_path / "copy.jsonl"
    tree.save(copy)
    written = tmp_path / "written.jsonl"
    written.write_bytes(path.read_bytes())
    before, context = told(tree), None
    if tree.active is not None:
        context = tree.context("red", 40, "next")
    tree.close()
    for file in (written, copy):
        other = WeightedTree.open(file)
        assert told(other) == before
        if context is not None:
            assert other.context("red", 40, "next") == context
        assert told(other) == told(tree)
        other.close()


def test_the_last_step_is_known_after_opening(tmp_path):
    tree = WeightedTree.open(tmp_path / "tree.jsonl")
    tree.begin_task("root")
    tree.record_action("red stone", "success")
    tree.record_action("blue stone", "success")
    context = tree.context("red", 7, step_id="s1")
    tree.close()
    again = WeightedTree.open(tmp_path / "tree.jsonl")
    scores = again.nodes.score.tolist()
    assert again.context("red", 7, step_id="s1") == context
    assert again.nodes.score.tolist() == scores
    again.save(tmp_path / "tree.jsonl")  # in place: the same file goes on
    again.record_action("green stone")
    again.close()
    last = WeightedTree.open(tmp_path / "tree.jsonl")
    assert last.nodes.texts[-1] == "green stone"
    last.close()


def test_a_kill_during_writing_loses_nothing_that_was_acknowledged(tmp_path):
    path, acknowledged = tmp_path / "tree.jsonl", -1
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        said = [writer.stdout.readline()]  # it is writing
        time.sleep(0.03)
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        assert writer.returncode == -signal.SIGKILL
        lines = [line for line in (said[0] + rest).splitlines(keepends=True) if line[-1] == "\n"]
        assert int(lines[0]) > acknowledged
        acknowledged = int(lines[-1])
        tree = WeightedTree.open(path)
        assert acknowledged < len(tree.nodes) <= acknowledged + 2
        for node in range(1, acknowledged + 1):
            assert tree.nodes.texts[node].startswith(f"action {node} ")
        tree.close()


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_torn_last_line_is_dropped_and_written_over(tmp_path, cut):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")
    kept = told(tree)
    tree.record_action("a long action that is torn by a kill", "success")
    tree.close()
    path.write_bytes(path.read_bytes()[:-cut])
    again = WeightedTree.open(path)
    assert told(again) == kept
    again.record_action("another")
    again.close()
    last = WeightedTree.open(path)
    assert last.nodes.texts == ["root", "another"]
    last.close()


@pytest.mark.parametrize(
    ("line", "content", "message"),
    [
        (0, b'{"format": "other/1"}', "field 'format': is no tree that this version reads"),
        (0, b'{"format":"memenvs.weighted-tree/1"}', "is another version than"),
        (0, b'{"format":"memenvs.weighted-tree/3"}', "line 1: is no event of a tree"),
        (1, b"[1]", "line 2: is no event of a tree"),
        (1, b"{", "line 2: is no event of a tree"),
    ],
)
def test_a_broken_file_is_refused_by_line_and_left_alone(tmp_path, line, content, message):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")
    tree.close()
    lines = path.read_bytes().splitlines()
    lines[line] = content
    broken = b"\n".join([*lines, b""])
    path.write_bytes(broken)
    with pytest.raises(MaterialError, match=message):
        WeightedTree.open(path)
    assert path.read_bytes() == broken


@pytest.mark.parametrize(
    "event",
    [
        {"op": "outcome", "node": 99, "outcome": "success"},
        {"op": "outcome", "node": -1, "outcome": "success"},
        {"op": "outcome", "node": 0, "outcome": "success"},  # a root has none
        {"op": "outcome", "node": 2**70, "outcome": None},
        {"op": "unheard"},
        {"op": "obsolete", "nodes": [0.5], "by": None},
        {"op": "task", "text": "t", "metadata": {}, "more": 1},
        {"op": "complete", "node": 0, "summary": "s"},
        {"op": "global", "text": "t", "metadata": {"evidence": [7]}},
        {"op": "state", "texts": ["a"], "metadata": [], "columns": {}},
    ],
)
def test_a_change_that_no_tree_makes_is_refused_though_its_sum_holds(tmp_path, event):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")
    tree.close()
    content = path.read_bytes()
    path.write_bytes(content + line_of(event, read_events(content, "")[2]))
    with pytest.raises(MaterialError, match="line 3: is no event of a tree"):
        WeightedTree.open(path)


def test_a_file_keeps_its_configuration(tmp_path):
    path = tmp_path / "tree.jsonl"
    WeightedTree.open(path, "a1", Constants(decay=0.8)).close()
    tree = WeightedTree.open(path)
    assert (tree.configuration.name, tree.constants.decay) == ("a1", 0.8)
    tree.close()
    with pytest.raises(MaterialError, match="was begun with another configuration or constants"):
        WeightedTree.open(path, "full")


def test_what_json_cannot_hold_changes_nothing(tmp_path):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")
    before = path.read_bytes(), told(tree)
    with pytest.raises(ValueError, match="metadata holds what JSON cannot"):
        tree.record_action("x", seen=np.nan)
    with pytest.raises(ValueError, match="metadata holds what JSON cannot"):
        tree.record_action("x", seen={1, 2})
    assert (path.read_bytes(), told(tree)) == before
    tree.close()


def test_each_change_is_one_line(tmp_path):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")
    tree.record_action("a\nb\u2028c", "failure", source="s", page=3)
    tree.context("a")
    events = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [event.get("op") for event in events] == [None, "task", "action", "context"]
    assert events[2]["metadata"] == {"source": "s", "page": 3}
    assert list(tmp_path.iterdir()) == [path]
    tree.close()


@pytest.mark.parametrize(
    "content", [b'{"format": "memenvs.bisimulation/1"}', b"notes", b'{"a": 1}\n{"b": 2}']
)
def test_a_foreign_file_is_left_alone(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(MaterialError, match="is no tree that this version reads"):
        WeightedTree.open(path)
    assert path.read_bytes() == content


def test_a_torn_first_line_begins_anew(tmp_path):
    path = tmp_path / "tree.jsonl"
    WeightedTree.open(path).close()
    path.write_bytes(path.read_bytes()[:50])
    tree = WeightedTree.open(path, "a1")
    tree.begin_task("root")
    tree.close()
    again = WeightedTree.open(path)
    assert (again.configuration.name, again.nodes.texts) == ("a1", ["root"])
    again.close()


def test_what_cannot_be_opened_is_said_in_one_line(tmp_path):
    for path in (tmp_path, tmp_path / "absent" / "tree.jsonl"):
        with pytest.raises(MaterialError, match="cannot be opened"):
            WeightedTree.open(path)


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_a_file_is_open_once(tmp_path):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")
    with pytest.raises(MaterialError, match="is open elsewhere"):
        WeightedTree.open(path)
    command = [sys.executable, "-c", WRITER, str(path)]
    other = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "is open elsewhere" in other.stderr
    tree.save(path)
    with pytest.raises(MaterialError, match="is open elsewhere"):
        WeightedTree.open(path)
    tree.close()
    again = WeightedTree.open(path)
    assert again.nodes.texts == ["root"]
    again.close()


def test_what_is_no_text_is_refused_before_it_is_written(tmp_path):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")
    with pytest.raises(ValueError, match="5 is no text"):
        tree.record_action(5)
    with pytest.raises(ValueError, match="is no text"):
        tree.begin_task(["a", "b"])
    tree.close()
    again = WeightedTree.open(path)
    assert again.nodes.texts == ["root"]
    again.close()


def test_an_interrupted_change_leaves_no_rest_behind(tmp_path, monkeypatch):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path)
    tree.begin_task("root")

    def interrupted(number):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tree.record_action("a long action " * 20)
    tree.record_action("short")
    before = told(tree)
    tree.close()
    again = WeightedTree.open(path)
    assert told(again) == before
    again.close()


def test_numbers_of_nodes_may_come_from_arrays(tmp_path):
    tree = WeightedTree.open(tmp_path / "tree.jsonl")
    tree.begin_task("root")
    tree.record_action("action")
    tree.revise(tree.candidates()[0], "failure")
    before = told(tree)
    tree.close()
    again = WeightedTree.open(tmp_path / "tree.jsonl")
    assert told(again) == before
    again.close()
