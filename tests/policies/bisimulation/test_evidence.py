"""Pooled evidence, the decision, and the other merge rules, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memenvs.policies.bisimulation import PAPER, UNKNOWN, TransitionMemory, detour, find_rule

LINK, TAB, HELP = 1, 2, 3


def finished(rule: str = "identity") -> TransitionMemory:
    """Page 10 was left for page 11 by TAB twice; LINK there succeeded once and failed once."""
    memory = TransitionMemory(rule)
    for reward in (1.0, -1.0):
        memory.begin(10, 0)
        memory.record(10, TAB, 11, 0, 0.0, False)
        memory.record(11, LINK, 0, 0, reward, True)
    return memory


def test_evidence_is_equation_7():
    memory = finished()
    memory.begin(10, 0)
    memory.record(10, TAB, 10, 0, 0.0, False)
    # V(11) = 0, V(10) = 0; TAB: twice progress, once a self-loop; LINK: ±1, and progress or -1.
    values, total, counts = memory.evidence(10, [TAB, LINK, HELP, UNKNOWN])
    assert values.tolist() == pytest.approx([(0.2 - 0.1) / (2 + 3), 0, 0, 0])
    assert (total, counts.tolist()) == (3, [3, 0, 0, 0])
    values, total, counts = memory.evidence(11, [LINK])
    assert values.tolist() == pytest.approx([(1 + 0.1 - 1 - 0.1) / (2 + 2)])
    assert (total, counts.tolist()) == (2, [2])


def test_on_a_single_path_only_the_last_step_has_an_advantage():
    memory = TransitionMemory("identity", replace(PAPER, dense=0.0, prior=0.0))
    memory.begin(1, 0)
    memory.record(1, TAB, 2, 0, 0.0, False)
    memory.record(2, LINK, 0, 0, 1.0, True)
    assert memory.evidence(1, [TAB]).values.tolist() == pytest.approx([0.0])
    assert memory.evidence(2, [LINK]).values.tolist() == pytest.approx([0.2])


def test_evidence_is_pooled_over_the_block():
    memory = TransitionMemory()
    for page in (20, 21, 22):
        memory.begin(page, 0)
        memory.record(page, LINK, 0, 0, 1.0, True)
    memory.begin(30, 0)  # a first page: placed with its counterparts
    values, total, _ = memory.evidence(30, [LINK])
    assert memory.partition() == {20: 0, 21: 0, 22: 0, 30: 0}
    assert values.tolist() == pytest.approx([3 * (1 - 0.8 + 0.1) / (2 + 3)])
    assert total == 3


def test_the_first_choice_stands_unless_evidence_outweighs_its_place():
    memory = TransitionMemory()
    memory.begin(1, 0)
    assert memory.rerank(1, [TAB, LINK]) == 0  # silent
    memory.record(1, LINK, 0, 0, 1.0, True)  # q = 0.3 / 3 = 0.1
    assert memory.rerank(1, [TAB, LINK]) == 1
    assert memory.rerank(1, [TAB, *[HELP] * 5, LINK]) == 6
    assert memory.rerank(1, [TAB, *[HELP] * 6, LINK]) == 0  # seven places cost 0.105
    assert memory.rerank(1, [LINK, LINK]) == 0


def test_recorded_failures_make_the_memory_leave_the_first_choice():
    memory = TransitionMemory()
    memory.begin(1, 0)
    for _ in range(3):
        memory.record(1, TAB, 1, 0, 0.0, False)
    assert memory.rerank(1, [TAB, HELP]) == 1


def test_an_unreached_page_joins_where_its_action_mostly_led():
    memory = TransitionMemory()
    for page, tab, reached in ((1, TAB, 5), (2, TAB, 6), (3, HELP, 7)):
        memory.begin(page, 0)
        memory.record(page, tab, reached, 1, 0.0, False)
        memory.record(reached, LINK if tab == TAB else HELP, 0, 0, 1.0, True)
    memory.begin(9, 0)
    memory.record(9, TAB, 40, 1, 0.0, False)
    found = memory.partition()
    assert found[1] == found[2] == found[9] != found[3]
    assert found[40] == found[5] == found[6] != found[7]
    memory.record(9, HELP, 41, 2, 0.0, False)
    assert memory.partition()[41] not in {found[7], found[5]}  # another label


def test_a_first_page_joins_where_most_episodes_began():
    memory = TransitionMemory()
    for page, reward in ((1, 1.0), (2, -1.0)):
        memory.begin(page, 0)
        memory.record(page, LINK, 0, 0, reward, True)
    memory.begin(9, 0)
    assert memory.partition() == {1: 0, 2: 1, 9: 0}  # a tie: the oldest block
    memory.begin(2, 0)
    assert memory.partition() == {1: 0, 2: 1, 9: 1}


def test_observation_merges_pages_that_share_half_their_elements():
    memory = TransitionMemory("observation")
    memory.begin(1, 0, frozenset({1, 2, 3}))
    memory.begin(2, 0, frozenset({1, 2, 3, 4, 5, 6}))  # 3 of 6
    memory.begin(3, 0, frozenset({4, 5, 7}))  # 2 of 7
    memory.begin(4, 1, frozenset({1, 2, 3}))  # another label
    assert memory.partition() == {1: 0, 2: 0, 3: 1, 4: 2}
    memory.begin(5, 0, frozenset({1, 4, 5, 6, 7}))  # like 2, and like 3: a bridge
    assert memory.partition() == {1: 0, 2: 0, 3: 0, 4: 1, 5: 0}
    assert memory.collapse_ratio() == 2.5


def test_occupancies_merge_whatever_the_action():
    memory = TransitionMemory("successor-representation")
    for page, action, reward in ((1, TAB, 1.0), (2, LINK, 1.0), (3, TAB, -1.0)):
        memory.begin(page, 0)
        memory.record(page, action, 0, 0, reward, True)
    memory.begin(4, 0)
    memory.record(4, TAB, 1, 0, 0.0, False)
    # Pages 1 and 2: .2 of their own label, .8 success; page 4: .36 and .64, so .16 apart.
    assert memory.partition() == {1: 0, 2: 0, 3: 1, 4: 2}
    wider = TransitionMemory("successor-representation", replace(PAPER, occupancy=0.16))
    for page in (1, 4):
        wider.begin(page, 0)
    wider.record(1, TAB, 0, 0, 1.0, True)
    wider.record(4, TAB, 1, 0, 0.0, False)
    assert wider.partition() == {1: 0, 4: 0}


def test_actions_named_by_element_never_meet():
    # Under names that change with the episode no two pages share an action: the identity.
    found = {}
    for fresh in (False, True):
        memory = TransitionMemory()
        for page in range(4):
            memory.begin(page, 0)
            memory.record(page, 100 + page if fresh else LINK, 0, 0, 1.0, True)
        found[fresh] = memory.collapse_ratio()
    assert found == {False: 4.0, True: 1.0}


def test_without_the_label_a_menu_and_what_it_opens_into_are_one():
    # A closed menu and an open one afford the same toggle and follow each other under it.
    toggle = 4
    for rule, blocks in (("action-conditioned", 2), ("without-label", 1)):
        memory = TransitionMemory(rule)
        memory.begin(1, label=0)
        for _ in range(3):
            memory.record(1, toggle, 2, 1, 0.0, False)
            memory.record(2, toggle, 1, 0, 0.0, False)
        assert len(set(memory.partition().values())) == blocks


def test_detours_depend_on_seed_and_step_alone():
    drawn = [detour(seed, step, 4, 0.35) for seed in range(100) for step in range(8)]
    assert drawn == [detour(seed, step, 4, 0.35) for seed in range(100) for step in range(8)]
    share = np.bincount(drawn, minlength=4) / len(drawn)
    np.testing.assert_allclose(share, [0.65, *[0.35 / 3] * 3], atol=0.05)
    assert {detour(seed, 0, 1, 1.0) for seed in range(20)} == {0}
    assert 0 not in {detour(seed, 0, 3, 1.0) for seed in range(20)}


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="choose from action-conditioned"):
        find_rule("similarity")


@pytest.mark.parametrize(("name", "value"), [("discount", 1.0), ("discount", -0.1), ("rounds", -1)])
def test_constants_under_which_nothing_ends_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}={value}"):
        replace(PAPER, **{name: value})
