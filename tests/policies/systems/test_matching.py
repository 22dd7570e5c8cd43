"""Which claims entries are, and which entries fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs.policies.systems.protocol import (
    FaultySystemError,
    Known,
    Matcher,
    cut,
    known_entries,
)


@pytest.fixture
def matcher():
    matcher = Matcher()
    for number, text in enumerate(["Tom likes tea", "It rains", "It rains", "Straße ﬁne"]):
        matcher.read(str(number), text, number)
    return matcher


def test_by_id_before_text(matcher):
    assert matcher.match([Known("whatever", "2"), Known("Tom likes tea", "1")]) == [2, 1]


def test_by_text_but_for_case_spaces_and_forms(matcher):
    entries = [Known("  tom LIKES\n tea", None), Known("STRASSE fine", "unknown")]
    assert matcher.match(entries) == [0, 3]


def test_equal_texts_are_different_claims(matcher):
    assert matcher.match([Known("it rains", None)] * 3) == [1, 2, 1]


def test_other_words_are_no_claim(matcher):
    entries = [Known("Tom likes tea.", None), Known("Tom", None), Known("", None)]
    assert matcher.match(entries) == [None, None, None]


def test_entries_are_texts_or_objects():
    given = ["a", {"text": "b"}, {"text": "c", "id": 7, "more": 1}]
    assert known_entries(given, "s", "contents") == [
        Known("a", None),
        Known("b", None),
        Known("c", "7"),
    ]


@pytest.mark.parametrize("entries", ["text", {"a": 1}, None, 3])
def test_what_is_no_list_is_refused(entries):
    with pytest.raises(FaultySystemError, match="the system 's' gave no list in contents"):
        known_entries(entries, "s", "contents")


@pytest.mark.parametrize("entry", [3, {"id": "1"}, {"text": None}, None])
def test_an_entry_has_a_text(entry):
    with pytest.raises(FaultySystemError, match="gave in search an entry without a text"):
        known_entries([entry], "s", "search")


@given(st.lists(st.integers(0, 4)), st.integers(1, 5), st.integers(0, 9))
def test_the_longest_end_that_fits_is_kept(costs, capacity, allowance):
    fitting = [
        n
        for n in range(len(costs) + 1)
        if n <= capacity and sum(costs[len(costs) - n :]) <= allowance
    ]
    assert cut(costs, capacity, allowance) == max(fitting)
