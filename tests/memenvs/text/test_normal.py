"""One form of texts: composed, whole, and without what shows nothing."""

from __future__ import annotations

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from memenvs.text.normal import halves, normal_text


def test_by_hand():
    assert normal_text("a\0b") == "ab"
    assert normal_text("cafe\u0301") == "café"
    assert normal_text("\ud83d\ude00 \ud83d. \ude00") == "\U0001f600 \ufffd. \ufffd"
    assert normal_text("20 \x80 \x93so\x94\x81") == "20 € “so”\x81"
    assert normal_text("eﬃcient wa\xadter") == "efficient water"
    assert halves("\ud83d\ude00 \ud83d. \ufffd") == 1


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_becomes_one_that_files_take(text):
    normal = normal_text(text)
    normal.encode()
    assert normal_text(normal) == normal
    assert normal_text(normalize("NFD", text)) == normal
