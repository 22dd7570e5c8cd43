"""Windows of materials: their claims, the queries they answer, and the slots that go with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.materials.generator.tiers import TIERS
from memenvs.train.learn.windows import cut_window, cut_windows, share_of_slots


def chain(count: int) -> Material:
    """Claim i alone answers query i; i and i + 1 answer query "pair-i", of twice the mass."""
    claims = tuple(Claim(id=f"c{i}") for i in range(count))
    single = [Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(count)]
    pairs = [
        Item(
            id=f"p{i}",
            supports=((f"c{i}", f"c{i + 1}"),),
            answers=(f"pair-{i}",),
            conflicts=("c0",),
        )
        for i in range(1, count - 1)
    ]
    queries = [Query(id=f"q{i}") for i in range(count)]
    queries += [Query(id=f"pair-{i}", weight=2.0) for i in range(1, count - 1)]
    return Material("chain", claims, (*single, *pairs), tuple(queries))


def test_a_window_holds_what_lies_wholly_inside() -> None:
    window = cut_window(chain(8), 2, 5)
    assert window is not None
    assert window.claim_ids == ("c2", "c3", "c4")
    assert {query.id for query in window.queries} == {"q2", "q3", "q4", "pair-2", "pair-3"}
    assert all(item.conflicts == () for item in window.items)
    assert window.coverage(window.claim_ids) == pytest.approx(1.0)
    assert window.coverage(["c2"]) == pytest.approx(1 / 7)
    assert window.coverage(["c2", "c3"]) == pytest.approx(4 / 7)


def test_windows_without_queries_are_left_out() -> None:
    claims = (Claim(id="a"), Claim(id="b"))
    item = Item(id="n", supports=(("a", "b"),), answers=("q",))
    empty = Material("e", claims, (item,), (Query(id="q"),))
    assert cut_window(empty, 0, 1) is None
    with pytest.raises(ValueError, match="answer any query"):
        cut_windows([empty], 1, 1, 1)


@given(start=st.integers(0, 20), size=st.integers(3, 12), number=st.integers(0, 5))
def test_a_memory_in_a_window_is_worth_what_it_is_worth_in_the_whole(
    start: int, size: int, number: int
) -> None:
    whole = TIERS["composite"].split("train")[number]
    window = cut_window(whole, start, start + size)
    if window is None:
        return
    weight = {query.id: query.weight for query in whole.queries}
    share = sum(weight[q.id] for q in window.queries) / sum(weight.values())
    memory = window.claim_ids[::2]
    assert window.precision(memory) * share == pytest.approx(whole.precision(memory))


def test_windows_begin_everywhere_and_slots_are_in_proportion() -> None:
    material = chain(100)
    windows = cut_windows([material], 10, 20, stride=10)
    starts = [int(window.claim_ids[0][1:]) for window in windows]
    assert starts == list(range(0, 100, 10))
    assert all(10 <= len(window.claims) <= 20 for window in windows)
    mean = sum(len(window.claims) for window in windows) / len(windows)
    assert share_of_slots(40, [material], windows) == round(40 * mean / 100)
