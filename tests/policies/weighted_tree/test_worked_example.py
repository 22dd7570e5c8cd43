"""The worked example of the paper (A.4), step by step: which paper, and who wrote it."""

import pytest

from memenvs.policies.weighted_tree import Constants, WeightedTree
from memenvs.policies.weighted_tree.scores import exponent

ACTIVE, COMPLETED, FOLDED, OBSOLETE = range(4)


def identified(constants=None):
    """The first branch, before it is completed."""
    tree = WeightedTree("full", constants)
    tree.begin_task("Who wrote the most cited paper of 2017?")
    task = tree.begin_task("identify the paper")
    named = {
        "encyclopedia": tree.record_action("searched encyclopedia pages: no ranking", "success"),
        "citation": tree.record_action("summaries support Attention Is All You Need", "success"),
        "blog": tree.record_action("a ranking blog says it is Foo", "failure", source="blog"),
        "arxiv": tree.record_action("official arXiv record 1706.03762", "success", source="arXiv"),
    }
    return tree, task, named


def test_outcomes_set_the_scores():
    tree, _, named = identified()
    scores = {name: tree.nodes.score[node] for name, node in named.items()}
    assert scores == {"encyclopedia": 0.75, "citation": 0.75, "blog": 0.30, "arxiv": 0.75}


@pytest.mark.parametrize("streak", [1, 2, 3])
def test_the_blog_decays_while_the_official_record_is_selected(streak):
    constants = Constants(decay=0.9, streak=streak)
    tree, _, named = identified(constants)
    for misses in range(1, 6):
        context = tree.context("official arXiv record", budget=35)
        assert context.selected == (named["arxiv"],)
        assert tree.nodes.missed[named["arxiv"]] == 0
        assert tree.nodes.score[named["arxiv"]] == 0.75
        assert tree.nodes.missed[named["blog"]] == misses
        expected = 0.30 * 0.9 ** exponent(misses, streak)
        assert tree.nodes.score[named["blog"]] == pytest.approx(expected)


def test_a_memory_outside_the_pool_keeps_its_score():
    tree, _, named = identified()
    summary = tree.complete(result="Attention Is All You Need")
    before = tree.nodes.score[named["blog"]]
    context = tree.context("anything else", budget=1)
    assert context.candidates == (summary,)
    assert tree.nodes.score[named["blog"]] == before
    assert tree.nodes.score[summary] == pytest.approx(0.6 * 0.9)


def test_the_first_branch_folds_into_paper_source_and_warning():
    tree, task, named = identified()
    # .6 · .75 + .3 · (.5 + 3 · .75 + .3) / 5 - .2 · 1/4
    assert tree.priorities()[task] == pytest.approx(0.583)
    summary = tree.complete(result="Attention Is All You Need")
    told = tree.nodes.texts[summary]
    for part in (
        "identify the paper",
        "Attention Is All You Need",
        "official arXiv record",
        "blog",
    ):
        assert part in told
    assert "encyclopedia" not in told
    assert tree.nodes.lifecycle[task] == FOLDED
    assert tree.active == 0
    assert tree.sources(summary) == {named["citation"], named["arxiv"]}
    assert tree.sources(summary, warnings=True) == {*tree.sources(summary), named["blog"]}


def test_the_failure_share_alone_cannot_tell_the_mirror_from_a_clean_success():
    priorities = []
    for observed in ("a mirror page: the only author is X", "the second page of the record"):
        tree, _, _ = identified()
        tree.complete(result="Attention Is All You Need")
        task = tree.begin_task("extract the authors")
        tree.record_action("opened the arXiv abstract page: no full list", "success")
        tree.record_action(observed, "success")
        tree.record_action("the official PDF lists eight authors", "success")
        priorities.append(tree.priorities()[task])
    # .6 · .75 + .3 · (.5 + 3 · .75) / 4
    assert priorities == pytest.approx([0.65625, 0.65625])


def authored(**switches):
    """The second branch, with the mirror superseded by the official document."""
    tree, _, _ = identified(Constants(corroboration=1))
    summary = tree.complete(result="Attention Is All You Need")
    task = tree.begin_task("extract the authors")
    tree.record_action("opened the arXiv abstract page: no full list", "success")
    mirror = tree.record_action(
        "a mirror page: the only author is X", "success", source="mirror", slot="authors", value="X"
    )
    official = tree.record_action(
        "the official PDF lists eight authors",
        "success",
        source="arXiv",
        slot="authors",
        value="eight",
        official=True,
    )
    return tree, task, summary, mirror, official


def test_the_official_document_supersedes_the_mirror():
    tree, task, _, mirror, official = authored()
    assert tree.nodes.lifecycle[mirror] == OBSOLETE
    assert tree.nodes.by[mirror] == official
    assert tree.nodes.texts[mirror] == "a mirror page: the only author is X"  # kept for provenance
    # It lowers the priority of the branch that was right: .656 - .2 · 1/4.
    assert tree.priorities()[task] == pytest.approx(0.60625)


def test_the_final_context_holds_path_official_list_and_summary():
    tree, task, summary, mirror, official = authored()
    context = tree.context("the authors that the official PDF lists of the paper")
    assert context.path == (0, task)
    assert {summary, official} <= set(context.selected)
    assert mirror not in context.candidates
    lines = context.text.splitlines()
    assert lines[0] == "Query: Who wrote the most cited paper of 2017?"
    assert lines[1] == "Task: extract the authors"
    assert lines[-1].startswith("Summary: Objective: identify the paper")
    assert "only author is X" not in context.text


def test_everything_is_done_when_the_root_is():
    tree, *_ = authored()
    tree.complete(result="eight authors")
    assert not tree.done
    tree.complete(result="Vaswani and others")
    assert tree.done
    assert tree.active is None
