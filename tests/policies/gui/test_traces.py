"""Public traces, read by their published formats: records written here as the formats say."""

from __future__ import annotations

import gzip
import json
import struct

import pytest

from memenvs.errors import MaterialError
from memenvs.policies.gui.actions import Act
from memenvs.policies.gui.gui_memory import GuiMemory
from memenvs.policies.gui.traces import (
    Step,
    Trace,
    agreement,
    android_control,
    mind2web,
    miniwob,
    named_first,
    webarena,
)
from memenvs.policies.gui.views import from_playwright


def test_mind2web(tmp_path):
    html = (
        '<div><a backend_node_id="5">Home</a><input backend_node_id="7" placeholder="City"></div>'
    )
    task = {
        "annotation_id": "x",
        "confirmed_task": "Find hotels in Rome",
        "actions": [
            {
                "cleaned_html": html,
                "operation": {"op": "TYPE", "value": "Rome"},
                "pos_candidates": [{"tag": "input", "backend_node_id": "7"}],
            },
            {
                "cleaned_html": html,
                "operation": {"op": "CLICK", "value": ""},
                "pos_candidates": [],
            },
        ],
    }
    path = tmp_path / "train_0.json"
    path.write_text(json.dumps([task]))
    (trace,) = mind2web(path)
    assert [step.act for step in trace.steps] == [Act("fill", "7", "Rome"), Act("click")]
    assert trace.steps[0].view.page.elements == (("link", "Home", ""), ("textbox", "City", ""))
    assert trace.reward > 0
    path.write_text("[")
    with pytest.raises(MaterialError, match="cannot be read as JSON"):
        list(mind2web(path))


def test_webarena_like_logs(tmp_path):
    step = {"observation": "[4] RootWebArea 'x'\n\t[9] link 'Orders'", "action": "click [9]"}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"intent": "See orders", "steps": [step], "score": 0.0}) + "\n")
    (trace,) = webarena(path)
    assert trace.steps[0].act == Act("click", "9")
    assert trace.reward < 0


def varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def test_android_control(tmp_path):
    bounds = field(1, 10) + field(2, 20) + field(3, 300) + field(4, 400)
    node = field(2, bounds) + field(3, b"android.widget.Button") + field(7, b"Alarm")
    node += field(14, 1) + field(16, 1) + field(23, 1)
    hidden = field(7, b"Hidden") + field(14, 1)
    tree = field(1, node) + field(1, hidden)
    forest = field(1, field(6, 1) + field(11, tree))
    features = {
        "goal": [b"Set an alarm"],
        "accessibility_trees": [forest, forest],
        "actions": [b'{"action_type": "click", "x": 50, "y": 60}'],
    }
    lists = {name: b"".join(field(1, v) for v in values) for name, values in features.items()}
    entries = b"".join(
        field(1, field(1, name.encode()) + field(2, field(1, each))) for name, each in lists.items()
    )
    example = field(1, entries)
    record = struct.pack("<Q", len(example)) + b"\0" * 4 + example + b"\0" * 4
    path = tmp_path / "android_control-00000-of-00020"
    path.write_bytes(gzip.compress(record))
    (trace,) = android_control(path)
    (step,) = trace.steps
    assert step.view.page.elements == (("button", "Alarm", ""),)
    assert step.act == Act("click", "0")
    path.write_bytes(gzip.compress(record[:-40]))
    with pytest.raises(MaterialError, match="holds no TFRecords"):
        list(android_control(path))


def box(tag: str, ref: int, top: int, **more: object) -> dict[str, object]:
    place = {"left": 0, "top": top, "width": 50, "height": 10}
    return {"tag": tag, "ref": ref, "children": [], **place, **more}


def test_demonstrations_of_miniwob(tmp_path):
    dom = box("BODY", 1, 0, height=99, children=[
        box("INPUT_text", 2, 0, id="name"), box("BUTTON", 3, 20, text="Submit")
    ])  # fmt: skip
    events = [
        None,
        {"type": "click", "timing": 1, "x": 5, "y": 5},
        {"type": "click", "timing": 3, "x": 5, "y": 5},
        *({"type": "keypress", "timing": 1, "charCode": ord(c)} for c in "Ada"),
        {"type": "click", "timing": 1, "x": 5, "y": 25},
    ]
    record = {
        "utterance": 'Enter "Ada".',
        "rawReward": 1,
        "states": [{"dom": dom, "action": event} for event in events],
    }
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.json.gz").write_bytes(gzip.compress(json.dumps(record).encode()))
    (trace,) = miniwob(tmp_path)
    assert [step.act for step in trace.steps] == [
        Act("click", "2"), Act("fill", "2", "Ada"), Act("click", "3"),
    ]  # fmt: skip


def test_agreement_counts_first_suggestions():
    def trace(word: str) -> Trace:
        view = from_playwright('- link "Help" [ref=a]\n- link "Go" [ref=b]', f'Reach "{word}".')
        return Trace((Step(view, Act("click", "b")),), 1.0)

    found = agreement([trace("x"), trace("y"), trace("z")], GuiMemory(), named_first)
    assert (found.steps, found.frozen, found.memory) == (3, 0, 2)  # it learns from the first one
    assert (found.gained, found.lost) == (2, 0)
