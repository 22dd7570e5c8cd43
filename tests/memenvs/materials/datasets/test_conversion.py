"""Conversions: what is written, what --strict forbids, and data sets of another shape."""

from __future__ import annotations

import copy
import json

import pytest

from memenvs import MaterialError, load_materials
from memenvs.materials.datasets.conversion import Conversion, convert
from memenvs.materials.datasets.locomo import read_locomo
from samples import asked, sample, turn, write_locomo


def test_strict_writes_nothing(tmp_path):
    path = write_locomo(tmp_path, [sample(asked("D:1:1"))])
    conversion = convert("locomo", path)
    with pytest.raises(MaterialError, match=r"1 records.*misspelt turn \(D:1:1 for D1:1\)"):
        conversion.save(tmp_path / "out", strict=True)
    assert list(tmp_path.iterdir()) == [path]
    conversion.save(tmp_path / "out")
    assert load_materials(tmp_path / "out") == list(conversion.materials)


def test_strict_is_content_with_clean_data(tmp_path):
    conversion = convert("locomo", write_locomo(tmp_path, [sample()]))
    conversion.save(tmp_path / "out.json", strict=True)
    assert load_materials(tmp_path / "out.json") == list(conversion.materials)


def test_the_report_counts_by_reason(tmp_path):
    conversion = read_locomo(
        write_locomo(tmp_path, [sample(asked("D"), asked("D"), asked("D:1:1"))])
    )
    assert conversion.summary() == {
        ("left out", "names no turn"): 2,
        ("normalised", "misspelt turn"): 1,
    }
    assert conversion.report().splitlines() == [
        "conv-1: 5 claims, 5 items, 1 queries",
        "left out: 2 x names no turn",
        "normalised: 1 x misspelt turn",
    ]
    assert Conversion((), ()).report() == ""


def test_an_unknown_kind_is_refused():
    with pytest.raises(MaterialError, match=r"choose 2wikimultihopqa or .* or locomo or"):
        convert("squad", "x.json")


def without(field, *path):
    def change(value):
        for step in path:
            value = value[step]
        del value[field]

    return change


def setting(new, *path):
    def change(value):
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = new

    return change


CONVERSATION = (0, "conversation")
BAD = {
    "no name": (without("sample_id", 0), "conversation 0", "sample_id"),
    "name a number": (setting(3, 0, "sample_id"), "conversation 0", "sample_id"),
    "empty name": (setting("", 0, "sample_id"), "", "name"),
    "no questions": (without("qa", 0), "conv-1", "qa"),
    "questions an object": (setting({}, 0, "qa"), "conv-1", "qa"),
    "question a string": (setting("?", 0, "qa", 0), "conv-1, qa[0]", ""),
    "question without text": (without("question", 0, "qa", 0), "qa[0]", "question"),
    "question without answer": (without("answer", 0, "qa", 0), "qa[0]", "answer"),
    "answer a list": (setting([], 0, "qa", 0, "answer"), "qa[0]", "answer"),
    "answer a boolean": (setting(True, 0, "qa", 0, "answer"), "qa[0]", "answer"),
    "no category": (without("category", 0, "qa", 0), "qa[0]", "category"),
    "category a string": (setting("1", 0, "qa", 0, "category"), "qa[0]", "category"),
    "category unknown": (setting(6, 0, "qa", 0, "category"), "qa[0]", "category"),
    "no evidence": (without("evidence", 0, "qa", 0), "qa[0]", "evidence"),
    "evidence a string": (setting("D1:1", 0, "qa", 0, "evidence"), "qa[0]", "evidence"),
    "evidence of numbers": (setting([1], 0, "qa", 0, "evidence"), "qa[0]", "evidence[0]"),
    "no conversation": (without("conversation", 0), "conv-1", "conversation"),
    "no sessions": (setting({}, *CONVERSATION), "", ""),
    "session an object": (setting({}, *CONVERSATION, "session_1"), "conv-1", "session_1"),
    "turn a string": (setting("hi", *CONVERSATION, "session_1", 1), "session_1[1]", ""),
    "turn without id": (without("dia_id", *CONVERSATION, "session_1", 1), "session_1[1]", "dia_id"),
    "turn without text": (without("text", *CONVERSATION, "session_1", 1), "session_1[1]", "text"),
    "turn without speaker": (
        without("speaker", *CONVERSATION, "session_1", 1),
        "session_1[1]",
        "speaker",
    ),
    "caption null": (
        setting(None, *CONVERSATION, "session_1", 1, "blip_caption"),
        "session_1[1]",
        "blip_caption",
    ),
    "date a number": (setting(3, *CONVERSATION, "session_1_date_time"), "conv-1", "session_1_date"),
    "turn twice": (setting(turn("D1:1"), *CONVERSATION, "session_2", 0), "conv-1, claims", "id"),
    "nothing to ask": (setting([], 0, "qa"), "conv-1", "queries"),
    "conversation a list": (setting([], 0), "conversation 0", ""),
}


@pytest.mark.parametrize("kind", BAD)
def test_another_shape_is_refused_in_one_sentence(kind, tmp_path):
    change, record, field = BAD[kind]
    value = [copy.deepcopy(sample())]
    change(value)
    path = write_locomo(tmp_path, value)
    with pytest.raises(MaterialError) as caught:
        read_locomo(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert record in message
    assert f"field '{field}" in message or not field


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is empty"),
        ("{}", "holds an object"),
        ("[]", "no conversation"),
        ("[1", "not valid JSON"),
        ("3", "holds a number"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps([sample(), sample()]), "two conversations are named 'conv-1'"),
    ],
)
def test_another_file_is_refused(content, problem, tmp_path):
    with pytest.raises(MaterialError, match=problem):
        read_locomo(write_locomo(tmp_path, content))


def test_a_directory_and_a_missing_file_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(MaterialError, match="cannot be read"):
            read_locomo(path)
