"""The study of what transfers part by part: all pairs, on equal materials, paired."""

from __future__ import annotations

import numpy as np

from memenvs.objective import Objective
from memenvs.train.places import place_of_id
from memenvs.train.studies.parts import FIXED, LEARNED, Setting, compared, summary


def test_all_pairs_are_measured_on_the_same_materials():
    training, test = (
        place_of_id("memenvs/ReadLimited-v0", split=split, count=12) for split in ("train", "test")
    )
    writers = {FIXED: "fifo", LEARNED: "trust"}
    rows = list(compared(Setting("tier", "similarity:1", writers, training, test), seed=0))
    names = [instance.name for instance in test.instances]
    for write in writers:
        for read in (FIXED, LEARNED):
            own = [row for row in rows if (row["write"], row["read"]) == (write, read)]
            assert [row["material"] for row in own] == names
    whole = Objective("end-to-end", "similarity:1")
    for row, instance in zip(rows[::2], test.instances, strict=False):
        assert row["all"] == whole.full_context(instance.value)
    found = summary(rows, "tier", 0)
    assert [(row["write"], row["read"]) for row in found] == [
        ("fifo", FIXED), ("fifo", LEARNED), ("trust", FIXED), ("trust", LEARNED),
    ]  # fmt: skip
    assert found[0]["gain"] is None
    for row in found[1:]:
        assert np.isclose(row["gain"], row["value"] - found[0]["value"])
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]


def test_a_material_is_left_out_where_it_is_played_itself():
    place = place_of_id("memenvs/ReadLimited-v0", split="train", count=6)
    writers = {FIXED: "trust"}
    rows = list(compared(Setting("tier", "similarity:1", writers, place, place), seed=0))
    again = list(compared(Setting("tier", "similarity:1", writers, place, place), seed=0))
    assert len(rows) == 12
    assert rows == again
