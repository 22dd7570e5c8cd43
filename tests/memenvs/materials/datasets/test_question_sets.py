"""MuSiQue, HotpotQA, 2WikiMultihopQA, StrategyQA, CLIMATE-FEVER, LongMemEval in their formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memenvs import MaterialError, load_materials
from memenvs.materials.datasets.conversion import convert
from samples import climate_fever, hotpotqa, longmemeval, musique, strategyqa

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
MADE = {
    "musique": musique,
    "hotpotqa": hotpotqa,
    "2wikimultihopqa": hotpotqa,
    "strategyqa": strategyqa,
    "climate-fever": climate_fever,
    "longmemeval": longmemeval,
}


def write(tmp_path, value, lines=False):
    path = tmp_path / "data.json"
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value, indent=1)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("kind", MADE)
def test_a_list_and_lines_give_the_same_and_come_back_equal(kind, lines, tmp_path):
    conversion = convert(kind, write(tmp_path, [MADE[kind]("a"), MADE[kind]("b")], lines))
    assert conversion == convert(kind, write(tmp_path, [MADE[kind]("a"), MADE[kind]("b")]))
    conversion.save(tmp_path / "out")
    assert load_materials(tmp_path / "out") == list(conversion.materials)
    for material in conversion.materials:
        assert material.coverage(material.claim_ids) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", MADE)
def test_questions_are_grouped_and_named_once(kind, tmp_path):
    values = [MADE[kind](name) for name in "abc"]
    names = [m.name for m in convert(kind, write(tmp_path, values), questions=2).materials]
    assert names == ["questions-1-2", "questions-3-3"]
    with pytest.raises(MaterialError, match="two questions are named 'a'"):
        convert(kind, write(tmp_path, [MADE[kind]("a"), MADE[kind]("a")]))
    with pytest.raises(ValueError, match="questions is 0"):
        convert(kind, write(tmp_path, values), questions=0)


@pytest.mark.parametrize("kind", MADE)
def test_what_is_missing_is_named(kind, tmp_path):
    whole = MADE[kind]("a")
    optional = {"answer", "facts", "supporting_facts", "answerable", "term"}
    optional |= {"question_type", "question_date", "type", "level"}
    for field in whole.keys() - optional:
        broken = {name: value for name, value in whole.items() if name != field}
        with pytest.raises(MaterialError) as caught:
            convert(kind, write(tmp_path, [MADE[kind]("b"), broken]))
        assert "question 1" in str(caught.value)
        assert field.strip("_") in str(caught.value)
        assert str(tmp_path) in str(caught.value)
    for content in ({}, [], [3], "x"):
        with pytest.raises(MaterialError, match=str(tmp_path)):
            convert(kind, write(tmp_path, content))


def test_musique_by_hand(tmp_path):
    unanswerable = musique("b") | {"answerable": False}
    conversion = convert("musique", write(tmp_path, [musique("a"), unanswerable]))
    (material,) = conversion.materials
    assert [(c.id, c.source, c.group) for c in material.claims] == [
        ("a:0", "Ida", "a"),
        ("a:1", "Oslo", "a"),
        ("a:2", "Rain", "a"),
    ]  # b has the same paragraphs
    assert material.claims[0].text == "Ida: Ida lives in Oslo."
    assert [(i.supports, i.answers) for i in material.items if i.answers] == [
        ((("a:0", "a:1"),), ("a",))
    ]
    assert material.queries[0].answer == "Norway"
    assert [(n.kind, n.field) for n in conversion.notes] == [("left out", "answerable")]


def test_musique_full_has_each_id_twice(tmp_path):
    unanswerable = musique("a") | {"answerable": False}
    conversion = convert("musique", write(tmp_path, [musique("a"), unanswerable]))
    assert [query.id for query in conversion.materials[0].queries] == ["a"]
    with pytest.raises(MaterialError, match="two questions are named 'a'"):
        convert("musique", write(tmp_path, [musique("a"), musique("a")]))


def test_hipporags_samples_are_read_as_musique(tmp_path):
    sample = musique("a")
    paragraphs = [
        {"text" if name == "paragraph_text" else name: value for name, value in paragraph.items()}
        for paragraph in sample["paragraphs"]
    ]
    sample |= {"paragraphs": paragraphs, "answer": [sample["answer"], "the kingdom of Norway"]}
    by_shape = convert("musique", write(tmp_path, [sample])).materials
    assert by_shape == convert("musique", write(tmp_path, [musique("a")])).materials


def test_hotpotqa_by_hand(tmp_path):
    values = [
        hotpotqa("a"),
        hotpotqa("b") | {"supporting_facts": [["Ida", 7]]},
        {k: v for k, v in hotpotqa("c").items() if k not in ("answer", "supporting_facts")},
    ]
    conversion = convert("hotpotqa", write(tmp_path, values))
    (material,) = conversion.materials
    assert [(c.id, c.text, c.source) for c in material.claims] == [
        ("a:Ida:0", "Ida lives in Oslo.", "Ida"),
        ("a:Ida:1", "She is tall.", "Ida"),
        ("a:Oslo:0", "Oslo lies in Norway.", "Oslo"),
    ]
    assert material.items[0].supports == (("a:Ida:0", "a:Oslo:0"),)
    assert [n.reason for n in conversion.notes] == [
        "names a sentence that is not there",
        "has no answer or no supporting facts",
    ]


def test_hotpotqa_with_two_paragraphs_of_one_title(tmp_path):
    value = hotpotqa("a")
    value["context"].append(["Ida", ["Ida is a film.", "She is tall."]])
    (material,) = convert("hotpotqa", write(tmp_path, [value])).materials
    assert [(c.id, c.source) for c in material.claims][3:] == [("a:Ida#2:0", "Ida")]
    assert material.items[0].supports == (("a:Ida:0", "a:Oslo:0"),)


def test_a_file_without_one_usable_question_says_why(tmp_path):
    values = [hotpotqa(name) | {"supporting_facts": [["Ida", 7]]} for name in "ab"]
    with pytest.raises(MaterialError, match="left out: 2 x names a sentence that is not there"):
        convert("hotpotqa", write(tmp_path, values))


def test_hotpotqa_by_columns_is_the_same(tmp_path):
    value = hotpotqa("a")
    columns = value | {
        "context": {
            "title": [title for title, _ in value["context"]],
            "sentences": [sentences for _, sentences in value["context"]],
        },
        "supporting_facts": {
            "title": [title for title, _ in value["supporting_facts"]],
            "sent_id": [place for _, place in value["supporting_facts"]],
        },
    }
    columns["id"] = columns.pop("_id")
    by_columns = convert("hotpotqa", write(tmp_path, [columns], lines=True))
    assert by_columns == convert("hotpotqa", write(tmp_path, [value]))


def test_strategyqa_by_hand(tmp_path):
    repeated = strategyqa("b") | {"facts": ["Ice floats.", "Ice floats.", "New."]}
    conversion = convert("strategyqa", write(tmp_path, [strategyqa("a"), repeated]))
    (material,) = conversion.materials
    assert [(c.id, c.source) for c in material.claims] == [
        ("a:0", "Ice"),
        ("a:1", "Ice"),
        ("b:2", "Ice"),
    ]
    assert [i.supports for i in material.items if i.answers] == [
        (("a:0", "a:1"),),
        (("a:0", "b:2"),),
    ]
    assert [query.answer for query in material.queries] == ["no", "no"]
    assert [n.reason for n in conversion.notes] == ["names a fact twice"]


def test_votes_are_the_truth_and_never_what_an_agent_sees(tmp_path):
    undecided = climate_fever("8")
    undecided["claim"] = "Nobody knows."
    for evidence in undecided["evidences"]:
        evidence["evidence_label"] = "NOT_ENOUGH_INFO"
        evidence["votes"] = ["NOT_ENOUGH_INFO", None]
    conversion = convert("climate-fever", write(tmp_path, [climate_fever("7"), undecided], True))
    (material,) = conversion.materials
    claims = {claim.id: claim for claim in material.claims}
    # SUPPORTS twice and REFUTES once were named over both sentences.
    assert claims["7:claim"].truth == pytest.approx(2 / 3)
    assert [claims[name].truth for name in ("7:0", "7:1")] == [1.0, 1.0]
    assert all(claim.confidence is None for claim in material.claims)
    assert material.items[0].supports == (("7:claim",), ("7:0",))
    assert material.precision(["7:claim"]) == pytest.approx(2 / 3)
    assert material.precision(["7:0"]) == pytest.approx(1.0)
    assert material.precision(["7:1"]) == 0.0  # not enough information
    assert [(n.kind, n.field) for n in conversion.notes] == [("left out", "votes")]


def test_climate_fever_reads_a_hubs_numbers(tmp_path):
    numbered = climate_fever("7")
    numbered["claim_label"] = 0
    for evidence, label in zip(numbered["evidences"], (0, 2), strict=True):
        evidence["evidence_label"] = label
    expected = convert("climate-fever", write(tmp_path, [climate_fever("7")]))
    assert convert("climate-fever", write(tmp_path, [numbered])) == expected
    for label in (4, -1, "MAYBE"):
        with pytest.raises(MaterialError, match="is none of SUPPORTS"):
            convert("climate-fever", write(tmp_path, [numbered | {"claim_label": label}]))


def test_longmemeval_by_hand(tmp_path):
    conversion = convert("longmemeval", write(tmp_path, [longmemeval("a")]))
    (material,) = conversion.materials
    assert [(c.id, c.source, c.group, c.time) for c in material.claims] == [
        ("s1:0", "user", "s1", 0.0),
        ("s1:1", "assistant", "s1", 0.0),
        ("s2:0", "user", "s2", 1.5),
    ]
    assert material.items[0].supports == (("s1:0",),)
    # s2 stood first in the file
    assert [n.reason for n in conversion.notes] == ["sessions put in order of time"]


def test_longmemeval_of_several_questions_has_one_origin(tmp_path):
    one, two = longmemeval("a"), longmemeval("b")
    one["haystack_dates"] = ["2023/05/20 (Sat) 12:00", "2023/05/01 (Mon) 12:00"]
    two["haystack_dates"] = ["2023/05/25 (Thu) 12:00", "2023/05/01 (Mon) 12:00"]
    conversion = convert("longmemeval", write(tmp_path, [one, two]), questions=2)
    (material,) = conversion.materials
    times = {claim.group: claim.time for claim in material.claims}
    assert [claim.time for claim in material.claims] == sorted(c.time for c in material.claims)
    dates = one["haystack_session_ids"]
    assert times == {dates[1]: 0.0, dates[0]: 19.0, f"{dates[0]}@2": 24.0}
    reason = "a session of another date in another history is two"
    assert reason in [note.reason for note in conversion.notes]


def test_longmemeval_leaves_out_or_notes(tmp_path):
    abstention = longmemeval("b_abs")
    absent = longmemeval("c") | {"answer_session_ids": ["s9"]}
    unmarked = longmemeval("d") | {"answer_session_ids": ["s2"]}
    undated = longmemeval("e") | {"haystack_dates": ["long ago", "2023/05/20 (Sat) 02:21"]}
    conversion = convert("longmemeval", write(tmp_path, [abstention, absent, unmarked, undated]))
    assert [m.name for m in conversion.materials] == ["questions-3-3", "questions-4-4"]
    third, fourth = conversion.materials
    assert third.items[0].supports == (("s1:0", "s2:0"),)  # all turns of s2, and the marked one
    assert {claim.time for claim in fourth.claims} == {None}
    reasons = [n.reason for n in conversion.notes if n.kind == "left out" and n.record]
    assert "asks for abstention: there is no answer to remember" in reasons
    assert "names a session that is not there" in reasons
    assert "a session has no date, so none has a time" in reasons


def paragraphs_of(question):
    return [f"{p['title']}: {p['paragraph_text']}" for p in question["paragraphs"]]


REAL = {
    "musique": ("musique/musique_100.json", paragraphs_of),
    "strategyqa": ("strategyqa/dev.json", lambda question: map(str.strip, question["facts"])),
}


@pytest.mark.parametrize("kind", REAL)
def test_real_counts(kind, tmp_path):
    name, texts = REAL[kind]
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{kind} is not at {path}")
    conversion = convert(kind, path)
    questions = json.loads(path.read_text("utf-8"))
    parts = [questions[start : start + 20] for start in range(0, len(questions), 20)]
    assert [len(m.claims) for m in conversion.materials] == [
        len({text for question in part for text in texts(question)}) for part in parts
    ]
    assert [len(m.queries) for m in conversion.materials] == [len(part) for part in parts]
    conversion.save(tmp_path / "out")
    assert load_materials(tmp_path / "out") == list(conversion.materials)
