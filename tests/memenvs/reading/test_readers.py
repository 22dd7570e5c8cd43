"""BM25 against a hand-worked example and an independent brute force; the oracle; names."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query
from memenvs.errors import MaterialError
from memenvs.materials.odyssey import odyssey
from memenvs.reading.readers import BM25Reader, OracleReader, TokenReader, named_reader
from memenvs.reading.utility import SimilarityReader


def texts_material(texts, questions):
    claims = tuple(Claim(id=f"c{n}", text=text) for n, text in enumerate(texts))
    items = tuple(
        Item(id=f"n{n}", supports=((f"c{n}",),), answers=("q0",)) for n in range(len(texts))
    )
    return Material(
        "texts", claims, items, tuple(Query(id=f"q{n}", text=q) for n, q in enumerate(questions))
    )


def test_scores_worked_by_hand():
    material = texts_material(["red car", "red red bus", "blue sky now here"], ["Red?", "sky red"])
    scores = BM25Reader().scores(material, np.arange(3))
    # N = 3 texts of 2, 3 and 4 words, mean 3. "red" is in 2: log(1 + 1.5/2.5); "sky" in 1.
    red, sky = math.log(1.6), math.log(1 + 2.5 / 1.5)
    first = red * 1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 3))
    second = red * 2 * 2.5 / (2 + 1.5)
    third = sky * 1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 4 / 3))
    np.testing.assert_allclose(scores, [[first, second, 0], [first, second, third]])


def test_the_index_is_the_memory():
    material = texts_material(["red car", "red red bus", "blue sky now here"], ["red"])
    # Alone, a text is as long as the mean, and "red" is in 1 of 1: log(1 + 0.5/1.5).
    (score,) = BM25Reader().scores(material, np.array([0]))[0]
    assert score == pytest.approx(math.log(4 / 3) * 2.5 / 2.5)


def test_the_k_best_of_each_memory_are_read():
    material = texts_material(["red car", "red red bus", "blue sky"], ["red", "sky", "green"])
    spanned = np.array([[True, True, True], [True, False, True], [False, False, False]])
    retrieved = BM25Reader(1)(material, spanned)
    assert retrieved.shape == (3, 3, 3)
    found = [[np.flatnonzero(row).tolist() for row in memory] for memory in retrieved]
    assert found == [[[1], [2], []], [[0], [2], []], [[], [], []]]
    both = BM25Reader()(material, spanned[0])
    assert [np.flatnonzero(row).tolist() for row in both] == [[0, 1], [2], []]


def test_ties_go_by_item_order():
    material = texts_material(["b a", "a b", "a b"], ["a"])
    retrieved = BM25Reader(2)(material, np.array([False, True, True]))
    assert np.flatnonzero(retrieved[0]).tolist() == [1, 2]
    retrieved = BM25Reader(2)(material, np.ones(3, dtype=bool))
    assert np.flatnonzero(retrieved[0]).tolist() == [0, 1]


LETTERS = st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join)


@given(
    st.lists(LETTERS, min_size=1, max_size=6),
    LETTERS.filter(bool),
    st.integers(1, 4),
    st.data(),
)
def test_it_agrees_with_brute_force(texts, question, k, data):
    material = texts_material(texts, [question])
    spanned = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    index = {n: texts[n].split() for n in range(len(texts)) if spanned[n]}
    mean = sum(map(len, index.values())) / max(len(index), 1) or 1.0
    scores = {}
    for n, own in index.items():
        counts, score = Counter(own), 0.0
        for word in question.split():
            among = sum(word in other for other in index.values())
            idf = math.log(1 + (len(index) - among + 0.5) / (among + 0.5))
            norm = 1.5 * (0.25 + 0.75 * len(own) / mean)
            score += idf * counts[word] * 2.5 / (counts[word] + norm) if counts[word] else 0.0
        scores[n] = round(score, 9)
    best = sorted((n for n in scores if scores[n] > 0), key=lambda n: (-scores[n], n))[:k]
    assert np.flatnonzero(BM25Reader(k)(material, spanned)[0]).tolist() == sorted(best)


def test_questions_without_words_are_refused():
    with pytest.raises(MaterialError, match="queries: have no words for BM25"):
        BM25Reader()(texts_material(["a"], ["?"]), np.array([True]))


def test_the_oracle_reads_what_answers():
    material = odyssey()
    retrieved = OracleReader()(material, np.ones(len(material.items), dtype=bool))
    answering = [
        [query.id in item.answers for item in material.items] for query in material.queries
    ]
    assert retrieved.tolist() == answering
    assert not OracleReader()(material, np.zeros(len(material.items), dtype=bool)).any()


def test_by_tokens_it_reads_until_one_does_not_fit():
    costs, plain = {"a": 3, "b": 2, "c": 4, "d": 1}, (0.5, 0.5)
    claims = tuple(Claim(id=name, cost=cost, embedding=plain) for name, cost in costs.items())
    vectors = {"a": (1.0, 0.0), "b": (0.9, 0.4), "cd": (0.6, 0.8), "d": (0.0, 1.0)}
    items = tuple(
        Item(id=name, supports=(tuple(name),), answers=("q",), embedding=vector)
        for name, vector in vectors.items()
    )
    material = Material("m", claims, items, (Query(id="q", embedding=(1.0, 0.0)),))

    def read(tokens, stored="abcd"):
        spanned = np.array([set(name) <= set(stored) for name in vectors])
        found = TokenReader(tokens)(material, spanned)
        return [name for name, is_read in zip(vectors, found[0], strict=True) if is_read]

    # Best first: a takes 3, b 2, c with d 5, d alone 1.
    for tokens, expected in ((2, ""), (3, "a"), (5, "a b"), (9, "a b"), (10, "a b cd")):
        assert read(tokens) == expected.split()
    assert read(11) == ["a", "b", "cd", "d"]
    assert read(2, "bcd") == ["b"]  # what is not stored takes nothing
    both = np.array([[True, True, False, False], [False, True, False, True]])
    assert TokenReader(3)(material, both)[:, 0].tolist() == [
        [True, False, False, False],
        [False, True, False, True],
    ]


def test_names():
    assert named_reader("similarity") == SimilarityReader()
    assert named_reader("similarity:3") == SimilarityReader(3)
    assert named_reader("bm25:12") == BM25Reader(12)
    assert named_reader("tokens:400") == TokenReader(400)
    assert named_reader("oracle") == OracleReader()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bm52", "no reader is named 'bm52'; choose similarity, bm25"),
        ("tokens", "tokens:N for what fits into N tokens"),
        ("oracle:3", "no reader is named 'oracle:3'"),
        ("bm25:0", "'0' is no number of texts to read in the reader 'bm25:0'"),
        ("bm25:x", "'x' is no number"),
        ("similarity:-1", "'-1' is no number"),
        ("bm25:²", "'²' is no number"),
    ],
)
def test_other_names_are_refused(name, said):
    with pytest.raises(ValueError, match=said):
        named_reader(name)
