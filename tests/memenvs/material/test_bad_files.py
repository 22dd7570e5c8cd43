"""Bad material files: one clear sentence that names the file, the record and the field."""

from __future__ import annotations

import copy
import json
import os

import pytest

from memenvs import MaterialError, load_material, load_materials

GOOD = {
    "format": "memenvs.material/1",
    "name": "good",
    "claims": [
        {"id": "c1", "text": "one", "embedding": [1.0, 0.0]},
        {"id": "c2", "text": "two", "truth": 0.5, "time": 3, "embedding": [0.0, 1.0]},
    ],
    "items": [{"id": "n1", "supports": [["c1"], ["c1", "c2"]], "answers": ["q1"]}],
    "queries": [{"id": "q1", "weight": 0.2, "embedding": [1.0, 1.0]}],
}


def write(tmp_path, content, name="m.json"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path, load=load_material):
    """The message of the error, which must be one line that names the file."""
    with pytest.raises(MaterialError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert len(message) < 500 + len(str(path))
    return message


# --- bad records --------------------------------------------------------------------------------


def changed(*path, value):
    def change(document):
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


def removed(*path):
    def change(document):
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]

    return change


CLAIM, ITEM, QUERY = ("claims", 1), ("items", 0), ("queries", 0)
BAD_RECORDS = {
    "truth as text": (changed(*CLAIM, "truth", value="yes"), "claim 'c2'", "truth"),
    "truth above 1": (changed(*CLAIM, "truth", value=1.5), "claim 'c2'", "truth"),
    "truth below 0": (changed(*CLAIM, "truth", value=-0.1), "claim 'c2'", "truth"),
    "truth null": (changed(*CLAIM, "truth", value=None), "claim 'c2'", "truth"),
    "confidence above 1": (changed(*CLAIM, "confidence", value=2), "claim 'c2'", "confidence"),
    "confidence boolean": (changed(*CLAIM, "confidence", value=True), "claim 'c2'", "confidence"),
    "text as number": (changed(*CLAIM, "text", value=3), "claim 'c2'", "text"),
    "time as text": (changed(*CLAIM, "time", value="noon"), "claim 'c2'", "time"),
    "time NaN": (changed(*CLAIM, "time", value=float("nan")), "claim 'c2'", "time"),
    "time too large": (changed(*CLAIM, "time", value=1e300), "claim 'c2'", "time"),
    "cost zero": (changed(*CLAIM, "cost", value=0), "claim 'c2'", "cost"),
    "cost negative": (changed(*CLAIM, "cost", value=-1), "claim 'c2'", "cost"),
    "cue as text": (changed(*CLAIM, "cues", value={"x": "y"}), "claim 'c2'", "cues"),
    "cue infinite": (changed(*CLAIM, "cues", value={"x": float("inf")}), "claim 'c2'", "cues.x"),
    "cues a list": (changed(*CLAIM, "cues", value=[1]), "claim 'c2'", "cues"),
    "unknown field": (changed(*CLAIM, "colour", value="red"), "claim 'c2'", "colour"),
    "unknown field of item": (changed(*ITEM, "weight", value=1), "item 'n1'", "weight"),
    "no id": (removed(*CLAIM, "id"), "claims[1]", "id"),
    "empty id": (changed(*CLAIM, "id", value=""), "claim", "id"),
    "id as number": (changed(*CLAIM, "id", value=7), "claims[1]", "id"),
    "duplicate claim": (changed(*CLAIM, "id", value="c1"), "claims", "id"),
    "claim as text": (changed(*CLAIM, value="c2"), "claims[1]", ""),
    "claim null": (changed(*CLAIM, value=None), "claims[1]", ""),
    "no supports": (removed(*ITEM, "supports"), "item 'n1'", "supports"),
    "supports empty": (changed(*ITEM, "supports", value=[]), "item 'n1'", "supports"),
    "a support empty": (changed(*ITEM, "supports", value=[["c1"], []]), "item 'n1'", "supports[1]"),
    "support flat": (changed(*ITEM, "supports", value=["c1"]), "item 'n1'", "supports"),
    "support of number": (changed(*ITEM, "supports", value=[[1]]), "item 'n1'", "supports"),
    "support repeats a claim": (
        changed(*ITEM, "supports", value=[["c1", "c1"]]),
        "item 'n1'",
        "supports[0]",
    ),
    "support given twice": (
        changed(*ITEM, "supports", value=[["c1", "c2"], ["c2", "c1"]]),
        "item 'n1'",
        "supports",
    ),
    "support unknown": (changed(*ITEM, "supports", value=[["c9"]]), "item 'n1'", "supports[0]"),
    "no answers": (removed(*ITEM, "answers"), "item 'n1'", "answers"),
    "answer unknown": (changed(*ITEM, "answers", value=["c1"]), "item 'n1'", "answers"),
    "answer twice": (changed(*ITEM, "answers", value=["q1", "q1"]), "item 'n1'", "answers"),
    "conflict unknown": (changed(*ITEM, "conflicts", value=["q1"]), "item 'n1'", "conflicts"),
    "weight negative": (changed(*QUERY, "weight", value=-1), "query 'q1'", "weight"),
    "weight NaN": (changed(*QUERY, "weight", value=float("nan")), "query 'q1'", "weight"),
    "weight infinite": (changed(*QUERY, "weight", value=float("inf")), "query 'q1'", "weight"),
    "weight huge integer": (changed(*QUERY, "weight", value=10**400), "query 'q1'", "weight"),
    "weights all zero": (changed(*QUERY, "weight", value=0), "queries", "weight"),
    "weight boolean": (changed(*QUERY, "weight", value=True), "query 'q1'", "weight"),
    "answer as number": (changed(*QUERY, "answer", value=7), "query 'q1'", "answer"),
    "embedding unequal": (changed(*CLAIM, "embedding", value=[1]), "claim 'c2'", "embedding"),
    "embedding empty": (changed(*CLAIM, "embedding", value=[]), "claim 'c2'", "embedding"),
    "embedding NaN": (
        changed(*CLAIM, "embedding", value=[1, float("nan")]),
        "claim 'c2'",
        "embedding",
    ),
    "embedding of text": (changed(*CLAIM, "embedding", value=["a", 1]), "claim 'c2'", "embedding"),
    "embedding partly missing": (removed(*QUERY, "embedding"), "query 'q1'", "embedding"),
    "item embedding unequal": (changed(*ITEM, "embedding", value=[1]), "item 'n1'", "embedding"),
    "no claims": (changed("claims", value=[]), "", "claims"),
    "claims missing": (removed("claims"), "", "claims"),
    "claims an object": (changed("claims", value={}), "", "claims"),
    "no queries": (changed("queries", value=[]), "", "queries"),
    "items missing": (removed("items"), "", "items"),
    "items null": (changed("items", value=None), "", "items"),
    "no name": (removed("name"), "", "name"),
    "name as number": (changed("name", value=3), "", "name"),
    "unknown key at the top": (changed("source", value="me"), "", "source"),
    "other version": (changed("format", value="memenvs.material/2"), "", "format"),
    "no version": (removed("format"), "", "format"),
}


