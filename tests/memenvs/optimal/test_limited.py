"""Frontiers of objectives against all memories, each valued from the definitions."""

from __future__ import annotations

import itertools
import math
import secrets
from dataclasses import replace

import numpy as np
import pytest

from instances import random_material
from memenvs import Claim, Item, Material, Query, frontier
from memenvs.materials.odyssey import odyssey_noisy
from memenvs.objective import Objective
from memenvs.optimal import exact, limited
from memenvs.text.encoders import embeddings

READERS = (
    *("all", "similarity:1", "similarity:2", "similarity:3"),
    *("tokens:2", "tokens:4", "bm25:1", "bm25:2"),
)
ODYSSEY_BEST = {1: 0.60, 2: 0.80}  # at S = 4


def worth(material, stored, objective):
    """Utility of claim ids by the definitions alone, summed over which claims are true."""
    _, items, queries = embeddings(material)
    spanned = [
        number
        for number, item in enumerate(material.items)
        if any(set(support) <= stored for support in item.supports)
        and not set(item.conflicts) & stored
    ]
    total = 0.0
    asked = [
        q.weight if objective.query in (None, n) else 0.0 for n, q in enumerate(material.queries)
    ]
    for number, query in enumerate(material.queries):
        similarity = [round(float(queries[number] @ item), 9) for item in items]
        near = sorted(spanned, key=lambda n: (-similarity[n], n))
        read = [n for n in near if n in read_of(material, near, query, objective.reader)]
        answering = [n for n in read if query.id in material.items[n].answers]
        for chance, true in truths(material):
            good = {
                n
                for n in answering
                if any(set(s) <= stored & true for s in material.items[n].supports)
            }
            if objective.utility == "coverage":
                right = bool(answering)
            elif objective.utility == "precision":
                right = bool(good)
            else:
                right = bool(answering) and answering[0] in good
            total += asked[number] * chance * right
    return total / sum(asked)


def truths(material):
    """Every set of claims that can be the true ones, with its chance."""
    open_ones = [claim for claim in material.claims if 0.0 < claim.truth < 1.0]
    sure = {claim.id for claim in material.claims if claim.truth == 1.0}
    for outcome in itertools.product((True, False), repeat=len(open_ones)):
        drawn = list(zip(open_ones, outcome, strict=True))
        chance = math.prod(c.truth if true else 1.0 - c.truth for c, true in drawn)
        yield chance, sure | {c.id for c, true in drawn if true}


def read_of(material, near, query, reader):
    """Items that a reader takes of those spanned, which come by similarity."""
    kind, _, most = reader.partition(":")
    if kind == "all":
        return near
    if kind == "similarity":
        return near[: int(most)]
    if kind == "tokens":
        cost = {claim.id: claim.cost for claim in material.claims}
        takes = [min(sum(cost[c] for c in s) for s in item.supports) for item in material.items]
        spent = itertools.accumulate(takes[n] for n in near)
        return near[: sum(each <= int(most) for each in spent)]
    index = sorted(near)
    scores = dict(
        zip(index, bm25([material.items[n].text for n in index], query.text), strict=True)
    )
    return [n for n in sorted(index, key=lambda n: (-scores[n], n)) if scores[n] > 0][: int(most)]


def bm25(texts, query):
    """Okapi BM25, k1 = 1.5 and b = .75, word by word."""
    split = [text.split() for text in texts]
    mean = sum(map(len, split)) / max(len(split), 1)
    scores = []
    for text in split:
        score = 0.0
        for word in query.split():
            containing = sum(word in other for other in split)
            rarity = math.log(1 + (len(split) - containing + 0.5) / (containing + 0.5))
            times = text.count(word)
            score += rarity * times * 2.5 / (times + 1.5 * (0.25 + 0.75 * len(text) / mean))
        scores.append(round(score, 9))
    return scores


def best_of_all(material, objective, capacities, arrived=None):
    claims = material.claims[:arrived]
    rated = [
        (sum(c.cost for c in chosen), worth(material, {c.id for c in chosen}, objective))
        for size in range(len(claims) + 1)
        for chosen in itertools.combinations(claims, size)
    ]
    return np.array([max(value for cost, value in rated if cost <= S) for S in capacities])


def draw(seed):
    rng = np.random.default_rng(seed)
    uncertain = bool(rng.random() < 0.3)
    material = random_material(
        rng,
        int(rng.integers(1, 5 if uncertain else 7)),
        int(rng.integers(1, 7)),
        composite=float(rng.choice([0.0, 0.0, 0.6])),
        false_share=float(rng.choice([0.0, 0.3, 0.6])),
        conflicts=float(rng.choice([0.0, 0.0, 0.4])),
        costs=int(rng.choice([1, 1, 3])),
        equal_weights=bool(rng.random() < 0.5),
        fractional_truth=uncertain,
    )
    texts = ["sea", "ship", "wine", "oar", "isle", "king"]  # words decide what is similar
    dressed = Material(
        "drawn",
        material.claims,
        tuple(_with_text(item, " ".join(rng.choice(texts, 3))) for item in material.items),
        tuple(_with_text(query, " ".join(rng.choice(texts, 2))) for query in material.queries),
    )
    reader = str(rng.choice(READERS))
    utility = str(rng.choice(["coverage", "precision", "end-to-end"]))
    weighted = [n for n, q in enumerate(dressed.queries) if q.weight > 0]
    query = int(rng.choice(weighted)) if rng.random() < 0.2 else None
    arrived = int(rng.integers(1, len(dressed.claims) + 1)) if rng.random() < 0.3 else None
    return dressed, Objective(utility, reader, query), arrived


