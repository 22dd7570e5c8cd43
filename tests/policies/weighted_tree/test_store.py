"""A store for an agent that runs: search, users as roots, updates, and what is forgotten."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs.policies.weighted_tree import Constants, WeightedTree
from memenvs.policies.weighted_tree.nodes import COLUMNS
from memenvs.policies.weighted_tree.relevance import Index
from trees import WORDS, histories, played, texts


def state(tree):
    columns = {name: getattr(tree.nodes, name).tolist() for name in COLUMNS}
    return columns, list(tree.nodes.texts), tree.active, tree.tokens.total


def told(found):
    return [each.text for each in found]


def test_a_search_needs_no_task_and_changes_nothing():
    tree = WeightedTree()
    assert tree.search("red") == []
    tree.begin_task("root")
    tree.record_action("a red stone", "success")
    tree.record_action("a blue stone", "success")
    tree.complete(result="a red house")
    before = state(tree)
    assert tree.active is None
    first, *others = tree.search("red stone")
    assert (first.text, first.kind, first.outcome) == ("a red stone", "action", "success")
    assert [each.value for each in (first, *others)] == sorted(
        (each.value for each in (first, *others)), reverse=True
    )
    assert len(tree.search("stone", 1)) == 1
    assert state(tree) == before


@given(histories(), texts)
def test_a_search_finds_what_is_relevant_and_believed(events, query):
    tree = WeightedTree()
    played(tree, events)
    found = tree.search(query, 100)
    words = set(query.split())
    for each in found:
        assert words & set(each.text.lower().replace(";", " ").replace("|", " ").split())
        assert tree.nodes.lifecycle[each.node] != 3
    everything = [
        node
        for node in range(len(tree.nodes))
        if tree.nodes.kind[node] == 2 and words & set(tree.nodes.texts[node].split())
    ]
    assert set(everything) <= {each.node for each in found}


def test_users_are_roots_and_sources_and_times_are_filters():
    tree = WeightedTree()
    ada = tree.begin_root("Ada", user="ada")
    tree.record_action("likes tea", source="chat", time=10.0)
    tree.record_action("likes tea in the morning", source="mail", time=20.0)
    bob = tree.begin_root("Bob", user="bob")
    tree.record_action("likes tea, too", time=30.0)
    assert tree.nodes.root[[1, 2, 4]].tolist() == [ada, ada, bob]
    assert told(tree.search("tea", root=bob)) == ["likes tea, too"]
    assert told(tree.search("tea", root=ada, source="mail")) == ["likes tea in the morning"]
    assert told(tree.search("tea", since=20, until=25)) == ["likes tea in the morning"]
    assert set(told(tree.search("tea", until=10))) == {"likes tea"}
    tree.return_to(ada)
    assert set(tree.context("tea").selected) == {1, 2}


def test_an_update_gives_way_in_its_place():
    tree = WeightedTree("linear")  # without supersession, too
    tree.begin_task("root")
    task = tree.begin_task("part")
    old = tree.record_action("lives in Rome", "success", source="chat")
    tree.return_to(0)
    new = tree.update(old, "lives in Bern", time=5.0)
    assert told(tree.search("lives")) == ["lives in Bern"]
    assert tree.nodes.parent[new] == task
    assert tree.nodes.metadata[new] == {"source": "chat", "time": 5.0}
    with pytest.raises(ValueError, match="is not an action"):
        tree.update(task, "x")


def test_what_is_forgotten_is_gone_from_tree_and_file(tmp_path):
    path = tmp_path / "tree.jsonl"
    tree = WeightedTree.open(path, constants=Constants(corroboration=1))
    tree.begin_task("root")
    tree.begin_task("part")
    secret = tree.record_action(
        "the zebra code is 4711", "success", slot="code", value="4711", official=True
    )
    other = tree.record_action("the code is 5", "success", slot="code", value="5")
    kept = tree.record_action("a red stone", "success")
    assert tree.nodes.lifecycle[other] == 3
    summary = tree.complete(result="it is 4711")
    tree.promote(1)
    tree.forget(secret)
    assert tree.nodes.lifecycle[other] == 0  # what it had superseded is back
    assert tree.nodes.texts[summary] == ""
    with pytest.raises(ValueError, match="was forgotten"):
        tree.reinstate(secret)
    assert tree.search("zebra 4711") == []
    assert {kept, other} <= set(tree.candidates().tolist())
    tree.record_action("a zebra", "success")
    before = state(tree)
    tree.close()
    assert b"4711" not in path.read_bytes()
    again = WeightedTree.open(path)
    assert state(again) == before
    assert told(again.search("zebra")) == ["a zebra"]
    again.close()


@given(st.lists(texts, min_size=1, max_size=6), st.integers(0, 5), texts)
def test_an_index_forgets_as_if_the_text_had_had_no_words(entered, place, query):
    place %= len(entered)
    index, other = Index(), Index()
    for number, text in enumerate(entered):
        index.add(text)
        other.add("" if number == place else text)
    index.forget(place, entered[place])
    assert np.array_equal(index.relevance(query), other.relevance(query))
    assert set(query.split()) <= set(WORDS)
