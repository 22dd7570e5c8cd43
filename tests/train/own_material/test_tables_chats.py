"""Tables, chats and what is told apart in them: rows, messages, groups."""

from __future__ import annotations

import json
import os

import pytest

from documents import pdf, read, texts
from memenvs.train.own_material.arranging import in_time
from memenvs.train.own_material.finding import find_documents


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~"])
def test_a_table_with_a_text_column(delimiter, tmp_path):
    rows = [["Speaker", "Text", "Date", "Session"], ["Ann", "Hi. There", "2024-01-02", "s1"]]
    rows += [["Bob", "Yes", "2024-01-03T12:00:00Z", "s2"], ["Bob", "", "soon", "s2"]]
    content = "\r\n".join(delimiter.join(row) for row in rows)
    placed, notes = read(tmp_path, "a.csv", content)
    claims = [p.claim for p in in_time(placed, [])]
    assert [(c.text, c.source, c.group, c.time) for c in claims] == [
        ("Hi. There", "Ann", "s1", 0.0),
        ("Yes", "Bob", "s2", 1.5),
    ]
    assert notes == {"row without text left out": 1}


def test_a_table_without_a_text_column_reads_by_columns(tmp_path):
    placed, notes = read(tmp_path, "a.csv", "city,people\nOslo,700000\n,,3\nBergen,\n")
    assert texts(placed) == ["city: Oslo; people: 700000", "3", "city: Bergen"]
    assert notes == {"row with more cells than columns": 1}


def test_signs_in_a_text_do_not_pass_for_the_delimiter(tmp_path):
    lines = ["author;date;text", "Kim;2024-01-03;It leaks, again", 'Lee;2024-01-04;"Call; Kim"']
    placed, notes = read(tmp_path, "a.csv", "\r\n".join(lines))
    assert [(p.claim.text, p.claim.source) for p in placed] == [
        ("It leaks, again", "Kim"),
        ("Call; Kim", "Lee"),
    ]
    assert not notes
    lines = ["text", "Ann's cat; it's 'Mia', 3 years", "Bob, too"]
    placed, notes = read(tmp_path, "b.csv", "\n".join(lines))
    assert texts(placed) == ["Ann's cat; it's 'Mia', 3 years", "Bob, too"]  # one column
    assert not notes


def test_a_table_of_excel_names_its_delimiter_and_its_columns_in_german(tmp_path):
    content = "sep=;\r\nDatum;Autor;Text;\r\n31.12.2023 10:00;Kim;It leaks, again;\r\n"
    placed, notes = read(tmp_path, "a.csv", content)
    assert [(p.claim.text, p.claim.source, p.dated) for p in placed] == [
        ("It leaks, again", "Kim", True)
    ]
    assert not notes


def test_groups_of_two_documents_are_two(tmp_path):
    page = pdf("One.")
    groups = [read(tmp_path, name, page)[0][0].claim.group for name in ("a.pdf", "b.pdf")]
    assert groups == ["a.pdf, page 1", "b.pdf, page 1"]
    shared = json.dumps({"content": "Hi.", "session": "monday"})
    groups = [read(tmp_path, name, shared)[0][0].claim.group for name in ("a.json", "b.json")]
    assert groups == ["monday"] * 2  # a session may be kept in several files


OPENAI = {"messages": [{"role": "system", "content": "Be kind."}]}
OPENAI["messages"] += [
    {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url"}]},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "assistant", "content": "I see. A cat.", "id": "m7"},
]
SHAREGPT = {"id": "talk", "conversations": [{"from": "human", "value": "Hi."}]}
SINGLE = {"role": "user", "content": "Alone.", "timestamp": 1_700_000_000, "session": "s"}


@pytest.mark.parametrize("lines", [True, False])
def test_chats_of_all_shapes(lines, tmp_path):
    values = [OPENAI, SHAREGPT, SINGLE, {**SINGLE, "timestamp": 1_700_086_400_000}]
    content = "\r\n".join(map(json.dumps, values)) if lines else json.dumps(values)
    placed, notes = read(tmp_path, "a.jsonl", content)
    claims = [p.claim for p in in_time(placed, [])]
    assert [(c.id, c.text, c.source, c.group, c.time) for c in claims] == [
        ("a.jsonl#1", "Look.", "user", "a.jsonl, conversation 1", None),
        ("m7", "I see. A cat.", "assistant", "a.jsonl, conversation 1", None),
        ("a.jsonl#3", "Hi.", "human", "a.jsonl, talk", None),
        ("a.jsonl#4", "Alone.", "user", "s", 0.0),
        ("a.jsonl#5", "Alone.", "user", "s", 1.0),  # milliseconds
    ]
    assert notes == {
        "system message left out": 1,
        "message without text left out": 1,
        "part of a message that is no text left out": 1,
    }
    sentences, _ = read(tmp_path, "a.jsonl", content, by="sentence")
    assert [p.claim.id for p in sentences][1:3] == ["m7.1", "m7.2"]


def test_half_an_emoji_is_no_obstacle(tmp_path):
    content = '{"content": "Hi \\ud83d there", "role": "\\ude00", "session": "\\ud83d\\ude00"}'
    (placed,), _ = read(tmp_path, "a.json", content)
    claim = placed.claim
    assert (claim.text, claim.source, claim.group) == ("Hi \ufffd there", "\ufffd", "\U0001f600")
    os.close(os.open(os.fsencode(tmp_path) + b"/b\xff.txt", os.O_CREAT | os.O_WRONLY))
    found, _ = find_documents([str(tmp_path)])
    assert [f.name for f in found] == ["a.json", "b\ufffd.txt"]


def test_a_list_of_messages_is_one_conversation(tmp_path):
    content = json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    placed, _ = read(tmp_path, "a.json", content)
    assert [p.claim.group for p in placed] == ["a.json, conversation 1"] * 2
