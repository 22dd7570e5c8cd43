"""Folding, suppression, supersession, reopening, promotion: what is a candidate when."""

import pytest

from memenvs.policies.weighted_tree import CONFIGURATIONS, PAPER, Constants, WeightedTree

ACTIVE, COMPLETED, FOLDED, OBSOLETE = range(4)
TREES = [name for name, row in CONFIGURATIONS.items() if row.history == "tree"]


def begun(name="full", constants=None):
    tree = WeightedTree(name, constants)
    tree.begin_task("root")
    task = tree.begin_task("task one")
    actions = [tree.record_action(f"action {word}", "success") for word in ("alpha", "beta")]
    return tree, task, actions


def pool(tree):
    return set(tree.candidates().tolist())


@pytest.mark.parametrize("name", TREES)
def test_a_completed_branch_is_its_summary_where_branches_fold(name):
    tree, task, actions = begun(name)
    summary = tree.complete(result="alpha and beta")
    if CONFIGURATIONS[name].folding:
        assert pool(tree) == {summary}
        assert tree.nodes.lifecycle[task] == FOLDED
    else:
        assert summary is None
        assert pool(tree) == {task, *actions}
        assert tree.nodes.lifecycle[task] == COMPLETED
    assert len(tree.nodes) == 4 + (summary is not None)  # nothing is ever deleted


@pytest.mark.parametrize("name", TREES)
def test_a_resumed_task_has_its_summary_and_asks_for_details(name):
    tree, task, actions = begun(name)
    summary = tree.complete()
    switches = CONFIGURATIONS[name]
    tree.return_to(task)
    assert tree.active == task
    assert tree.nodes.lifecycle[task] == ACTIVE
    assert pool(tree) == ({summary} if switches.folding else set(actions))
    later = tree.record_action("action gamma", "success")
    assert later in pool(tree)
    tree.return_to(task, details=True)
    if switches.folding and switches.suppression:
        assert pool(tree) == {summary, later, *actions}
    elif switches.folding:
        assert pool(tree) == {summary, later}
    again = tree.complete()
    if switches.folding:
        assert pool(tree) == {again}
        assert tree.nodes.lifecycle[summary] == FOLDED  # it is part of the new one
        assert later in tree.sources(again)


def test_a_task_that_is_folded_again_and_again_keeps_its_size_and_its_result():
    tree, task, _ = begun()
    first = tree.complete(result="alpha and beta")
    sizes = []
    for round_ in range(6):
        tree.return_to(task)
        tree.record_action(f"action {round_}", "success")
        again = tree.complete()
        sizes.append(int(tree.nodes.tokens[again]))
        assert "Result: alpha and beta" in tree.nodes.texts[again]
        assert "Summary" not in tree.nodes.texts[again]
    assert len(set(sizes)) == 1
    tree.return_to(task)
    tree.record_action("word " * 1000, "success")
    again = tree.complete()
    assert tree.nodes.tokens[again] < tree.nodes.tokens[first] + 100


def test_a_subtask_folds_into_the_fold_above_it():
    tree, outer, actions = begun()
    inner = tree.begin_task("inner")
    found = tree.record_action("action delta", "success")
    small = tree.complete(inner)
    assert pool(tree) == {*actions, small}
    big = tree.complete(outer)
    assert pool(tree) == {big}
    assert found in tree.sources(big) or set(actions) <= tree.sources(big)
    # Execution that returns to the inner task opens the path, and only what is on it.
    tree.return_to(inner)
    assert tree.nodes.path(tree.active) == [0, outer, inner]
    assert found not in pool(tree)
    assert big in pool(tree)
    assert small in pool(tree)


def test_open_subtasks_and_given_issues_are_unresolved_and_failures_are_warned_of():
    tree, outer, _ = begun()
    tree.begin_task("find the missing page")
    tree.return_to(outer)
    tree.record_action("asked a forum that lies " + "word " * 20, "failure")
    summary = tree.complete(result="both", unresolved=["who owns it"])
    told = tree.nodes.texts[summary]
    assert "Result: both" in told
    assert "Unresolved: who owns it; find the missing page" in told
    assert told.endswith("Failed: asked a forum that lies " + " ".join(["word"] * 7))


def neglected(name, outcome):
    """How many contexts pass until a branch of four actions is obsolete; 40 if it is not."""
    tree, task, _ = begun(name, PAPER)
    for word in ("gamma", "delta"):
        tree.record_action(word, outcome)
    for action in (2, 3):
        tree.revise(action, outcome)
    tree.return_to(0)
    tree.begin_task("task two")
    for misses in range(40):
        if tree.nodes.lifecycle[task] == OBSOLETE:
            return misses
        tree.context("nothing of it", budget=0)  # no memory fits
    return 40


def test_neglect_suppresses_failures_before_successes():
    # u after r misses is u · .9^h(r); U = .6 max + .3 mean - .2 F of task (.5) and four actions.
    def expected(score, failed):
        for misses in range(1, 40):
            decayed = 0.9 ** sum(min(k, 3) for k in range(1, misses + 1))
            scores = [0.5 * decayed, *[score * decayed] * 4]
            if 0.6 * max(scores) + 0.3 * sum(scores) / 5 - 0.2 * failed < 0.1:
                return misses
        return None

    assert neglected("full", "success") == expected(0.75, 0) == 7
    assert neglected("full", "failure") == expected(0.3, 1) == 2
    assert neglected("a3", "failure") == 2


