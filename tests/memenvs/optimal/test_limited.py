"""Frontiers of objectives against all memories, each valued from the definitions."""

from __future__ import annotations

import itertools
import secrets
from dataclasses import replace

import numpy as np
import pytest

from instances import random_material
from memenvs import Material, frontier
from memenvs.materials.odyssey import odyssey_noisy
from memenvs.objective import Objective
from memenvs.optimal import exact, limited
from memenvs.text.encoders import embeddings

ODYSSEY_BEST = {1: 0.60, 2: 0.80}  # at S = 4


def worth(material, stored, objective):
    """Utility of claim ids by the definitions alone: certain truth, a reader by similarity."""
    _, items, queries = embeddings(material)
    true = {claim.id for claim in material.claims if claim.truth == 1.0}
    spanned = [
        number
        for number, item in enumerate(material.items)
        if any(set(support) <= stored for support in item.supports)
        and not set(item.conflicts) & stored
    ]
    good = {n for n in spanned if any(set(s) <= stored & true for s in material.items[n].supports)}
    kind, _, most = objective.reader.partition(":")
    cost = {claim.id: claim.cost for claim in material.claims}
    takes = [min(sum(cost[c] for c in s) for s in item.supports) for item in material.items]
    total = 0.0
    asked = [
        q.weight if objective.query in (None, n) else 0.0 for n, q in enumerate(material.queries)
    ]
    for number, query in enumerate(material.queries):
        near = sorted(spanned, key=lambda n: (-round(float(queries[number] @ items[n]), 9), n))
        limit = int(most) if kind == "similarity" else None
        if kind == "tokens":
            spent = itertools.accumulate(takes[n] for n in near)
            limit = sum(each <= int(most) for each in spent)
        read = [n for n in near[:limit] if query.id in material.items[n].answers]
        if objective.utility == "coverage":
            right = bool(read)
        elif objective.utility == "precision":
            right = any(n in good for n in read)
        else:
            right = bool(read) and read[0] in good
        total += asked[number] * right
    return total / sum(asked)


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
    material = random_material(
        rng,
        int(rng.integers(1, 7)),
        int(rng.integers(1, 7)),
        composite=float(rng.choice([0.0, 0.0, 0.6])),
        false_share=float(rng.choice([0.0, 0.3, 0.6])),
        conflicts=float(rng.choice([0.0, 0.0, 0.4])),
        costs=int(rng.choice([1, 1, 3])),
        equal_weights=bool(rng.random() < 0.5),
    )
    texts = ["sea", "ship", "wine", "oar", "isle", "king"]  # words decide what is similar
    dressed = Material(
        "drawn",
        material.claims,
        tuple(_with_text(item, " ".join(rng.choice(texts, 3))) for item in material.items),
        tuple(_with_text(query, " ".join(rng.choice(texts, 2))) for query in material.queries),
    )
    reader = str(
        rng.choice(["all", "similarity:1", "similarity:2", "similarity:3", "tokens:2", "tokens:4"])
    )
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
            if method == "exact":
                np.testing.assert_allclose(found.values, best, rtol=0, atol=1e-9, err_msg=told)
                assert found.optimal.all(), told
            assert (found.values <= best + 1e-9).all(), told
            assert (found.upper_bounds >= best - 1e-9).all(), told
            for memory, value in zip(found.memories, found.values, strict=True):
                assert worth(material, set(memory), objective) == pytest.approx(value), told
        monkeypatch.undo()


def test_frontiers_of_drawn_objectives_are_the_best_of_all_memories(monkeypatch):
    for seed in range(60):
        check(seed, monkeypatch)


@pytest.mark.slow
def test_a_search_with_fresh_seeds_finds_no_difference(monkeypatch):
    for _ in range(2000):
        check(secrets.randbits(48), monkeypatch)


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
