"""FriendsQA: scenes become materials, and an answering utterance is a support by itself."""

from __future__ import annotations

import json

import pytest

from memenvs import MaterialError
from memenvs.materials.datasets.friendsqa import read_friendsqa


def scene(title, *uids):
    said = [{"uid": n, "speakers": ["Ann", "Bob"][n:], "utterance": f"Line {n}."} for n in range(3)]
    answers = [{"answer_text": f"line {uid}", "utterance_id": uid} for uid in uids]
    asked = {"id": f"{title}_What", "question": "What?", "answers": answers}
    return {"title": title, "paragraphs": [{"utterances:": said, "qas": [asked]}]}


def write(tmp_path, *scenes):
    path = tmp_path / "friends.json"
    path.write_text(json.dumps({"data": scenes}))
    return path


def test_each_answering_utterance_is_a_support(tmp_path):
    (found,) = read_friendsqa(write(tmp_path, scene("s1", 0, 2), scene("s2", 1)), 2).materials
    assert [(c.source, c.group) for c in found.claims[:3]] == [
        ("Ann", "s1"),
        ("Bob", "s1"),
        ("", "s1"),
    ]
    first, second, third = found.claim_ids[:3]
    assert found.coverage([first]) == found.coverage([third]) == 0.5
    assert found.coverage([second]) == 0.0
    assert found.coverage([third, found.claim_ids[4]]) == 1.0


def test_scenes_that_fill_no_material_are_left_out_and_so_is_a_question_without_answer(tmp_path):
    path = write(tmp_path, scene("s1", 0), scene("s2", 9), scene("s3", 1))
    conversion = read_friendsqa(path, 2)
    assert [len(m.queries) for m in conversion.materials] == [1]
    assert conversion.summary() == {("left out", "no answer names an utterance"): 1}


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MaterialError, match="holds 1 scenes, and 12 make a material"):
        read_friendsqa(write(tmp_path, scene("s1", 0)))
    broken = scene("s1", 0)
    del broken["paragraphs"][0]["qas"][0]["question"]
    with pytest.raises(MaterialError, match=r"data\[0\].*question"):
        read_friendsqa(write(tmp_path, broken), 1)
