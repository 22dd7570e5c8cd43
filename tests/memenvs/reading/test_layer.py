"""The layer as a whole: today's values by default, words by hand, a memory's own search."""

import json

import numpy as np
import pytest

from chat_server import chat_server
from instances import random_material
from memenvs import Claim, Item, Material, Query
from memenvs.errors import MaterialError
from memenvs.materials.odyssey import odyssey
from memenvs.reading.layer import DEFAULT, Layer, claims_as_items
from memenvs.reading.readers import BM25Reader
from memenvs.text.model_server import ServerError

TEXTS = {
    "a": "Anna ordered the blue kettle",
    "w": "Anna ordered the red kettle",
    "b": "Bob lives in Bonn",
    "c": "Bonn is on the Rhine",
}
SHOP = Material(
    "shop",
    tuple(Claim(id=name, text=text, truth=name != "w") for name, text in TEXTS.items()),
    (
        Item(id="n1", supports=(("a",), ("w",)), answers=("q1",)),
        Item(id="n2", supports=(("b", "c"),), answers=("q2",)),
    ),
    (
        Query(id="q1", text="What did Anna order?", weight=3, answer="blue kettle"),
        Query(id="q2", text="On which river does Bob live?", weight=1, answer="Rhine"),
        Query(id="q3", text="Who?", weight=4),  # has no answer to compare with
    ),
)


def memory(ids, material=SHOP):
    return material.mask(tuple(ids))


@pytest.mark.parametrize("seed", range(20))
def test_by_default_it_is_the_end_to_end_utility(seed):
    rng = np.random.default_rng(seed)
    material = random_material(rng, 6, 5, composite=0.5, false_share=0.4)
    mask = rng.random(len(material.claims)) < 0.5
    assert DEFAULT.answered(material, mask) == material.end_to_end(mask)


def test_a_reader_changes_what_is_named():
    material = odyssey()
    mask = material.mask(["e1", "e2", "e3"])
    expected = material.end_to_end(mask, BM25Reader(1))
    assert Layer("bm25:1").answered(material, mask) == expected <= material.end_to_end(mask)


@pytest.mark.parametrize(
    ("ids", "correct", "expected"),
    [
        ("a", "exact", 0.75),  # q3 is left out: 3 of 4
        ("w", "exact", 0.0),
        ("w", "f1", 0.75 * 0.5),  # "red kettle" for "blue kettle"
        ("", "f1", 0.0),
    ],
)
def test_spans_by_hand(ids, correct, expected):
    layer = Layer("bm25:1", "span", correct)
    # q2 finds nothing in a and w: no word of theirs is asked for.
    assert layer.answered(SHOP, memory(ids)) == pytest.approx(expected)


def test_of_words_f1_is_the_default():
    assert Layer(reasoner="span").correct == "f1"


def test_claims_that_answer_nothing_distract():
    loud = Claim(id="d", text="What did Anna order? Anna did order what?")
    material = Material("loud", (*SHOP.claims, loud), SHOP.items, SHOP.queries)
    layer = Layer("bm25:1", "span", "exact")
    assert layer.answered(material, memory("a", material)) == 0.75
    assert layer.answered(material, memory("ad", material)) == 0.0
    assert Layer("oracle", "span", "exact").answered(material, memory("ad", material)) == 0.75
    assert Layer("bm25:1").answered(material, memory("ad", material)) == 3 / 8  # items alone


def test_the_view_of_claims_says_what_each_helps_answer():
    view = claims_as_items(SHOP)
    assert {item.id: item.answers for item in view.items} == {
        "a": ("q1",),
        "w": ("q1",),
        "b": ("q2",),
        "c": ("q2",),
    }


def test_a_model_puts_claims_together(monkeypatch, tmp_path):
    def rule(prompt):
        both = "Bob lives in Bonn" in prompt and "Bonn is on the Rhine" in prompt
        return json.dumps({"answer": "the Rhine" if both and "river" in prompt else ""})

    with chat_server(rule) as server:
        monkeypatch.setenv("MEMENVS_REASONER_URL", server.url)
        monkeypatch.setenv("MEMENVS_CACHE", str(tmp_path))
        layer = Layer("oracle", "openai", "exact")
        assert layer.answered(SHOP, memory("bc")) == 0.25
        assert layer.answered(SHOP, memory("b")) == 0.0
        layer.answered(SHOP, memory("b"))
        (chat,) = layer.chats
        assert (chat.usage.answers, chat.usage.cached) == (2, 1)


def test_a_memory_reads_by_its_own_search():
    asked = []

    def search(query, k):
        asked.append((query, k))
        return [2, 3]

    layer = Layer("own:2")
    assert layer.answered(SHOP, memory("abc"), search) == 1 / 8  # n2 alone is read
    assert asked == [(query.text, 2) for query in SHOP.queries]
    assert layer.answered(SHOP, memory("ab"), search) == 0  # c is not stored, whatever is found
    words = Layer("own", "span", "exact")
    assert words.answered(SHOP, memory("abc"), lambda query, k: [0]) == 0.75
    assert layer.answered(SHOP, memory("abc")) == Layer("similarity:2").answered(
        SHOP, memory("abc")
    )


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"reasoner": "gpt"}, "no reasoner is named 'gpt'; choose from best, span, openai"),
        ({"correct": "yes"}, "'yes' says nothing of what is right; choose from item, exact"),
        ({"correct": "f1"}, "the reasoner 'best' does not go with 'f1'"),
        ({"reasoner": "span", "correct": "item"}, "the reasoner 'span' does not go with 'item'"),
        ({"reader": "own:0"}, "'0' is no number of texts"),
        ({"reader": "bm"}, "no reader is named 'bm'"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, said):
    with pytest.raises(ValueError, match=said):
        Layer(**names)


def test_answers_and_texts_are_needed_for_words():
    bare = Material("bare", SHOP.claims, SHOP.items, tuple(Query(id=q.id) for q in SHOP.queries))
    with pytest.raises(MaterialError, match="bare: queries, field 'answer': have no 'answer'"):
        Layer(reasoner="span").answered(bare, memory("a"))
    mute = Material("mute", tuple(Claim(id=c) for c in TEXTS), SHOP.items, SHOP.queries)
    with pytest.raises(MaterialError, match="mute: claims, field 'text': have no text"):
        Layer(reasoner="span").answered(mute, memory("a"))


def test_a_model_has_to_be_configured(monkeypatch):
    monkeypatch.delenv("MEMENVS_REASONER_URL", raising=False)
    with pytest.raises(ServerError, match="set MEMENVS_REASONER_URL"):
        Layer(reasoner="openai").answered(SHOP, memory("a"))
