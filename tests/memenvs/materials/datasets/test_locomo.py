"""LoCoMo: every trap of the data in a small file of our own, and the counts of the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memenvs import load_materials
from memenvs.materials.datasets.locomo import read_locomo
from samples import asked, sample, turn, write_locomo

REAL = Path(__file__).parents[3].parent / "shared" / "data" / "locomo" / "locomo6.json"


def read(tmp_path, *samples):
    return read_locomo(write_locomo(tmp_path, list(samples)))


def reasons(conversion):
    return [(note.kind, note.record, note.reason, note.found) for note in conversion.notes]


def test_turns_become_claims(tmp_path):
    conversion = read(tmp_path, sample())
    (material,) = conversion.materials
    assert conversion.notes == ()
    assert material.name == "conv-1"
    assert material.claim_ids == ("D1:1", "D1:2", "D1:3", "D2:1", "D2:2")
    first, second, third, fourth, _ = material.claims
    assert first.text == "Look at this."
    assert second.text == "Nice! [shares a picture: a red kite]"
    assert third.text == "[shares a picture: a cat]"
    assert [dict(c.cues)["picture"] for c in material.claims] == [0, 1, 1, 0, 0]
    assert (first.source, second.source) == ("Ada", "Bob")
    assert (first.group, fourth.group) == ("session-1", "session-2")
    assert (first.time, fourth.time) == (0.0, 1.5)
    assert all(claim.truth for claim in material.claims)


def test_questions_become_queries_and_items(tmp_path):
    questions = [asked("D1:1", "D2:1"), asked("D1:2", answer=2022, category=4)]
    (material,) = read(tmp_path, sample(*questions)).materials
    assert [(q.id, q.text, q.answer, q.weight) for q in material.queries] == [
        ("q0", "Did it?", "yes", 1.0),
        ("q1", "Did it?", "2022", 1.0),
    ]
    assert [(i.supports, i.answers) for i in material.items if i.answers] == [
        ((("D1:1", "D2:1"),), ("q0",)),
        ((("D1:2",),), ("q1",)),
    ]
    # A turn that no item has by itself has one that answers nothing, for readers of K items.
    others = [turn.id for turn in material.claims if turn.id != "D1:2"]
    assert [i.supports for i in material.items if not i.answers] == [((o,),) for o in others]


def test_equal_questions_stay_two_and_share_what_answers_them(tmp_path):
    (material,) = read(tmp_path, sample(asked("D1:1"), asked("D1:1"))).materials
    assert len(material.queries) == 2
    assert [item.answers for item in material.items if item.answers] == [("q0", "q1")]


@pytest.mark.parametrize(
    ("evidence", "support", "found"),
    [
        (["D1:1; D2:2"], ("D1:1", "D2:2"), "D1:1; D2:2"),
        (["D1:1,D2:2"], ("D1:1", "D2:2"), "D1:1,D2:2"),
        (["D1:1 D2:2\tD1:3"], ("D1:1", "D2:2", "D1:3"), "D1:1 D2:2\tD1:3"),
        (["D:2:1"], ("D2:1",), "D:2:1 for D2:1"),
        (["D02:01"], ("D2:1",), "D02:01 for D2:1"),
        (["D1:1", "D1:1"], ("D1:1",), "D1:1"),
        (["D1:1", ""], ("D1:1",), ""),
    ],
)
def test_evidence_is_normalised_and_reported(evidence, support, found, tmp_path):
    conversion = read(tmp_path, sample(asked(*evidence)))
    assert conversion.materials[0].items[0].supports == (support,)
    assert [(n.kind, n.record, n.field, n.found) for n in conversion.notes] == [
        ("normalised", "query 'q0'", "evidence", found)
    ]


def test_clean_spacing_around_a_turn_is_no_news(tmp_path):
    assert read(tmp_path, sample(asked(" D1:1 "))).notes == ()


@pytest.mark.parametrize(
    ("question", "reason", "found"),
    [
        (asked("D"), "names no turn", "D"),
        (asked("D9:9"), "names a turn that is not there", "D9:9"),
        (asked("D1:1", "D9:9"), "names a turn that is not there", "D9:9"),
        (asked("D1:1; D"), "names no turn", "D"),
        (asked(), "has no evidence", ""),
        (asked(""), "has no evidence", ""),
        (asked("D1:1", category=5), "adversarial (category 5), although with an answer", ""),
        (
            {"question": "?", "adversarial_answer": "no", "evidence": ["D1:1"], "category": 5},
            "adversarial (category 5), no answer",
            "",
        ),
    ],
)
def test_a_query_is_left_out_whole_and_reported(question, reason, found, tmp_path):
    conversion = read(tmp_path, sample(question, asked("D1:1")))
    (material,) = conversion.materials
    assert [query.id for query in material.queries] == ["q1"]
    assert material.items[0].answers == ("q1",)
    assert reasons(conversion) == [("left out", "query 'q0'", reason, found)]


def test_sessions_stand_in_the_order_of_their_numbers(tmp_path):
    later = {
        "session_10_date_time": "12:00 pm on 1 January, 2024",
        "session_10": [turn("D10:1")],
        "session_9_date_time": "12:00 AM on 31 December, 2023",
        "session_9": [turn("D9:1")],
    }
    (material,) = read(tmp_path, sample(**later)).materials
    assert material.claim_ids[-2:] == ("D9:1", "D10:1")
    assert material.claims[-1].time - material.claims[-2].time == pytest.approx(1.5)


def test_a_date_without_its_session_is_reported(tmp_path):
    conversion = read(tmp_path, sample(session_3_date_time="1:56 pm on 9 May, 2023"))
    assert reasons(conversion) == [
        ("left out", "session_3_date_time", "dates a session that is not there", "")
    ]


@pytest.mark.parametrize("date", ["soon", "1:56 pm on 31 June, 2023", "1:56 pm on 8 Mai, 2023"])
def test_a_session_without_a_date_has_no_time(date, tmp_path):
    conversion = read(tmp_path, sample(session_1_date_time=date))
    assert [c.time for c in conversion.materials[0].claims] == [None, None, None, 0.0, 0.0]
    assert [(note.record, note.found) for note in conversion.notes] == [
        ("session_1_date_time", date)
    ]


# --- the real data -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real():
    if not REAL.exists():
        pytest.skip(f"the LoCoMo conversations are not at {REAL}")
    return read_locomo(REAL)


def test_real_counts(real):
    assert [m.name for m in real.materials] == [f"conv-{n}" for n in (26, 30, 41, 42, 43, 47)]
    assert [len(m.claims) for m in real.materials] == [419, 369, 663, 629, 680, 689]
    assert [len(m.queries) for m in real.materials] == [150, 81, 152, 197, 178, 149]
    assert all(m.coverage(m.claim_ids) == pytest.approx(1.0) for m in real.materials)


def test_real_notes(real):
    assert real.summary() == {
        ("left out", "adversarial (category 5), no answer"): 275,
        ("left out", "adversarial (category 5), although with an answer"): 2,
        ("left out", "dates a session that is not there"): 16,
        ("left out", "has no evidence"): 2,
        ("left out", "names a turn that is not there"): 2,
        ("left out", "names no turn"): 1,
        ("normalised", "several turns in one string: split"): 1,
        ("normalised", "misspelt turn"): 1,
    }
    found = {(note.material, note.found) for note in real.notes if note.found}
    assert found == {
        ("conv-26", "D8:6; D9:17"),
        ("conv-42", "D"),
        ("conv-42", "D10:19"),
        ("conv-43", "D:11:26 for D11:26"),
        ("conv-47", "D4:36"),
    }


def test_real_materials_come_back_equal(real, tmp_path):
    real.save(tmp_path / "locomo.jsonl")
    assert load_materials(tmp_path / "locomo.jsonl") == list(real.materials)
