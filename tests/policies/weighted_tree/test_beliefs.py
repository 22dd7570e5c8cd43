"""What is believed: what falls is undone, along all that followed from it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs.policies.weighted_tree import PAPER, Constants, WeightedTree, configuration
from memenvs.policies.weighted_tree.beliefs import normal
from memenvs.policies.weighted_tree.journal import header, line_of, sum_of

ACTIVE, COMPLETED, FOLDED, OBSOLETE = range(4)


ONE = Constants(corroboration=1)  # official source supersedes


def begun(constants=ONE):
    tree = WeightedTree("full", constants)
    tree.begin_task("write about the mill")
    tree.begin_task("find when it was opened")
    return tree


def claim(tree, value, outcome="success", source="", *, official=False):
    return tree.record_action(
        f"opened {value}", outcome, source=source, slot="opened", value=value, official=official
    )


def obsolete(tree, *nodes):
    return [tree.nodes.lifecycle[node] == OBSOLETE for node in nodes]


@pytest.mark.parametrize("fall", ["failed", "invalidated", "reinstated"])
def test_what_was_superseded_comes_back_when_its_superseder_falls(fall):
    tree = begun()
    old, new = claim(tree, "1890"), claim(tree, "1891")
    tree.supersede(old, new)
    assert obsolete(tree, old, new) == [True, False]
    if fall == "failed":
        tree.revise(new, "failure")
    elif fall == "invalidated":
        tree.invalidate(new)
    else:
        tree.reinstate(old)
    assert obsolete(tree, old) == [False]
    assert old in tree.candidates()


def test_an_official_success_stands_against_what_comes_later_too():
    tree = begun()
    official = claim(tree, "1890", official=True)
    poison = claim(tree, "1950")
    assert obsolete(tree, official, poison) == [False, True]
    tree.reinstate(poison)
    assert obsolete(tree, poison) == [False]
    claim(tree, "1890", official=True)  # told to stand, it stands
    assert obsolete(tree, poison) == [False]


def test_a_success_that_is_told_later_supersedes_as_one_told_at_once():
    tree = begun()
    poison = claim(tree, "1950")
    official = claim(tree, "1890", None, official=True)
    assert obsolete(tree, poison) == [False]
    tree.revise(official, "success")
    assert obsolete(tree, poison) == [True]
    tree.revise(official, "failure")
    assert obsolete(tree, poison) == [False]


def test_officials_that_contradict_each_other_supersede_nothing():
    tree = begun()
    poison = claim(tree, "1950")
    official = claim(tree, "1890", official=True)
    spoof = claim(tree, "1950", official=True)
    assert obsolete(tree, poison, official, spoof) == [False, False, False]
    tree.invalidate(spoof)
    assert obsolete(tree, poison, official, spoof) == [True, False, True]


def test_dissent_gives_way_to_as_many_sources_as_are_asked_for():
    tree = begun(Constants())
    early = claim(tree, "1950", source="forum")
    claim(tree, "1890", source="register", official=True)
    late = claim(tree, "1951", source="forum")
    assert obsolete(tree, early, late) == [False, False]
    claim(tree, "1890", source="register", official=True)  # the same source again
    assert obsolete(tree, early, late) == [False, False]
    operator = claim(tree, "in 1890", source="operator", official=True)
    assert obsolete(tree, early, late) == [True, True]
    tree.invalidate(operator)
    assert obsolete(tree, early, late) == [False, False]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("in 1890", "1890"),
        ("The Ada Berg.", "ada berg"),
        ("1,200", "1200"),
        ("１８９０", "1890"),
        ("12 thousand  crowns", "12 thousand crowns"),
    ],
)
def test_values_are_compared_in_normal_form(one, other):
    assert normal(one) == normal(other)
    tree = begun()
    confirmed = claim(tree, one)
    claim(tree, other, official=True)
    assert obsolete(tree, confirmed) == [False]


@pytest.mark.parametrize(("one", "other"), [("1890", "1891"), ("1.5", "15"), ("on", "in")])
def test_other_values_stay_others(one, other):
    assert normal(one) != normal(other)


@pytest.mark.parametrize("how", ["official", "failed", "invalidated"])
def test_what_was_built_from_a_fallen_belief_falls_and_its_branch_stands_open(how):
    tree = begun()
    poison = claim(tree, "1950")
    other = tree.record_action("it has two wheels", "success")
    summary = tree.complete(result="1950")
    root = tree.complete(result="opened 1950")
    known = tree.promote()
    tree.begin_task("write about the mill again")
    tree.return_to(0)
    assert poison in tree.sources(known)
    if how == "official":
        official = claim(tree, "1890", official=True)
    elif how == "failed":
        tree.revise(poison, "failure")
    else:
        tree.invalidate(poison)
    assert obsolete(tree, summary, root, known) == [True, True, True]
    pool = set(tree.candidates().tolist())
    assert other in pool
    assert pool.isdisjoint({summary, root, known})
    with pytest.raises(ValueError, match="has no summary to promote"):
        tree.promote()
    if how == "official":  # it falls in its turn
        tree.revise(official, "failure")
    elif how == "failed":
        tree.revise(poison, "success")
    else:
        tree.reinstate(poison)
    assert obsolete(tree, summary, root, known) == [False, False, False]


def test_a_withdrawn_task_takes_what_stands_below_it_along():
    tree = begun()
    official = claim(tree, "1890", official=True)
    tree.return_to(0)
    task = tree.begin_task("look elsewhere")
    other = claim(tree, "1950")
    assert obsolete(tree, other) == [True]
    tree.invalidate(int(tree.nodes.parent[official]))
    assert obsolete(tree, other) == [False]
    tree.return_to(int(tree.nodes.parent[official]))
    assert obsolete(tree, other, task) == [True, False]


values = st.sampled_from(["1890", "in 1890", "1950"])
steps = st.one_of(
    st.tuples(st.just("claim"), values, st.booleans(), st.sampled_from(["success", None])),
    st.tuples(
        st.sampled_from(["revise", "invalidate", "supersede", "reinstate", "complete", "return"]),
        st.integers(0, 30),
        st.integers(0, 30),
        st.sampled_from(["success", "failure", None]),
    ),
)


def happen(tree, step):
    what, first, second, outcome = step
    if what == "claim":
        if tree.active is None:
            tree.return_to(1)
        claim(tree, first, outcome, official=second)
        return
    first, second = first % len(tree.nodes), second % len(tree.nodes)
    try:
        if what == "revise":
            tree.revise(first, outcome)
        elif what == "supersede":
            tree.supersede(first, second)
        elif what == "complete":
            tree.complete()
        else:
            {"return": tree.return_to}.get(what, getattr(tree, what, None))(first)
    except ValueError:
        return  # of another kind, or on the active path


@given(st.lists(steps, max_size=25))
def test_what_is_believed_follows_from_what_was_told_alone(history):
    tree = begun()
    for step in history:
        happen(tree, step)
    before = tree.nodes.lifecycle.tolist()
    tree._state.beliefs.revise(range(len(tree.nodes)))  # all of it anew
    assert tree.nodes.lifecycle.tolist() == before


@pytest.mark.parametrize("saved", [False, True])
def test_a_file_of_version_2_is_read_and_rewritten(tmp_path, saved):
    path = tmp_path / "tree.jsonl"
    head = header(configuration("full"), PAPER) | {"format": "memenvs.weighted-tree/2"}
    for name in ("weight", "corroboration"):
        del head["constants"][name]
    told = {"source": "", "slot": "opened", "value": "1950", "official": False}
    action = {"op": "action", "metadata": told, "outcome": "success", "supersedes": []}
    events = [
        {"op": "task", "text": "root", "metadata": {}},
        action | {"text": "opened 1950"},
        action | {"text": "it has wheels", "metadata": {"source": ""}},
        action | {"text": "opened 1890", "metadata": told | {"value": "1890"}, "supersedes": [1]},
        {"op": "obsolete", "nodes": [2], "by": None},
    ]
    if saved:
        tree = WeightedTree("full", PAPER)
        tree.begin_task("root")
        claim(tree, "1950")
        tree.record_action("it has wheels", "success")
        claim(tree, "1890")
        state = tree._state.saved()
        columns = state["columns"]
        for name in ("stage", "withdrawn", "told", "by"):
            del columns[name]
        columns["lifecycle"] = [ACTIVE, OBSOLETE, OBSOLETE, ACTIVE]
        state["metadata"][1]["superseded_by"] = 3
        state["metadata"][2]["superseded_by"] = None
        events = [json.loads(json.dumps(state))]
    content, last = b"", ""
    for event in [head, *events]:
        line = line_of(event, last)
        content, last = content + line, sum_of(line)
    path.write_bytes(content)
    tree = WeightedTree.open(path)
    assert tree.constants == PAPER
    assert obsolete(tree, 0, 1, 2, 3) == [False, True, True, False]
    tree.revise(3, "failure")
    assert obsolete(tree, 1, 2) == [False, True]
    tree.close()
    assert b"memenvs.weighted-tree/3" in path.read_bytes()[:40]
    again = WeightedTree.open(path)
    assert obsolete(again, 1, 2) == [False, True]
    again.reinstate(2)
    assert obsolete(again, 2) == [False]
    again.close()
