"""Links: given evidence, quotes, answers, similarity, a judge; each in its turn."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import write_questions
from memenvs import Claim, MaterialError
from memenvs.text.cache import Cache
from memenvs.text.encoders import HashingEncoder, words
from memenvs.train.own_material.linking import Linker
from memenvs.train.own_material.matching import ANSWER, Asked, Matcher
from memenvs.train.own_material.questions import Question, read_questions
from memenvs.train.own_material.segment import Placed

NOTES = (
    "The key is under the blue mat.",
    "Anna is allergic to hazelnuts.",
    "Tom broke his wrist in May.",
    "The key is under the blue mat.",
    "Leyla Haddad replaces Tom.",
    "他昨天去了北京。",
    "المفتاح تحت السجادة.",
)


def placed(notes=NOTES, document="notes.txt"):
    result, start = [], 0
    for n, text in enumerate(notes, start=1):
        claim = Claim(id=f"{document}#{n}", text=text, source=document, group=document)
        result.append(Placed(claim, document, start, start + len(text), False))
        start += len(text) + 1
    return result


def ask(text="?", answer="", evidence=()):
    listed = tuple(evidence) if isinstance(evidence, list) else (evidence,)
    return Question("q", text, answer, () if evidence == () else listed, 1.0, "line 1")


def link(question, claims=None, **options):
    (entry,) = Linker(claims or placed(), [question], **options).linked()
    return entry


def sets(entry):
    return [found.claims for found in entry.found]


@pytest.mark.parametrize(
    ("evidence", "claims", "method"),
    [
        ("notes.txt#2", [(1,)], "evidence"),
        ({"claim": "notes.txt#2"}, [(1,)], "evidence"),
        ("allergic to hazelnuts", [(1,)], "evidence"),
        ("  Anna   is allergic", [(1,)], "evidence"),
        ("ANNA is allergic, to hazelnuts!", [(1,)], "quote"),
        ("under the blue mat", [(0,), (3,)], "evidence"),  # says the same twice
        ("hazelnuts. Tom broke", [(1, 2)], "evidence"),  # runs over two claims
        ("去了北京", [(5,)], "evidence"),
        ("昨天，去了北京", [(5,)], "similarity"),  # the comma parts what the text does not
        ("المفتاح تحت السجادة", [(6,)], "evidence"),
        (0, [(0,)], "evidence"),
        (31, [(1,)], "evidence"),
        ({"document": "notes.txt", "start": 20, "end": 40}, [(0, 1)], "evidence"),
        (["notes.txt#3", "Leyla Haddad"], [(2, 4)], "evidence"),
        (["notes.txt#3", "leyla haddad", "Tom broke"], [(2, 4)], "quote"),
        (["blue mat", "Leyla Haddad"], [(0, 4), (3, 4)], "evidence"),  # either of two is enough
    ],
)
def test_evidence_is_found(evidence, claims, method):
    entry = link(ask(evidence=evidence))
    assert sets(entry) == claims
    assert entry.method == method
    if method != "similarity":
        score = 1.0 if method == "evidence" else 0.95
        assert {found.score for found in entry.found} == {score}


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ("nothing of the kind", "its quote is found nowhere"),
        ({"claim": "notes.txt#99"}, "its claim 'notes.txt#99' is not there"),
        ({"quote": "mat", "document": "other.txt"}, "its document 'other.txt' is not among"),
        (100_000, "its offset 100000 lies in no claim"),
        ("Tom", "its quote stands in 2 places"),
        (["notes.txt#1", "nothing of the kind"], "its quote is found nowhere"),
        (["notes.txt#1", "Tom"], "its quote stands in 2 places"),
    ],
)
def test_evidence_that_is_not_found_says_why(evidence, reason):
    entry = link(ask(evidence=evidence), min_score=1.0)
    assert entry.found == ()
    assert entry.reason.startswith(reason)


def test_offsets_mean_nothing_without_a_place():
    claims = [Placed(p.claim, p.document, None, None, False) for p in placed()]
    entry = link(ask(evidence=3), claims, min_score=1.0)
    assert entry.reason.startswith("'notes.txt' is no plain text")
    both = [*placed(), *placed(document="more.txt")]
    assert "does not say in which document" in link(ask(evidence=3), both, min_score=1.0).reason


def test_a_part_that_is_missing_is_never_made_up_for():
    """One claim in place of the two that are needed would be a smaller support."""
    evidence = ["notes.txt#3", "nothing of the kind"]
    assert link(ask("Who replaces Tom?", "Leyla Haddad", evidence), min_score=0.0).found == ()
    assert link(ask("Who replaces Tom?", "Leyla Haddad", "gone"), min_score=0.0).found


def test_an_ambiguous_quote_leaves_only_its_places_to_choose_from():
    question = ask("Who replaces Tom, and is Anna allergic to hazelnuts?", "Leyla Haddad", "Tom")
    entry = link(question, min_score=0.0)
    assert sets(entry) == [(4,)]
    assert entry.reason == "its quote stands in 2 places"


def test_the_answer_is_sought_with_the_questions_terms():
    entry = link(ask("What is under the mat?", "the key"))
    assert sets(entry) == [(0,), (3,)]  # and the claim that repeats it
    assert entry.method == "answer"
    assert sets(link(ask("Who is replacing Tom?", "Leyla Haddad"))) == [(4,)]
    assert sets(link(ask("他昨天去了哪里？", "北京"))) == [(5,)]
    assert sets(link(ask("ما الذي تحت السجادة؟", "المفتاح"))) == [(6,)]


def test_what_nobody_said_is_not_linked_and_names_the_nearest():
    entry = link(ask("What is the capital of France?", "Paris"))
    assert entry.found == ()
    assert entry.nearest is not None
    assert entry.nearest.score < 0.5
    assert link(ask("Zzz?", "qqq")).nearest is None  # no word is known


def test_the_minimum_is_what_decides():
    question = ask("When did Tom break his arm?", "in spring")
    score = link(question, min_score=0.0).found[0].score
    assert link(question, min_score=score).found
    assert not link(question, min_score=math.nextafter(score, 1)).found


def test_another_encoder_is_used_for_similarity():
    question = ask("Anna allergy hazelnut", "allergic")
    entry = link(question, encoder=HashingEncoder(256), min_score=0.0)
    assert entry.found[0].claims == (1,)


@given(
    st.lists(st.text("ab cd", min_size=1, max_size=12), min_size=1, max_size=6),
    st.text("ab cd", max_size=8),
)
def test_similarity_is_the_cosine_of_tfidf(texts, question):
    claims = [Claim(id=str(n), text=text) for n, text in enumerate(texts)]
    found = Matcher(claims, [Asked(question, "")]).similarities([Asked(question, "")])[0]
    frequency = Counter(word for text in texts for word in set(words(text)))

    def vector(text):
        counts = Counter(words(text))  # an unknown word is half as frequent as a rare one
        return {
            word: (1 + math.log(n)) * math.log((1 + len(texts)) / (frequency[word] or 0.5))
            for word, n in counts.items()
        }

    def cosine(one, other):
        lengths = math.sqrt(sum(x * x for x in one.values()) * sum(x * x for x in other.values()))
        product = sum(x * other.get(word, 0.0) for word, x in one.items())
        return product / lengths if lengths else 0.0

    expected = [cosine(vector(question), vector(text)) for text in texts]
    assert np.allclose(found, expected)


def test_the_score_of_an_answer_by_hand():
    claims = [Claim(id="a", text="ida lives here"), Claim(id="b", text="rain")]
    asked = Asked("ida rain", "lives here")
    found = Matcher(claims, [asked]).by_answer(asked, np.array([0.5, 0.0]))
    # Both terms stand in one of two claims and in the one question: each is half of the question.
    total = ANSWER["constant"] + 0.5 * ANSWER["cover"] + 0.5 * ANSWER["similarity"]
    assert found.score == pytest.approx(1 / (1 + math.exp(-total)))


class Judge:
    """Picks what it is told to, and remembers what it was asked."""

    def __init__(self, found):
        self.found, self.asked = found, []

    def pick(self, asked, texts, claims):
        self.asked.append((asked.text, tuple(claims)))
        return self.found


def test_questions_are_read_with_windows_lines_and_numbers(tmp_path):
    path = write_questions(
        tmp_path / "qa.jsonl",
        {"question": "Who?", "answer": 3, "category": "x"},
        {"id": 7, "question": "ما؟", "evidence": ["a", 3], "weight": 2},
        {"question": "Is it?", "answer": True},
        newline="\r\n\r\n",
    )
    questions, notes = read_questions(path)
    assert [(q.id, q.answer, q.evidence, q.weight) for q in questions] == [
        ("q1", "3", (), 1.0),
        ("7", "", ("a", 3), 2.0),
        ("q3", "yes", (), 1.0),
    ]
    assert [(note.reason, note.times) for note in notes] == [("field 'category' is not read", 1)]
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps([{"question": "?", "answer": "!"}]).encode())
    assert len(read_questions(path)[0]) == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is empty"),
        (" \r\n", "is empty"),
        ("[]", "holds no question"),
        ("3", "holds a number, not an object"),
        ('{"answer": "x"}', "field 'question': is missing"),
        ('{"question": " ", "answer": "x"}', "field 'question': is empty"),
        ('{"question": "?"}', "has neither evidence nor answer"),
        ('{"question": "?", "answer": " "}', "has neither evidence nor answer"),
        ('{"question": "?", "answer": []}', "has neither evidence nor answer"),
        ('{"question": "?", "answer": {"a": 1}}', "field 'answer': should be"),
        ('{"question": "?", "evidence": ""}', "field 'evidence': a string of another shape"),
        ('{"question": "?", "evidence": -1}', "field 'evidence': a number of another shape"),
        (
            '{"question": "?", "evidence": {"document": "a", "start": 5, "end": 2}}',
            "field 'evidence': ends before it starts",
        ),
        ('{"question": "?", "evidence": [true]}', "field 'evidence': a boolean"),
        ('{"question": "?", "evidence": {"start": 1}}', "field 'evidence': an object"),
        ('{"question": "?", "evidence": {"claim": 1}}', "field 'evidence': an object"),
        ('{"question": "?", "answer": "x", "weight": "2"}', "field 'weight': should be"),
        (
            '{"id": "a", "question": "?", "answer": "x"}\n' * 2,
            "line 2, field 'id': 'a' names line 1",
        ),
        ('{"question": "?", "answer": "x"}\n{"question', "line 2: is not valid JSON"),
    ],
)
def test_other_questions_are_refused_in_one_sentence(content, problem, tmp_path):
    path = tmp_path / "qa.jsonl"
    path.write_text(content)
    with pytest.raises(MaterialError, match=problem) as caught:
        read_questions(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_the_judge_is_the_last_to_be_asked():
    from memenvs.train.own_material.links import Found

    judge = Judge(Found((2, 4), "judge", 0.8))
    assert link(ask("What is under the mat?", "the key"), judge=judge).method == "answer"
    assert judge.asked == []
    entry = link(ask("Why another colleague?", "an accident"), judge=judge)
    assert (sets(entry), entry.method) == ([(2, 4)], "judge")
    assert len(judge.asked[0][1]) == len(NOTES)
    unsure = Judge(Found((2, 4), "judge", 0.3))
    assert link(ask("Why another colleague?", "an accident"), judge=unsure).nearest == unsure.found


def test_a_cache_keeps_bytes_by_content(tmp_path):
    from memenvs.text.cache import content_key

    cache = Cache(tmp_path / "a" / "b")
    cache.put({content_key("x", 1): b"one"})
    cache.close()
    again = Cache(tmp_path / "a" / "b")
    assert again.get([content_key("x", 1), content_key("x", 2)]) == {content_key("x", 1): b"one"}
    assert content_key("ab", "c") != content_key("a", "bc")
    again.close()
    (tmp_path / "file").write_text("")
    with pytest.raises(MaterialError, match="cannot be used as a cache"):
        Cache(tmp_path / "file")
    empty = Cache(None)
    empty.put({b"k": b"v"})
    assert empty.get([b"k"]) == {}