def _with_text(record, text):
    return replace(record, text=text)


def check(seed, monkeypatch):
    material, objective, arrived = draw(seed)
    capacities = range(int(sum(claim.cost for claim in material.claims)) + 1)
    best = best_of_all(material, objective, capacities, arrived)
    for few in (exact.ENUMERATED, -1):
        monkeypatch.setattr(exact, "ENUMERATED", few)
        monkeypatch.setattr(limited, "ENUMERATED", few)
        for method in ("exact", "greedy"):
            found = frontier(material, objective, capacities, method, arrived=arrived)
            told = f"seed {seed}, {objective}, {method}, enumerated {few}"
            if method == "exact" and (few > 0 or provable(material, objective)):
                np.testing.assert_allclose(found.values, best, rtol=0, atol=1e-9, err_msg=told)
                assert found.optimal.all(), told
            np.testing.assert_allclose(
                found.values[found.optimal], best[found.optimal], rtol=0, atol=1e-9, err_msg=told
            )
            assert (found.values <= best + 1e-9).all(), told
            assert (found.upper_bounds >= best - 1e-9).all(), told
            for memory, value in zip(found.memories, found.values, strict=True):
                assert worth(material, set(memory), objective) == pytest.approx(value), told
        monkeypatch.undo()


def provable(material, objective):
    """Whether an integer programme says it all, where there are too many memories to compare."""
    certain = material.incidence.certain or objective.utility == "coverage"
    fixed = not objective.reader.startswith("bm25")
    return fixed and (certain or (objective.reader == "all" and objective.utility == "precision"))


def test_frontiers_of_drawn_objectives_are_the_best_of_all_memories(monkeypatch):
    for seed in range(60):
        check(seed, monkeypatch)


@pytest.mark.slow
def test_a_search_with_fresh_seeds_finds_no_difference(monkeypatch):
    for _ in range(2000):
        check(secrets.randbits(48), monkeypatch)


def test_a_false_claim_is_worth_storing_where_it_changes_what_is_rare():
    """Of two items that hold "sea" and "king" alike the first is read, until "king" is common."""
    claims = (Claim(id="c1"), Claim(id="c2", truth=0.0))
    items = (
        Item(id="n0", text="king sea king", supports=(("c1",),), answers=("other",)),
        Item(id="n1", text="sea sea king", supports=(("c1",),), answers=("asked",)),
        Item(id="n2", text="wine king king", supports=(("c2",),), answers=("other",)),
    )
    queries = (Query(id="asked", text="sea king"), Query(id="other", text="isle"))
    material = Material("rare", claims, items, queries)
    found = frontier(material, Objective("precision", "bm25:1"))
    assert found.values.tolist() == [0.0, 0.0, 0.5]
    assert found.memories[2] == ("c1", "c2")
    assert found.optimal.all()


def test_the_first_to_answer_may_be_true_by_chance():
    """c1 is nearer, and is named wherever it is stored: c2 alone is best."""
    claims = (Claim(id="c1", truth=0.5), Claim(id="c2", truth=0.9))
    items = (
        Item(id="n1", text="sea", supports=(("c1",),), answers=("q",)),
        Item(id="n2", text="sea ship", supports=(("c2",),), answers=("q",)),
    )
    material = Material("chance", claims, items, (Query(id="q", text="sea"),))
    found = frontier(material, Objective("end-to-end"))
    np.testing.assert_allclose(found.values, [0.0, 0.9, 0.9])
    assert found.optimal.all()
    assert found.memories[2] == ("c2",)


@pytest.mark.parametrize("items", [1, 2])
def test_odyssey_read_in_part(items):
    material, objective = odyssey_noisy(), Objective("precision", f"similarity:{items}")
    found = frontier(material, objective)
    best = best_of_all(material, objective, range(8))
    np.testing.assert_allclose(found.values, best, atol=1e-12)
    assert found.values[4] == pytest.approx(ODYSSEY_BEST[items])
    assert found.optimal.all()


def test_more_memory_hurts_a_reader_of_one_item():
    material, objective = odyssey_noisy(), Objective("precision", "similarity:1")
    assert objective.expected(material, ["e1", "e3", "e4", "e6"]) == pytest.approx(0.60)
    assert objective.full_context(material) == pytest.approx(0.40)


@pytest.mark.parametrize("utility", ["coverage", "precision", "end-to-end"])
@pytest.mark.parametrize("reader", ["similarity:1", "similarity:3"])
def test_neighbours_are_valued_as_by_themselves(utility, reader):
    """The array operations for materials whose claims are items, against single evaluations."""
    from memenvs.materials.generator.tiers import TIERS
    from memenvs.optimal.neighbours import Neighbours

    objective = Objective(utility, reader)
    rng = np.random.default_rng(0)
    for material in TIERS["end-to-end"].split("train")[:3]:
        n = len(material.claims)
        near = Neighbours(material, objective, np.arange(n))
        assert near._ranks is not None
        for size in (0, 1, 3, 8, 20):
            memory = np.zeros(n, dtype=bool)
            memory[rng.choice(n, size, replace=False)] = True
            now, grown = near.values(memory)
            assert now == pytest.approx(objective.expected(material, memory), abs=1e-12)
            each = memory | np.eye(n, dtype=bool)
            np.testing.assert_allclose(
                grown[~memory], objective.expected(material, each)[~memory], atol=1e-12
            )
