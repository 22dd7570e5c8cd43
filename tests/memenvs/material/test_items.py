"""Items made of claims and of what answers each query: nothing more, and nothing is unreadable."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query
from memenvs.material.items import items_of

CLAIMS = tuple(Claim(id=f"c{n}", text=f"text {n}", truth=n % 4 != 3) for n in range(6))
SETS = st.lists(st.lists(st.sampled_from([c.id for c in CLAIMS]), min_size=1), min_size=1)


@given(st.lists(SETS, min_size=1, max_size=4))
def test_a_memory_is_worth_what_an_item_for_each_query_makes_of_it(sets):
    supports = {f"q{n}": each for n, each in enumerate(sets)}
    queries = tuple(Query(id=name) for name in supports)
    made = Material("m", CLAIMS, items_of(CLAIMS, supports), queries)
    plain = tuple(
        Item(
            id=name,
            supports=tuple({frozenset(s): tuple(dict.fromkeys(s)) for s in each}.values()),
            answers=(name,),
        )
        for name, each in supports.items()
    )
    expected = Material("m", CLAIMS, plain, queries)
    memories = (np.arange(64)[:, None] >> np.arange(6)) & 1 == 1
    for measure in ("coverage", "precision"):
        np.testing.assert_allclose(
            getattr(made, measure)(memories), getattr(expected, measure)(memories)
        )
    readable = {s[0] for item in made.items for s in item.supports if len(s) == 1}
    assert readable == {claim.id for claim in CLAIMS}


def test_questions_with_equal_supports_share_an_item():
    supports = {"a": [["c0", "c1"], ["c2"]], "b": [["c2"], ["c1", "c0", "c1"]], "c": [["c2"]]}
    items = items_of(CLAIMS, supports)
    assert [(i.id, i.supports, i.answers) for i in items[:2]] == [
        ("n-a", (("c0", "c1"), ("c2",)), ("a", "b")),
        ("n-c", (("c2",),), ("c",)),
    ]
    assert [i.supports for i in items[2:]] == [((c,),) for c in ("c0", "c1", "c3", "c4", "c5")]