@pytest.mark.parametrize("kind", BAD_RECORDS)
@pytest.mark.parametrize("lines", [False, True], ids=["json", "jsonl"])
def test_a_bad_record_is_named_with_its_field(kind, lines, tmp_path):
    change, record, field = BAD_RECORDS[kind]
    document = copy.deepcopy(GOOD)
    change(document)
    if lines:
        other = {**GOOD, "name": "other"}
        text = f"{json.dumps(other)}\n\n{json.dumps(document)}\n"
        message = refusal(write(tmp_path, text, "m.jsonl"), load_materials)
        assert "line 3" in message
    else:
        message = refusal(write(tmp_path, json.dumps(document)))
    assert record in message
    assert not field or f"field '{field}" in message


# --- bad files ----------------------------------------------------------------------------------

TEXT = json.dumps(GOOD)
BAD_TEXTS = {
    "truncated": (TEXT[:100], "not valid JSON"),
    "two values": (TEXT + TEXT, "not valid JSON"),
    "empty": ("", "is empty"),
    "blank": (" \n\t\n", "is empty"),
    "a list": (f"[{TEXT}]", "holds a"),
    "a string": ('"material"', "holds a"),
    "a number": ("3", "holds a"),
    "null": ("null", "holds"),
    "NaN": ("NaN", "holds a"),
    "not JSON": ("name: good\n", "not valid JSON"),
    "control character": (TEXT.replace("one", "o\x00e"), "not valid JSON"),
    "duplicate key": (TEXT.replace('"weight": 0.2', '"weight": 0.2, "weight": 0.3'), "twice"),
    "binary": (bytes(range(256)), "not UTF-8"),
    "UTF-16": (TEXT.encode("utf-16"), "not UTF-8"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(50), "not UTF-8"),
    "half a surrogate pair": (TEXT.replace("one", "\\ud83d"), "surrogate"),
    "surrogate in a name": (TEXT.replace('"good"', '"\\udc00"'), "surrogate"),
    "integer of 10,000 digits": (TEXT.replace("0.2", "1" * 10_000), "integer"),
    "nested too deeply for the schema": (
        TEXT.replace('"one"', "[" * 900 + "]" * 900),
        "nested too deeply",
    ),
    "objects nested too deeply": (
        TEXT.replace('"one"', '{"a":' * 700 + "1" + "}" * 700),
        "nested too deeply",
    ),
}


@pytest.mark.parametrize("kind", BAD_TEXTS)
def test_a_bad_file_is_refused_in_one_sentence(kind, tmp_path):
    content, problem = BAD_TEXTS[kind]
    assert problem in refusal(write(tmp_path, content))


def test_the_duplicate_key_is_named_with_its_record(tmp_path):
    message = refusal(write(tmp_path, BAD_TEXTS["duplicate key"][0]))
    assert "record 'q1', field 'weight'" in message


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_100_mb_of_nesting_is_refused(opening, tmp_path):
    path = tmp_path / "deep.json"
    with path.open("w") as stream:
        for _ in range(100):
            stream.write(opening * (1_000_000 // len(opening)))
    assert "nested too deeply" in refusal(path)


def test_missing_file_and_directory(tmp_path):
    assert "No such file" in refusal(tmp_path / "none.json")
    assert "directory" in refusal(tmp_path)


def test_a_name_that_no_file_can_have():
    with pytest.raises(MaterialError, match="cannot be read"):
        load_material("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_no_permission(tmp_path):
    path = write(tmp_path, TEXT)
    path.chmod(0)
    assert "denied" in refusal(path)


def test_a_bad_line_is_named(tmp_path):
    text = f'{TEXT}\n{{"format": \n'
    message = refusal(write(tmp_path, text, "m.jsonl"), load_materials)
    assert "line 2" in message
    assert "not valid JSON" in message


def test_two_materials_of_one_name(tmp_path):
    message = refusal(write(tmp_path, f"{TEXT}\n{TEXT}\n", "m.jsonl"), load_materials)
    assert "'good'" in message
    assert "field 'name'" in message


def test_one_material_is_wanted(tmp_path):
    text = f"{TEXT}\n{json.dumps({**GOOD, 'name': 'b'})}\n"
    assert "2 materials" in refusal(write(tmp_path, text, "m.jsonl"))