@pytest.mark.parametrize(
    ("failures", "found"), [(0, True), (3, True), (5, False)], ids=["none", "three", "five"]
)
def test_a_fact_is_found_after_fifty_unrelated_prompts(failures, found):
    tree = WeightedTree()
    tree.begin_task("write the history of the harbour")
    tree.begin_task("look at the lighthouse")
    fact = tree.record_action("the lighthouse was opened in 1890", "success")
    for number in range(failures):
        tree.record_action(f"archive {number} holds nothing", "failure")
    tree.return_to(0)
    tree.begin_task("count the ships")
    for number in range(50):
        tree.record_action(f"ship {number} carries wool", "success")
        tree.context(f"which goods does ship {number} carry", budget=0)  # no memory fits
    # Suppressed is what more than three quarters failed of: here 5 actions of 6.
    assert (fact in tree.context("when was the lighthouse opened", 40).selected) is found


@pytest.mark.parametrize("name", ["a1", "a2", "tree+selection+summary"])
def test_without_suppression_nothing_is_ever_obsolete(name):
    assert neglected(name, "failure") == 40


def test_the_active_path_and_the_root_are_never_suppressed():
    tree, task, _ = begun(constants=Constants(threshold=2.0))
    other = tree.begin_task("task two")
    tree.return_to(task)
    tree.context("query")
    assert tree.nodes.lifecycle[[0, task, other]].tolist() == [ACTIVE, ACTIVE, OBSOLETE]
    assert other not in pool(tree)


def test_a_suppressed_branch_is_kept_and_comes_back_when_execution_returns():
    tree, task, actions = begun(constants=Constants(threshold=0.6))
    tree.return_to(0)
    tree.begin_task("task two")
    tree.context("nothing", budget=0)
    assert tree.nodes.lifecycle[task] == OBSOLETE
    assert pool(tree) == set()
    score = tree.nodes.score[actions].tolist()
    tree.context("action alpha")  # outside the pool nothing changes
    assert tree.nodes.score[actions].tolist() == score
    tree.return_to(task)
    assert set(actions) <= pool(tree)


@pytest.mark.parametrize("name", TREES)
def test_invalidation_and_supersession_do_not_ask_the_score(name):
    tree, task, (first, second) = begun(name)
    tree.supersede(first, second)
    gone = tree.nodes.lifecycle[[first, second]].tolist()
    tree.return_to(0)
    tree.invalidate(task)
    if CONFIGURATIONS[name].supersession:
        assert gone == [OBSOLETE, ACTIVE]
        assert tree.nodes.lifecycle[task] == OBSOLETE
        assert pool(tree) == set()
    else:
        assert tree.nodes.lifecycle[[first, second, task]].tolist() == [ACTIVE, ACTIVE, ACTIVE]
        assert pool(tree) == {task, first, second}


def test_only_an_official_success_with_another_value_supersedes():
    tree, _, _ = begun(constants=Constants(corroboration=1))

    def claim(value, outcome="success", official=False, slot="owner"):
        return tree.record_action(
            f"{slot} {value}", outcome, slot=slot, value=value, official=official
        )

    other = claim("Ann", slot="author")
    false, same = claim("Ann"), claim("Bob")
    claim("Bob", "failure", official=True)
    claim("Bob", "success")
    assert not (tree.nodes.lifecycle == OBSOLETE).any()
    claim("Bob", "success", official=True)
    assert tree.nodes.lifecycle[[other, false, same]].tolist() == [ACTIVE, OBSOLETE, ACTIVE]


def test_metadata_of_a_task_are_no_claim_and_no_evidence():
    tree = WeightedTree("full")
    root = tree.begin_task("root", slot="author", evidence=[7])
    tree.record_action("it is A", "success", slot="author", value="A", official=True)
    assert tree.nodes.lifecycle[root] == ACTIVE
    assert tree.sources(root) == frozenset()


def test_what_a_fold_says_leaves_out_what_was_superseded():
    tree, _, (first, second) = begun()
    tree.supersede(first, second)
    assert "alpha" not in tree.nodes.texts[tree.complete()]


def test_a_finished_root_becomes_global_knowledge_of_the_next_query():
    tree, _, _ = begun()
    tree.complete(result="forty two")
    tree.complete(result="the answer is forty two")
    assert tree.done
    known = tree.promote()
    root = tree.begin_task("next query about forty two")
    assert pool(tree) == {known}
    assert tree.context("forty two").selected == (known,)
    assert tree.nodes.path(tree.active) == [root]
    for _ in range(3):
        tree.context("nothing", budget=0)
    # The streak of a global memory is one at each miss.
    assert tree.nodes.score[known] == pytest.approx(0.6 * 0.95**3)
    assert tree.nodes.missed[known] == 1


def test_what_cannot_be_meant_is_refused():
    tree = WeightedTree()
    for call in (tree.complete, tree.context, lambda: tree.record_action("x")):
        with pytest.raises(ValueError, match="no task is active"):
            call()
    tree, task, (action, _) = begun()
    with pytest.raises(ValueError, match="node 9 is not a task"):
        tree.complete(9)
    with pytest.raises(ValueError, match=f"node {action} is not a task"):
        tree.return_to(action)
    with pytest.raises(ValueError, match=f"node {task} is not an action"):
        tree.revise(task, "success")
    with pytest.raises(ValueError, match="outcome='good' is unknown"):
        tree.record_action("x", "good")
    with pytest.raises(ValueError, match="is on the active path"):
        tree.invalidate(task)
    with pytest.raises(ValueError, match="has no summary to promote"):
        tree.promote(task)
    tree.complete()
    with pytest.raises(ValueError, match=f"node {task} is no active task"):
        tree.complete(task)
    with pytest.raises(ValueError, match="no configuration is named 'a4'; choose from no-memory"):
        WeightedTree("a4")
