"""A-MEM and HippoRAG against sequences worked out by hand, PageRank against a linear solver."""

import numpy as np
import pytest

from memenvs.policies.published.graphs import edges, pagerank
from memories import told, trace


def test_a_mem_keeps_the_most_linked():
    spots = ["a0", "a10", "a20", "a30", "a40", "a50", "a60", "a70", "a5", "a180"]
    stored, _ = trace("a-mem", told(spots), 7)
    assert stored[:7] == [list(range(n + 1)) for n in range(7)]
    # Links so far: all among 0 to 5, and of 6 to 1..5. Degrees with 7's links to 2..6:
    # 5 for 0, 6 for 1 and 6, 7 for 2..5.
    assert stored[7] == [1, 2, 3, 4, 5, 6, 7]
    # 8 is linked to 1..5: 6 for 1 and 6, 7 for 2..5, 5 for 7.
    assert stored[8] == [1, 2, 3, 4, 5, 6, 8]
    # 9 is linked to 2..6: 6 for 1 and 6, 7 for 2..5, 5 for 8.
    assert stored[9] == [1, 2, 3, 4, 5, 6, 9]


def test_a_mem_links_to_five():
    stored, _ = trace("a-mem", told(["a0", "a10", "a20", "a30", "a40", "a50", "a26", "a60"]), 6)
    # 6 is linked to 1..5, as is 0: the older goes. Then 1 has five links, as 7 has, which is linked
    # to 2..6; with four, 7 would not have got in.
    assert stored[6:] == [[1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7]]


def test_a_mem_of_few_slots_is_first_in_first_out():
    # Each is linked to all others: of equal degrees, the oldest makes way.
    stored, _ = trace("a-mem", told(["a", "b", "c", "d", "e", "f", "g", "h"]), 3)
    assert stored[-1] == [5, 6, 7]


def test_hipporag_keeps_the_most_central():
    spots = ["a", "b", "a30", "c", "a-31", "d", "e", "a62", "a15"]
    stored, _ = trace("hipporag", told(spots), 3)
    assert stored == [
        [0],
        [0, 1],
        [0, 1, 2],
        [0, 2, 3],  # 0 and 2 are linked; of 1 and 3, both alone, the older goes
        [0, 2, 4],  # 4 is linked to 0
        [0, 2, 4],  # 5 and 6 are alone
        [0, 2, 4],
        [0, 2, 4],  # a path 4-0-2-7, and 7 hangs by the weaker edge
        [0, 2, 8],  # 8 is linked to all, 4 by the fewest and weakest edges
    ]


def test_hipporag_restarts_at_the_disclosed_query():
    # The query is at l, where 0 is; 1 and 2 are linked to each other.
    spots = ["l", "a", "a30"]
    assert trace("hipporag", told(spots), 2)[0][-1] == [1, 2]  # restarting evenly: .2, .4, .4
    assert trace("hipporag", told(spots), 2, disclosure="all")[0][-1] == [0, 2]  # 1, 0, 0


def test_edges():
    cosine = np.array([[1.0, 0.9, 0.6], [0.9, 1.0, 0.49], [0.6, 0.49, 1.0]])
    assert edges(cosine) == pytest.approx(np.array([[0, 1.9, 1], [1.9, 0, 0], [1, 0, 0]]))


def test_pagerank_solves_its_equation():
    rng = np.random.default_rng(0)
    weight = rng.random((5, 7, 7)) * (rng.random((5, 7, 7)) < 0.4)
    weight = weight + weight.swapaxes(1, 2)
    weight[0, 3] = weight[0, :, 3] = 0.0  # a node without edges
    restart = rng.random((5, 7))
    rank = pagerank(weight, restart, np.ones((5, 7), dtype=bool))
    start = restart / restart.sum(axis=1, keepdims=True)
    for b in range(5):
        strength = weight[b].sum(axis=1)
        walk = np.where(
            strength[:, None] > 0, weight[b] / np.maximum(strength, 1e-9)[:, None], start[b]
        )
        exact = np.linalg.solve(np.eye(7) - 0.5 * walk.T, 0.5 * start[b])
        assert rank[b] == pytest.approx(exact, abs=1e-10)
    assert rank.sum(axis=1) == pytest.approx(1.0)
