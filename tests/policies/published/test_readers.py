"""How the memories in use read, against cases worked out by hand; what holds for every reader."""

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query
from memenvs.materials.library import find_materials
from memenvs.policies.published import TODAY
from memenvs.policies.published.readers import (
    Links,
    Paging,
    PersonalisedPageRank,
    RecencyImportanceRelevance,
    reader_for,
)
from memenvs.reading.utility import SimilarityReader
from memories import vector


def material(spots, asked="a", times=None, importances=None):
    """An item for each claim, all of which answer one query at ``asked``."""
    return Material(
        "read",
        tuple(
            Claim(
                id=f"c{i}",
                time=None if times is None else times[i],
                cues={} if importances is None else {"importance": importances[i]},
                embedding=tuple(vector(spot)),
            )
            for i, spot in enumerate(spots)
        ),
        tuple(
            Item(id=f"n{i}", supports=((f"c{i}",),), answers=("q",), embedding=tuple(vector(spot)))
            for i, spot in enumerate(spots)
        ),
        (Query(id="q", embedding=tuple(vector(asked))),),
    )


def read(reader, of, spanned=None):
    """Give the items that a reader retrieves for the only query."""
    items = np.ones(len(of.items), dtype=bool) if spanned is None else spanned
    return np.flatnonzero(reader(of, items)[0]).tolist()


def test_recency_importance_and_relevance_are_added():
    # Days 0, 9, 10: recency 0, .87, 1 after stretching; importance 1, 0, .5; relevance 1, .5, 0.
    of = material(["a", "a60", "a90"], times=[0, 9, 10], importances=[3, 1, 2])
    assert read(RecencyImportanceRelevance(1), of) == [0]  # 2, 1.2 to 1.4, 1.5
    assert read(RecencyImportanceRelevance(2), of) == [0, 2]
    # As coded 0 is also the most recent: .5 + 2 + 3, .25 + 0 + 1.5, 0 + 1 + 0.
    assert read(RecencyImportanceRelevance(2, as_coded=True), of) == [0, 1]


def test_paging_reads_the_page_of_the_most_similar_item():
    of = material(["b", "c", "d", "a", "e", "f", "g"])
    assert read(Paging(3), of) == [3, 4, 5]
    spanned = np.array([1, 0, 0, 1, 1, 1, 1], dtype=bool)
    assert read(Paging(3), of, spanned) == [0, 3, 4]  # pages are of what is spanned
    assert read(Paging(3), material(["b", "c", "d", "e", "f", "g", "a"])) == [6]  # the last page


def test_pagerank_reads_what_is_linked_to_the_similar():
    # 1 is linked to 0 (cos 25° = .91), which the query finds; 2 is hardly more similar to it.
    of = material(["a80", "a105", "b"], asked="a")
    assert read(PersonalisedPageRank(2), of) == [0, 1]
    assert read(SimilarityReader(2), of) == [0, 2]


def of_claims(supports, spots, **told):
    """Items at these spots, each with one support of several claims."""
    count = 1 + max(map(max, supports))
    base = material(["a"] * count, **told)
    items = tuple(
        Item(
            id=f"n{i}",
            supports=(tuple(f"c{n}" for n in claims),),
            answers=("q",),
            embedding=tuple(vector(spot)),
        )
        for i, (claims, spot) in enumerate(zip(supports, spots, strict=True))
    )
    return Material("several", base.claims, items, base.queries)


def test_an_item_of_several_claims_is_as_recent_as_the_latest():
    of = of_claims([(0, 1), (2,)], "aa", times=[0, 10, 5])
    assert read(RecencyImportanceRelevance(1), of) == [0]
    of = of_claims([(2,), (0, 1)], "aa", times=[0, 10, 5])
    assert read(RecencyImportanceRelevance(1), of) == [1]


def test_an_item_of_several_claims_is_as_important_as_they_are_on_average():
    of = of_claims([(0, 1), (2,)], "aa", times=[0, 0, 0], importances=[0, 4, 3])
    assert read(RecencyImportanceRelevance(1), of) == [1]  # 2 and 3
    of = of_claims([(2,), (0, 1)], "aa", times=[0, 0, 0], importances=[2, 4, 2.5])
    assert read(RecencyImportanceRelevance(1), of) == [1]  # 2.5 and 3


def test_an_item_of_several_claims_is_paged_by_the_last():
    supports = [(0, 3), (1,), (2,)]  # in order: 1, 2, and 0 on the second page
    assert read(Paging(2), of_claims(supports, "abc")) == [0]
    assert read(Paging(2), of_claims(supports, "bac")) == [1, 2]


def test_what_is_linked_to_the_more_similar_comes_first():
    # The query at 44° finds 6 (at 0°) and then 5 (at 90°); 0 to 4 are linked to 5, and 7 to 11,
    # which are less similar to the query, to 6.
    near = ["a91", "a92", "a93", "a94", "a95", "a90"]
    far = ["a0", "a-10", "a-11", "a-12", "a-13", "a-14"]
    assert read(Links(4), material([*near, *far], asked="a44")) == [5, 6, 7, 8]


def test_links_follow_the_most_similar():
    # Half of two is the nearest, 0; its five nearest come next, the most similar to it first taken
    # in the order of the query's similarity; 6 has nothing to do with it.
    spots = ["a10", "a100", "a101", "a102", "a103", "a104", "b"]
    of = material(spots, asked="a")
    assert read(Links(2), of) == [0, 1]
    assert read(SimilarityReader(2), of) == [0, 6]


@pytest.mark.parametrize("name", [*TODAY, "fifo"])
def test_what_is_read_is_spanned_and_at_most_k(name):
    (of,) = find_materials("composite", "train", 1)
    memory = np.random.default_rng(0).random((4, len(of.claims))) < 0.6
    for k in (1, 3, 1000):
        reader = reader_for(name, k)
        retrieved = reader(of, of.span(memory))
        assert not (retrieved & ~of.span(memory)[:, None]).any()
        assert retrieved.sum(axis=-1).max() <= k
        limited = np.asarray(of.read_limited_coverage(memory, reader))
        assert (limited <= np.asarray(of.coverage(memory)) + 1e-12).all()
        if k == 1000:
            assert limited == pytest.approx(np.asarray(of.coverage(memory)))


def test_names():
    assert isinstance(reader_for("mem0:legacy"), SimilarityReader)
    assert reader_for("generative-agents:as-coded") == RecencyImportanceRelevance(as_coded=True)
    assert reader_for("letta", 4) == Paging(4)
    with pytest.raises(ValueError, match="k is 0; give 1 or more"):
        reader_for("a-mem", 0)
