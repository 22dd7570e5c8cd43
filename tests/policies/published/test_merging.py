"""LightMem, Mem0 and Graphiti, against sequences worked out by hand."""

import math
from dataclasses import replace

from memories import told, trace


def around(count, cosine):
    """Claims told at times 0, 1, ...: ``count`` of this cosine to the last, cosine² apart."""
    material = told(["a"] * (count + 1), times=range(count + 1))
    vectors = []
    for i in range(count):
        vector = [0.0] * 24
        vector[0], vector[i + 1] = cosine, math.sqrt(1 - cosine**2)
        vectors.append(tuple(vector))
    vectors.append((1.0, *[0.0] * 23))
    claims = zip(material.claims, vectors, strict=True)
    return replace(material, claims=tuple(replace(c, embedding=v) for c, v in claims))


def test_lightmem_drops_the_older_of_two_similar_claims():
    spots = ["a", "b", "a20", "c", "d", "a-20", "d28", "a5", "a10"]
    stored, held = trace("lightmem", told(spots, times=[0, 1, 2, 3, 4, 5, 6, 7, 0.5]), 3)
    assert held == [
        [0],
        [0, 1],
        [1, 2],  # cos 20° = .94: 0 goes
        [1, 2, 3],
        [2, 3, 4],  # full: the oldest write
        [3, 4, 5],  # 40° from 2 are too far
        [4, 5, 6],  # cos 28° = .88: 4 stays, and the oldest write goes
        [4, 6, 7],  # cos 25° = .906: 5 goes
        [4, 6, 7],  # 8 was told long before 7
    ]
    assert stored == [
        [0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [4, 6, 7], [4, 6, 7]
    ]  # fmt: skip


def test_mem0_adds_all_but_equal_texts():
    stored, held = trace("mem0", told(["a", "b", "a", "c", "d", "b", "a", "c5", "d"]), 3)
    assert stored == [
        [0],
        [0, 1],
        [0, 1],  # equal to 0
        [0, 1, 3],
        [1, 3, 4],
        [1, 3, 4],  # equal to 1
        [3, 4, 6],  # 0 is gone, and may come again
        [4, 6, 7],  # similar is not equal
        [4, 6, 7],
    ]
    assert held == stored


def test_mem0_looks_among_the_ten_nearest():
    spots = [f"a{i}" for i in range(12)]
    _, held = trace("mem0", told([*spots, "a0"]), 12)
    assert held[-1] == list(range(12))  # it is the nearest itself


def test_legacy_deletes_on_contradiction_without_adding():
    spots = ["a", "b", "a30", "c", "b10", "d", "d30", "e", "c30"]
    times = [0, 1, 2, 3, 4, 5, 5, 7, 8]
    stored, held = trace("mem0:legacy", told(spots, times=times), 3)
    assert held == [
        [0],
        [0, 1],
        [1],  # 2 contradicts 0: 0 is deleted, 2 is not added
        [1, 3],
        [1, 3],  # 4 says what 1 says
        [1, 3, 5],
        [1, 3, 6],  # of one time and source: an update of 5
        [3, 6, 7],
        [6, 7],  # 8 contradicts 3
    ]
    assert stored == [
        [0], [0, 1], [0, 1], [0, 1, 3], [0, 1, 3], [1, 3, 5], [1, 3, 6], [3, 6, 7], [3, 6, 7]
    ]  # fmt: skip


def test_legacy_deletes_all_that_is_contradicted():
    # 30° from both, which are 60° from each other: the model is shown five, not the nearest alone.
    _, held = trace("mem0:legacy", told(["a", "a60", "a30"], times=[0, 1, 2]), 3)
    assert held == [[0], [0, 1], []]


def test_graphiti_holds_the_newest_valid_fact():
    spots = ["a", "b", "a30", "c", "b30", "b30", "c", "d", "c30"]
    times = [0, 1, 2, 3, 0.5, 5, 6, 7, 3]
    stored, held = trace("graphiti", told(spots, times=times), 3)
    assert held == [
        [0],
        [0, 1],
        [1, 2],  # 2 contradicts 0 and is later
        [1, 2, 3],
        [1, 2, 3],  # 4 contradicts 1, which is later
        [2, 3, 5],  # 5 contradicts 1 and is later
        [2, 3, 5],  # 6 is the fact 3 again
        [3, 5, 7],
        [5, 7, 8],  # of one time and source with 3: no contradiction; 3 is the oldest write
    ]
    assert stored == [
        [0], [0, 1], [0, 1, 2], [1, 2, 3], [1, 2, 3], [2, 3, 5], [2, 3, 5], [3, 5, 7], [5, 7, 8]
    ]  # fmt: skip


def test_graphiti_lets_two_facts_of_one_time_stand():
    # From two sources, of one subject: a contradiction, as the judge sees it.
    settings = {"times": [0, 4, 4], "sources": ["s", "s", "t"]}
    assert trace("graphiti", told(["b", "a", "a30"], **settings), 3)[1][-1] == [0, 1, 2]
    # All of the first time: not to be told from claims without times.
    at_first = told(["b", "a", "a30"], times=[0, 0, 0], sources=["s", "s", "t"])
    assert trace("graphiti", at_first, 3)[1][-1] == [0, 2]
    without_times = told(["b", "a", "a30"], sources=["s", "s", "t"])
    assert trace("graphiti", without_times, 3)[1][-1] == [0, 2]  # the one that came first is closed


def test_lightmem_gives_up_ten_at_most():
    # Twelve, each similar at .93 to the thirteenth and at .86 to each other: of equally near ones
    # those that were written last are kept for the update.
    _, held = trace("lightmem", around(12, 0.93), 13)
    assert held[11] == list(range(12))
    assert held[12] == [0, 1, 12]


def test_lightmem_gives_up_an_older_claim_for_one_that_is_passed_over():
    # 1 is older than 2, and similar to it and to 0, which is older still.
    _, held = trace("lightmem", told(["a", "a40", "a20"], times=[0, 2, 1]), 3)
    assert held == [[0], [0, 1], [1]]


def test_legacy_shows_the_model_five():
    # Seven, each of one subject with the eighth (.89) and not with each other (.79).
    _, held = trace("mem0:legacy", around(7, 0.89), 8)
    assert held[6] == list(range(7))
    assert held[7] == [0, 1]  # the five are deleted, and the eighth is not added
