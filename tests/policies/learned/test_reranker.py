"""A reader that learns from settlements: what it is told, and what it reads after it."""

from __future__ import annotations

import numpy as np

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies.learned.reranker import Memory, Reranker, _settled
from memenvs.reading.utility import SimilarityReader, end_to_end

# Cosines to the query (1, 0): .9 the lie, .8 the truth, .6 what does not answer, .5 another truth.
COSINES = {"lie": 0.9, "truth": 0.8, "idle": 0.95, "late": 0.5}


def rng():
    return np.random.default_rng(3)


def material(name, *ids):
    claims = tuple(
        Claim(
            id=id,
            truth=id != "lie",
            source="liar" if id == "lie" else "friend",
            embedding=(COSINES[id], (1 - COSINES[id] ** 2) ** 0.5),
        )
        for id in ids
    )
    items = tuple(
        Item(id=f"n-{id}", supports=((id,),), answers=() if id == "idle" else ("q",)) for id in ids
    )
    return Material(name, claims, items, (Query(id="q", embedding=(1.0, 0.0)),))


def memory(name, *ids):
    """Everything is stored; the liar has three debits, friends one credit."""
    made = material(name, *ids)
    layout = MemorizationEnv(made).layout
    rows = np.zeros((len(ids), layout.claim.width), dtype=np.float32)
    for row, id in zip(rows, ids, strict=True):
        lies = id == "lie"
        row[layout.index("source_debits", "claim")] = 3.0 * lies
        row[layout.index("source_credits", "claim")] = 1.0 * (not lies)
    return Memory(made, np.arange(len(ids)), rows, layout)


def test_settlements_tell_of_named_items_and_of_what_is_above_them():
    """Two of four are read: the lie and the late truth are named unless a better answer is read."""
    generator, here = rng(), memory("m", "late", "truth", "idle", "lie")
    told = [_settled(here, 2, generator) for _ in range(20)]
    rows, right, mass = (np.concatenate(part) for part in zip(*told, strict=True))
    seen = {(round(float(row[0]), 2), bool(value)) for row, value in zip(rows, right, strict=True)}
    assert seen == {(0.95, False), (0.9, False), (0.8, True), (0.5, True)}
    assert set(mass) == {1.0}
    # Of two truths the better is named, and of what ranks below it nothing is told.
    rows, right, _ = _settled(memory("m", "late", "truth"), 2, np.random.default_rng(0))
    assert {round(float(row[0]), 2) for row in rows} == {0.8}
    assert right.all()


def test_it_reads_what_settlements_on_other_materials_recommend():
    others = [memory("a", "lie", "late"), memory("b", "truth"), memory("c", "late")]
    plain, here = SimilarityReader(1), memory("d", "lie", "truth")
    reader = Reranker.fit(others, 1, rng()).reader(here)
    assert end_to_end(here.material, here.stored, plain) == 0.0
    assert end_to_end(here.material, here.stored, reader) == 1.0
    spanned = here.material.incidence.span(here.stored)
    assert reader(here.material, spanned).sum() == 1


def test_it_reads_no_more_than_k_of_what_is_there():
    here = memory("d", "lie", "truth", "late")
    others = [memory("a", "lie"), memory("b", "truth")]
    for k in (1, 2, 5):
        reader = Reranker.fit(others, k, rng()).reader(here)
        spanned = here.material.incidence.span(here.stored)
        read = reader(here.material, spanned)
        assert read.shape == (1, 3)
        assert read.sum() == min(k, 3)
        assert not reader(here.material, np.zeros_like(spanned)).any()
