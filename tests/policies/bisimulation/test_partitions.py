"""The partitions against the equations computed anew, and against what is known of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimulations import ROLES, Reference, Step, Stream, blocks, play, refines, streams
from memenvs.policies.bisimulation import PAPER, RULES, TransitionMemory

SIZES = settings(max_examples=25, deadline=None)
FEW = settings(max_examples=12, deadline=None)  # each makes many partitions


@SIZES
@given(streams())
def test_the_rule_is_the_greatest_fixed_point(stream):
    found = play(TransitionMemory("action-conditioned"), stream).partition()
    assert blocks(found) == blocks(Reference(stream).fixed_point()[-1])


@SIZES
@given(streams(labels=1, actions=3))
def test_the_guarded_closure(stream):
    found = play(TransitionMemory("guarded"), stream).partition()
    assert blocks(found) == blocks(Reference(stream).fixed_point(guarded=True)[-1])


@SIZES
@given(streams())
def test_ablations_leave_out_label_or_action(stream):
    unlabelled = play(TransitionMemory("without-label"), stream).partition()
    assert blocks(unlabelled) == blocks(Reference(stream, labelled=False).fixed_point()[-1])
    marginal = play(TransitionMemory("no-action-conditioning"), stream).partition()
    assert blocks(marginal) == blocks(Reference(stream, by_action=False).fixed_point()[-1])


@SIZES
@given(streams())
def test_equation_6_never_leaves_its_start(stream):
    # d at γ is at least d at γ = 0, so every pair that it admits is united in B0 already.
    start, *rounds = (blocks(each) for each in Reference(stream).as_written())
    assert all(each == start for each in rounds)
    assert blocks(play(TransitionMemory("as-written"), stream).partition()) == start


@pytest.mark.parametrize("rule", RULES)
@FEW
@given(stream=streams(pages=12), every=st.integers(1, 3))
def test_updating_equals_rebuilding(rule, stream, every):
    steps = 0
    partitions = []

    def ask(memory):
        nonlocal steps
        steps += 1
        if steps % every == 0:
            partitions.append((steps, memory.partition()))

    play(TransitionMemory(rule), stream, ask)
    for length, partition in partitions:
        fresh = play(TransitionMemory(rule), cut(stream, length)).partition()
        assert blocks(partition) == blocks(fresh)
        assert list(partition) == list(fresh)


def cut(stream: Stream, length: int) -> Stream:
    """Keep the first steps of a stream."""
    episodes = []
    for episode in stream.episodes:
        if length > 0:
            episodes.append(episode[:length])
        length -= len(episode)
    return Stream(stream.labels, episodes)


@FEW
@given(streams(labels=1))
def test_each_round_refines_the_one_before_where_nothing_has_to_be_placed(stream):
    # Every page is left, so that no placement moves between the rounds. (Guarded rounds need not
    # refine: a pair that is far apart may keep two blocks separate in one round and not the next.)
    rule = "action-conditioned"
    met = Reference(stream)
    left = [[Step(page, 0, ROLES[page % 3])] for page in met.pages if not met.tried[page]]
    whole = Stream(stream.labels, stream.episodes + left)
    found = [
        blocks(play(TransitionMemory(rule, replace(PAPER, rounds=k)), whole).partition())
        for k in range(5)
    ]
    assert all(refines(fine, coarse) for coarse, fine in pairwise(found))


@FEW
@given(streams(labels=1))
def test_each_round_refines_the_one_before_where_placements_are_held(stream):
    reference = Reference(stream)
    idle = {page: ("held", page % 2) for page in reference.pages if not reference.tried[page]}
    roles = {role: role for role in ROLES}
    before = reference.closed(None)
    for _ in range(5):
        after = reference.closed(before | idle | roles)
        assert refines(blocks(after), blocks(before))
        before = after


@st.composite
def processes(draw):
    """A labelled decision process with a known bisimulation: blocks of equal copies.

    Every copy of a block answers an action with the same counts over blocks, spread evenly over
    their copies; a number for each page says which block it is a copy of.
    """
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    copies, pages = [], 0
    for size in sizes:
        copies.append(list(range(pages, pages + size)))
        pages += size
    labels = [draw(st.integers(0, 1)) for _ in sizes]
    episodes = []
    for own in copies:
        for action in range(2):
            targets = draw(
                st.lists(st.sampled_from([*range(len(sizes)), *ROLES]), min_size=1, max_size=3)
            )
            for page in own:
                for target in targets:
                    episodes += spread(page, action, target, copies)
    block_of = {page: block for block, own in enumerate(copies) for page in own}
    return Stream([labels[block_of[page]] for page in range(pages)], episodes), block_of


def spread(page, action, target, copies):
    """Six episodes of one step, so that blocks of one, two and three copies are hit evenly."""
    if isinstance(target, str):
        return [[Step(page, action, target)]] * 6
    own = copies[target]
    return [[Step(page, action, own[i % len(own)])] for i in range(6)]


def coarsest(reference: Reference) -> set[frozenset[int]]:
    """Split by label and outcomes, then by where each action lands, until nothing splits."""
    block = {role: role for role in ROLES}
    for page in reference.pages:
        profile = [tuple(reference.outcomes(page, a)) for a in sorted(reference.tried[page])]
        block[page] = (reference.label[page], tuple(profile))
    while True:
        finer = {role: role for role in ROLES}
        for page in reference.pages:
            landing = [
                frozenset(reference.landing(page, a, block).items())
                for a in sorted(reference.tried[page])
            ]
            finer[page] = (block[page], tuple(landing))
        if len(set(finer.values())) == len(set(block.values())):
            return blocks(block)
        block = {key: hash_free(value, finer) for key, value in finer.items()}


def hash_free(value, partition):
    """Number a block, so that names do not grow from round to round."""
    return list(dict.fromkeys(partition.values())).index(value)


@SIZES
@given(processes())
def test_at_a_threshold_of_nothing_it_is_the_coarsest_bisimulation(process):
    stream, block_of = process
    exact = replace(PAPER, threshold=0.0, rounds=30)
    found = blocks(play(TransitionMemory(constants=exact), stream).partition())
    assert found == coarsest(Reference(stream))
    assert refines(blocks(block_of), found)  # the copies are one: the bisimulation is known


def test_it_is_not_the_coarsest_bisimulation_of_all():
    # t → s and s → s are bisimilar, but leaving t is progress and staying at s is none.
    stream = Stream([0, 0], [[Step(0, 0, 1), Step(1, 0, 1)]])
    found = play(TransitionMemory(constants=replace(PAPER, threshold=0.0)), stream).partition()
    assert found == {0: 0, 1: 1}


def test_the_plain_closure_chains_and_the_guarded_one_does_not():
    submit, help_ = 0, 1
    episodes = [
        [Step(0, submit, "success")],
        [Step(0, help_, 0)],
        [Step(1, help_, 1)],
        [Step(2, submit, "failure")],
        [Step(2, help_, 2)],
    ]
    stream = Stream([0, 0, 0], episodes)
    assert Reference(stream).distance(0, 2, None) == Fraction(2, 3)
    assert set(play(TransitionMemory("action-conditioned"), stream).partition().values()) == {0}
    guarded = play(TransitionMemory("guarded"), stream).partition()
    assert guarded[0] != guarded[2]


def trio(rule: str, way_back: bool) -> dict[int, int]:
    """Figure 2 of the paper: three tabs, of which only the third page holds the link.

    The pages differ in one word of filler, and carry one label, so that the rule alone can tell
    them apart. A click on a tab opens its page; the tab that is open stays.
    """
    memory = TransitionMemory(rule)
    pages = [frozenset({101, 102, 103, 200 + page}) for page in range(3)]
    clicks = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    if way_back:
        clicks += [(1, 0), (2, 0), (2, 1)]
    for page, tab in clicks:
        memory.begin(page, 7, pages[page])
        memory.record(page, tab, tab, 7, 0.0, False, next_elements=pages[tab])
    memory.record(2, 9, 0, 0, 1.0, True)
    return memory.partition()


def test_the_rule_separates_the_trio_that_is_one_to_the_eye():
    # Each opens the next for good: the same click is progress on one page and none on another.
    assert trio("action-conditioned", way_back=False) == {0: 0, 1: 1, 2: 2}
    assert trio("observation", way_back=False) == {0: 0, 1: 0, 2: 0}


def test_tabs_that_answer_every_shared_click_alike_are_one_page():
    assert trio("action-conditioned", way_back=True) == {0: 0, 1: 0, 2: 0}
