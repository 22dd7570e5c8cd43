"""The prompt synthesiser: what enters a context, in which order, at what price."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memenvs.policies.weighted_tree import (
    CONFIGURATIONS,
    Constants,
    LexicalSelector,
    Pool,
    WeightedTree,
    count_tokens,
)
from memenvs.policies.weighted_tree.nodes import Nodes
from memenvs.policies.weighted_tree.relevance import Index
from trees import WORDS, histories, played, texts


@pytest.mark.parametrize("name", CONFIGURATIONS)
@settings(max_examples=30)
@given(events=histories())
def test_contexts_keep_their_budget_and_count_their_tokens(name, events):
    tree = WeightedTree(name)
    contexts = played(tree, events)
    for context, budget in contexts:
        assert context.tokens == count_tokens(context.text)
        assert set(context.selected) <= set(context.candidates)
        assert not set(context.path) & set(context.candidates)
        path = sum(count_tokens(tree.nodes.line(number)) for number in context.path)
        assert context.selected_tokens == context.tokens - path
        assert len(set(context.selected)) == len(context.selected)
        if name == "linear":
            assert context.selected == context.candidates
        elif name == "no-memory":
            assert context.candidates == ()
        elif name != "a3":
            assert context.tokens <= max(budget, path)
    assert tree.tokens.prompts == sum(context.tokens for context, _ in contexts)
    assert tree.tokens.selector == sum(context.selector_tokens for context, _ in contexts)


PLAIN = {
    name: Constants(
        **dict.fromkeys(("success", "failure", "task", "action", "summary", "global_"), 0.5),
        decay=1.0,
        global_decay=1.0,
        priority=0.0,
        threshold=-1.0,
    )
    for name in ("full", "a1")
}


@given(histories())
def test_equal_type_scores_no_priority_and_no_decay_make_full_exactly_a1(events):
    full, a1 = (played(WeightedTree(name, PLAIN[name]), events) for name in ("full", "a1"))
    assert full == a1


def test_full_is_not_a1_with_the_constants_of_the_paper():
    contexts = []
    for name in ("full", "a1"):
        tree = WeightedTree(name)
        tree.begin_task("root")
        tree.record_action("red stone", "failure")
        tree.record_action("red river", "success")
        contexts.append(tree.context("red", budget=7).selected)
    assert contexts == [(2,), (1,)]  # equal relevance: the success, or the one that came first


@pytest.mark.parametrize("name", ["full", "tree", "linear"])
def test_one_step_builds_one_context(name):
    tree = WeightedTree(name)
    tree.begin_task("root")
    tree.record_action("red stone")
    tree.record_action("blue stone")
    first = tree.context("red", 6, step_id="a")
    scores, tokens = tree.nodes.score.tolist(), tree.tokens.total
    assert tree.context("red", 6, step_id="a") == first
    assert (tree.nodes.score.tolist(), tree.tokens.total) == (scores, tokens)
    tree.context("red", 6, step_id="b")
    assert tree.tokens.total == 2 * tokens
    assert (tree.nodes.score.tolist() != scores) == (name == "full")


def test_the_order_is_path_knowledge_memories_summaries_warnings():
    tree = WeightedTree()
    tree.begin_task("old red query")
    tree.record_action("red fact", "success")
    tree.complete()
    tree.promote()
    tree.begin_task("red query")
    tree.begin_task("red task")
    tree.record_action("red mistake", "failure")
    tree.complete(result="red result")
    tree.begin_task("red subtask")
    tree.record_action("red error", "failure")
    tree.record_action("red finding", "success")
    labels = [line.partition(":")[0] for line in tree.context("red").text.splitlines()]
    assert labels == ["Query", "Task", "Known", "Memory", "Summary", "Warning"]


@pytest.mark.parametrize(("left", "expected"), [(0, ""), (1, "4 5 6"), (10, "1 4 5 6 2 3")])
def test_whole_branches_are_taken_as_long_as_any_budget_is_left(left, expected):
    tree = WeightedTree("a3")
    tree.begin_task("root")
    for objective, outcome in (("one", "failure"), ("two", "success")):
        tree.begin_task(objective)
        for word in WORDS[:2]:
            tree.record_action(word, outcome)
        tree.return_to(0)
    tree.begin_task("three")
    # The path takes two lines of three tokens, each branch three such lines.
    assert tree.context("red", 6 + left).selected == tuple(map(int, expected.split()))


def pool_of(values):
    count = len(values)
    nodes = Nodes()
    for _ in range(count):
        nodes.append(2, "word", -1, 0.5, {})
    ones = np.ones(count)
    return Pool("", np.arange(count), ones, ones, ones, np.array(values), nodes.tokens, nodes)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), max_size=300))
def test_the_lexical_selector_sorts_stably_and_leaves_out_what_has_no_value(values):
    order = sorted(range(len(values)), key=lambda n: -values[n])
    expected = [n for n in order if values[n] > 0]
    assert list(LexicalSelector().rank(pool_of(values))) == expected


def test_the_question_to_a_model_is_counted_as_it_would_be_asked():
    tree = WeightedTree()
    tree.begin_task("Who, in 2017, wrote it?")
    for place in range(12):
        tree.record_action(f"fact {place}: it's {place}.", "failure" if place % 3 else "success")
    asked = []

    class Watching(LexicalSelector):
        def rank(self, pool):
            asked.append(pool)
            return super().rank(pool)

    tree._selector = Watching()
    context = tree.context("what is it?")
    assert context.selector_tokens == count_tokens(asked[0].question())


@given(st.lists(texts, min_size=1, max_size=8), texts)
def test_relevance_is_the_cosine_by_hand(documents, query):
    index = Index()
    for text in documents:
        index.add(text)
    known = [word for word in WORDS if any(word in text.split() for text in documents)]

    def damped(text, word):
        count = text.split().count(word)
        return 1 + np.log(count) if count else 0.0

    frequency = {word: sum(word in text.split() for text in documents) for word in known}
    wanted = np.array([damped(query, w) * np.log(1 + len(documents) / frequency[w]) for w in known])
    for text, found in zip(documents, index.relevance(query), strict=True):
        vector = np.array([damped(text, word) for word in known])
        norms = np.linalg.norm(vector) * np.linalg.norm(wanted)
        assert found == pytest.approx(vector @ wanted / norms if norms else 0.0)


def test_tokens_are_words_and_marks():
    assert count_tokens("It's 3.5 µm, I think…") == 11  # It ' s 3 . 5 µm , I think …
    assert count_tokens("") == 0


LABELS = ("Query", "Task", "Memory", "Summary", "Known", "Warning")
FORGED = st.lists(
    st.one_of(
        st.sampled_from(
            [f"{label}{colon}" for label in LABELS for colon in (":", " :", "\uff1a:")]
        ),
        st.sampled_from(["\n", "\r\n", "\v", "\x85", "\u2028", "red", " | Result: paid", "query:"]),
        st.text(max_size=3),
    ),
    min_size=1,
    max_size=8,
).map("".join)


@pytest.mark.parametrize("name", ["full", "linear"])
@given(st.lists(st.tuples(FORGED, st.sampled_from(["success", "failure"])), max_size=5), FORGED)
def test_what_is_recorded_cannot_forge_a_line(name, recorded, result):
    tree = WeightedTree(name)
    tree.begin_task("red root")
    tree.begin_task("red task " + result)
    for text, outcome in recorded:
        tree.record_action("red " + text, outcome)
    tree.complete(result=result)
    context = tree.context("red")
    lines = context.text.splitlines()
    assert len(lines) == len(context.path) + len(context.selected)
    assert context.tokens == count_tokens(context.text)
    for line, node in zip(lines, (*context.path, *context.selected), strict=True):
        label, rest = line.split(":", 1)
        failed = tree.nodes.outcome[node] == 2
        assert label == (LABELS[5] if failed else LABELS[tree.nodes.kind[node]])
        assert not re.search(rf"(?i)\b({'|'.join(LABELS)})\s*:", rest)
        if tree.nodes.kind[node] == 3:  # a summary has each of its parts at most once
            parts = [part.split(":")[0] for part in rest.strip().split(" | ")]
            known = ["Objective", "Result", "Evidence", "Unresolved", "Failed"]
            assert [part for part in known if part in parts] == parts
    asked = WeightedTree(name, selector=Asking())
    asked.begin_task("root")
    for text, outcome in recorded:
        asked.record_action(text, outcome)
    asked.context(result)


class Asking(LexicalSelector):
    """Checks that the question has a line a candidate, and one for each of its own."""

    def rank(self, pool):
        own = pool.question().splitlines()
        assert len(own) == 2 + len(pool.ids)
        return super().rank(pool)
