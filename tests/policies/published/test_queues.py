"""MemGPT, Letta, Reflexion and MemOS, against sequences worked out by hand."""

from memories import AXES, told, trace


def newest(count, claims):
    """Stored claims of a first-in-first-out memory after each claim."""
    return [list(range(max(0, n - count + 1), n + 1)) for n in range(claims)]


def test_memgpt_flushes_the_oldest_and_keeps_three():
    stored, held = trace("memgpt", told(AXES[:10]), 6)
    assert held == [
        [0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5],
        [3, 4, 5, 6],  # 75 % would be four of six, but the last three stay
        [3, 4, 5, 6, 7],
        [3, 4, 5, 6, 7, 8],
        [6, 7, 8, 9],
    ]  # fmt: skip
    assert stored == newest(6, 10)  # what was flushed is overwritten in its order


def test_memgpt_flushes_three_quarters_of_a_long_queue():
    _, held = trace("memgpt", told([f"a{i}" for i in range(17)]), 16)
    assert held[15] == list(range(16))
    assert held[16] == [12, 13, 14, 15, 16]


def test_memgpt_rounds_the_flushed_share_down():
    _, held = trace("memgpt", told([f"a{i}" for i in range(14)]), 13)
    assert held[13] == [9, 10, 11, 12, 13]  # 75 % of 13 are 9.75


def test_memgpt_makes_room_in_a_queue_of_three():
    _, held = trace("memgpt", told(AXES[:5]), 3)
    assert held[3:] == [[1, 2, 3], [2, 3, 4]]


def test_letta_evicts_two_fifths_of_the_window():
    stored, held = trace("letta", told(AXES[:10]), 5)
    assert held == [
        [0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4],
        [2, 3, 4, 5],  # two of five are 40 %, and three are under 70 %
        [2, 3, 4, 5, 6],
        [4, 5, 6, 7],
        [4, 5, 6, 7, 8],
        [6, 7, 8, 9],
    ]  # fmt: skip
    assert stored == newest(5, 10)


def test_reflexion_holds_the_last_three():
    stored, held = trace("reflexion", told(AXES[:9]), 5)
    assert held == newest(3, 9)
    assert stored == newest(5, 9)  # what it does not read stays until it is overwritten


def test_memos_lets_the_fullest_type_make_way():
    mine, theirs = "I like it", "it is so"
    texts = [theirs, mine, theirs, mine, *[theirs] * 6]
    sources = ["s"] * 6 + ["", "s", "", "s"]  # without a source: raw files
    spots = [*AXES[:9], "h18"]
    stored, held = trace("memos", told(spots, texts=texts, sources=sources), 3)
    # Counts over caps, in thousandths: one of 1500 is .67, one of the user's 480 is 2.08.
    assert stored == [
        [0], [0, 1], [0, 1, 2],
        [0, 2, 3],  # long-term 1.33, user 4.17: its older one goes
        [2, 3, 4],  # user 2.08 is the fullest, but 3 is the newest, in working memory
        [2, 4, 5],  # long-term 2, user 2.08
        [4, 5, 6],  # long-term 2, raw files .67
        [5, 6, 7],
        [6, 7, 8],  # 1.33 both: the oldest
        [6, 8, 9],  # 9 says what 7 says, at cosine .95: merged
    ]  # fmt: skip
    assert held == stored


def test_memos_resolves_conflicts_for_the_later():
    spots = ["a", "b", "a30", "b30", "c"]
    _, held = trace("memos", told(spots, times=[0, 5, 2, 3, 6]), 5)
    assert held == [[0], [0, 1], [1, 2], [1, 2], [1, 2, 4]]  # 3 is older than 1
    # 2 is older than 1, and passed over; 0 is older still, and goes for it.
    assert trace("memos", told(["a", "a60", "a30"], times=[0, 2, 1]), 3)[1][-1] == [1]


def test_memos_spares_its_share_of_working_memory():
    # 20 of 3500 are less than one of 13 slots: the newest alone is spared. Counts over caps, in
    # thousandths, with the new long-term claim: 6 of 1500 are 4, 6 are 4, 2 of 480 are 4.17.
    texts = ["it is so"] * 11 + ["I like it"] * 2 + ["it is so"]
    sources = ["s"] * 5 + [""] * 6 + ["s"] * 3
    spots = [*AXES, "a90", "b90"]
    stored, _ = trace("memos", told(spots, texts=texts, sources=sources), 13)
    assert stored[-1] == [n for n in range(14) if n != 11]


def test_memos_counts_the_claim_on_its_way():
    # Stored are two raw files (1.33) and four long-term claims (2.67); a user's one is 2.08, and
    # with the one on its way 4.17: it makes way, though alone it were less than long-term.
    texts = ["I like it", *["it is so"] * 6, "I like it"]
    sources = ["s", "", "", *["s"] * 5]
    stored, _ = trace("memos", told(AXES[:8], texts=texts, sources=sources), 7)
    assert stored[-1] == [1, 2, 3, 4, 5, 6, 7]


def test_memos_merges_from_ninety_two_hundredths():
    # cos 24° = .914; cos 22.5° = .924. Of one time and source there are no conflicts.
    _, held = trace("memos", told(["a", "a24", "a46.5"]), 3)
    assert held == [[0], [0, 1], [0, 2]]
