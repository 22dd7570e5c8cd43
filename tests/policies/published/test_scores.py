"""Generative Agents and MemoryBank, against sequences worked out by hand, in both variants."""

import pytest

from memories import AXES, told, trace

IMPORTANCES = [5, 1, 4, 9, 2, 8, 8.5, 10]


def test_generative_agents_add_recency_and_importance():
    stored, _ = trace("generative-agents", told(AXES[:8], importances=IMPORTANCES), 2)
    # Recency (.995 an hour, a decision each) and importance, both stretched to [0, 1]; relevance is
    # equal for all, as no query was disclosed.
    assert stored == [
        [0],
        [0, 1],
        [0, 2],  # 0: 0 + 1, 1: .499 + 0, 2: 1 + .75
        [2, 3],  # 0: 0 + .2, 2: .665 + 0, 3: 1 + 1
        [3, 4],  # 2: 0 + .286, 3: .499 + 1, 4: 1 + 0
        [3, 5],  # 3: 0 + 1, 4: .499 + 0, 5: 1 + .857
        [3, 6],  # 3: 0 + 1, 5: .665 + 0, 6: 1 + .5
        [6, 7],  # 3: 0 + .333, 6: .748 + 0, 7: 1 + 1
    ]


def test_as_coded_the_oldest_access_counts_as_the_most_recent():
    stored, _ = trace("generative-agents:as-coded", told(AXES[:8], importances=IMPORTANCES), 2)
    # .5 times .99^rank from the oldest, stretched to 1, .4975 and 0, and twice the importance.
    assert stored == [
        [0],
        [0, 1],
        [0, 2],  # 0: .5 + 2, 1: .249 + 0, 2: 0 + 1.5
        [0, 3],  # 0: .5 + .4, 2: .249 + 0, 3: 0 + 2
        [0, 3],  # 0: .5 + .857, 3: .249 + 2, 4: 0 + 0
        [3, 5],  # 0: .5 + 0, 3: .249 + 2, 5: 0 + 1.5
        [3, 6],  # 3: .5 + 2, 5: .249 + 0, 6: 0 + 1
        [3, 7],  # 3: .5 + .667, 6: .249 + 0, 7: 0 + 2
    ]


def test_as_coded_recency_falls_by_a_hundredth_with_the_rank():
    # 0: .5 + 2, 1: .249 + 0, 2: 0 + .16. Were the decay steeper, 1 would be near zero, and go.
    material = told("abc", importances=[10, 0, 0.8])
    assert trace("generative-agents:as-coded", material, 2)[0][-1] == [0, 1]


def test_generative_agents_add_relevance_to_the_disclosed_query():
    # The query is at l, and known. Recency 0, .499, 1; importance is equal throughout.
    asked = told(["l", "a", "b"])
    assert trace("generative-agents", asked, 2, disclosure="all")[0][-1] == [0, 2]  # 1, .499, 1
    # With importance 1, 0, 0 and relevance 0, .6, 1 of equal weight: 1, 1.099, 2.
    asked = told(["a", "l53.13", "l"], importances=[10, 0, 0])
    assert trace("generative-agents", asked, 2, disclosure="all")[0][-1] == [1, 2]


def test_as_coded_relevance_weighs_three():
    # 0: .5 + 0, 1: .249 + 0, 2: 0 + 3.
    asked = told(["a", "b", "l"])
    assert trace("generative-agents:as-coded", asked, 2, disclosure="all")[0][-1] == [0, 2]
    # 0: .5 + 2 + 0, 1: .249 + 0 + 3, 2: 0 + 1.5 + 1.5. Were the weights equal, 1 would go.
    asked = told(["a", "l", "l60"], importances=[10, 0, 7.5])
    assert trace("generative-agents:as-coded", asked, 2, disclosure="all")[0][-1] == [1, 2]


def test_generative_agents_keep_what_was_used():
    # Claim 0 answers the only query, which is settled after every claim: it is used again and
    # again, and all are equally important and relevant.
    material = told(AXES[:8], answering=[0])
    stored, _ = trace("generative-agents", material, 3, every=1)
    assert stored == [
        [0], [0, 1], [0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 5, 6], [0, 6, 7]
    ]  # fmt: skip


def test_generative_agents_count_hours_of_the_claims_times():
    importances = [2.6, 1, 3]  # stretched: .8, 0, 1
    # A day, and 2.4 hours ago: recency is stretched to 0 and .895, and 0 goes.
    timed = told("abc", importances=importances, times=[0, 0.9, 1.0])
    assert trace("generative-agents", timed, 2)[0][-1] == [1, 2]
    # 2400 and 1200 hours: the curve is flat by then, 0 and .002; importance .2 and 0.
    long_ago = told("abc", importances=[1.2, 1, 2], times=[0, 50, 100])
    assert trace("generative-agents", long_ago, 2)[0][-1] == [0, 2]
    # Two decisions, and one ago: 0 and .499, and 1 goes.
    assert trace("generative-agents", told("abc", importances=importances), 2)[0][-1] == [0, 2]


def test_memorybank_keeps_what_is_recalled():
    # Hours since the last recall over 1 + recalls; 0 is recalled after every claim.
    stored, _ = trace("memorybank", told(AXES[:9], answering=[0]), 3, every=1)
    assert stored == [
        [0], [0, 1], [0, 1, 2],
        [0, 2, 3],  # 0: 1/4, 1: 2/1, 2: 1/1
        [0, 3, 4], [0, 4, 5], [0, 5, 6], [0, 6, 7], [0, 7, 8],
    ]  # fmt: skip


def test_as_coded_the_stronger_memory_fades_faster():
    stored, _ = trace("memorybank:as-coded", told(AXES[:9], answering=[0]), 3, every=1)
    assert stored == [
        [0], [0, 1], [0, 1, 2],
        [1, 2, 3],  # 0: 1 · 4, 1: 2 · 1, 2: 1 · 1
        [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6, 7], [6, 7, 8],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("variant", "last"), [("memorybank", [0, 2]), ("memorybank:as-coded", [1, 2])]
)
def test_memorybank_weighs_age_against_recalls(variant, last):
    # Claim 0 answers, and is recalled by the settlement after claim 1 alone: at claim 2, a day
    # later, 0 was recalled on day 1 (strength 2), and 1 written on day 1 (strength 1).
    material = told("abc", times=[0, 1, 2], answering=[0])
    assert trace(variant, material, 2, every=2)[0][-1] == last
