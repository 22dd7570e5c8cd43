"""Retention scores and branch priorities, by hand, by brute force and by their closed form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs.policies.weighted_tree import Constants, WeightedTree
from memenvs.policies.weighted_tree.scores import after_selection, exponent, selection_value

rates = st.floats(0.05, 1.0)
units = st.floats(0.0, 1.0)


@given(units, rates, st.integers(1, 6), st.integers(0, 30))
def test_missed_selections_in_a_row_have_a_closed_form(score, decay, streak, misses):
    constants = Constants(decay=decay, streak=streak)
    u, m = np.array([score]), np.array([0])
    yes, no = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)
    for _ in range(misses):
        u, m = after_selection(u, m, yes, no, no, constants)
    assert m[0] == misses
    assert exponent(misses, streak) == sum(min(k, streak) for k in range(1, misses + 1))
    assert u[0] == pytest.approx(score * decay ** exponent(misses, streak), rel=1e-12, abs=1e-300)


@given(
    st.lists(st.tuples(units, st.integers(0, 9), st.sampled_from("sen"), st.booleans()), max_size=9)
)
def test_selection_resets_misses_decay_and_the_rest_stays(memories):
    constants = Constants(decay=0.8, global_decay=0.7, streak=2)
    fates = np.array([fate for *_, fate, _ in memories], dtype=str)
    u, m = after_selection(
        np.array([score for score, *_ in memories]),
        np.array([missed for _, missed, *_ in memories], dtype=np.int64),
        fates != "n",  # eligible
        fates == "s",  # selected
        np.array([everywhere for *_, everywhere in memories], dtype=bool),
        constants,
    )
    for place, (score, missed, fate, everywhere) in enumerate(memories):
        if fate == "s":
            assert (u[place], m[place]) == (score, 0)
        elif fate == "n":
            assert (u[place], m[place]) == (score, missed)
        elif everywhere:
            assert (u[place], m[place]) == (pytest.approx(score * 0.7), 1)
        else:
            expected = score * 0.8 ** min(missed + 1, 2)
            assert (u[place], m[place]) == (pytest.approx(expected), missed + 1)


@st.composite
def trees(draw):
    """Trees of any shape, with outcomes, returns and obsolete nodes."""
    tree = WeightedTree("full")
    tree.begin_task("root")
    tasks = [0]
    for _ in range(draw(st.integers(0, 14))):
        what = draw(st.sampled_from(["task", "success", "failure", None, "return", "obsolete"]))
        if what == "task":
            tasks.append(tree.begin_task("task"))
        elif what == "return":
            tree.return_to(draw(st.sampled_from(tasks)))
        elif what == "obsolete":
            marked = draw(st.integers(0, len(tree.nodes) - 1))
            if marked not in tree.nodes.path(tree.active):
                tree.invalidate(marked)
        else:
            tree.record_action("action", what)
    return tree


@given(trees())
def test_priorities_are_those_of_a_walk_through_each_branch(tree):
    nodes = tree.nodes
    found = tree.priorities()

    def below(top):
        return [n for n in range(len(nodes)) if top in ancestry(n)]

    def ancestry(n):
        return [n] if nodes.parent[n] < 0 else [n, *ancestry(nodes.parent[n])]

    for n in range(len(nodes)):
        if nodes.kind[n] == 2:
            assert found[n] == 0
            continue
        members = below(n)
        actions = [k for k in members if nodes.kind[k] == 2]
        failed = sum(nodes.outcome[k] == 2 for k in actions) / max(len(actions), 1)
        obsolete = sum(nodes.lifecycle[k] == 3 for k in members) / len(members)
        scores = [nodes.score[k] for k in members]
        expected = 0.6 * max(scores) + 0.3 * np.mean(scores) - 0.2 * failed - 0.2 * obsolete
        assert found[n] == pytest.approx(expected)


def test_a_branch_whose_actions_all_failed_is_not_obsolete_at_once():
    tree = WeightedTree()
    tree.begin_task("root")
    task = tree.begin_task("task")
    for _ in range(3):
        tree.record_action("try", "failure")
    # .6 · .5 + .3 · (.5 + 3 · .3) / 4 - .2
    assert tree.priorities()[task] == pytest.approx(0.205)


def test_a_revised_outcome_sets_the_score_and_leaves_the_streak():
    tree = WeightedTree()
    tree.begin_task("root")
    action = tree.record_action("alpha", "success")
    for _ in range(2):
        tree.context("omega", budget=1)
    assert (tree.nodes.score[action], tree.nodes.missed[action]) == (
        pytest.approx(0.75 * 0.9**3),
        2,
    )
    tree.revise(action, "failure")
    assert (tree.nodes.score[action], tree.nodes.missed[action]) == (0.3, 2)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("success", 1.1),
        ("decay", 0.0),
        ("streak", 0),
        ("streak", True),
        ("alpha", -1.0),
        ("threshold", float("nan")),
    ],
)
def test_constants_out_of_range_are_refused_by_name(field, value):
    with pytest.raises(ValueError, match=f"^{field}={value!r} is no "):
        Constants(**{field: value})


def test_the_weight_is_the_share_that_scores_decide():
    columns = np.array([1.0, 0.5]), np.array([0.8, 0.4]), np.array([0.5, 2.0])
    for weight, expected in ((0, [1, 0.5]), (1, [0.4, 0.4]), (0.5, [0.7, 0.45])):
        found = selection_value(*columns, Constants(weight=weight))
        assert found.tolist() == pytest.approx(expected)
