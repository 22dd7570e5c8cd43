"""Nothing that the agent may not know reaches an observation."""

from dataclasses import replace

import numpy as np
import pytest

from leaks import differing
from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv

SIZE, QUERIES, DIMENSION = 12, 9, 4
DISCLOSED = {"credits", "debits", "source_credits", "source_debits"}


def random_material(rng):
    def vector():
        return tuple(rng.normal(size=DIMENSION).tolist())

    claims = tuple(
        Claim(
            id=f"c{i}",
            text=f"claim {i}",
            truth=bool(rng.random() < 0.5),
            source=f"s{rng.integers(3)}",
            confidence=float(rng.random()),
            embedding=vector(),
        )
        for i in range(SIZE)
    )
    items = tuple(
        Item(
            id=f"n{i}",
            supports=(tuple(f"c{c}" for c in rng.choice(SIZE, rng.integers(1, 3), replace=False)),),
            answers=(f"q{rng.integers(QUERIES)}",),
        )
        for i in range(20)
    )
    queries = tuple(
        Query(id=f"q{i}", weight=float(rng.random() + 0.1), embedding=vector())
        for i in range(QUERIES)
    )
    return Material("random", claims, items, queries)


def with_other_truth(material, rng):
    truths = rng.permutation([1.0 - claim.truth for claim in material.claims])
    claims = tuple(replace(c, truth=bool(t)) for c, t in zip(material.claims, truths, strict=True))
    return replace(material, claims=claims)


def with_other_queries(material, rng, kept=()):
    """Change what is asked, and who answers it, for all queries but the kept ones."""
    queries = tuple(
        query
        if place in kept
        else replace(query, embedding=tuple(rng.normal(size=DIMENSION).tolist()), text="other")
        for place, query in enumerate(material.queries)
    )
    free = [f"q{place}" for place in range(QUERIES) if place not in kept]
    items = tuple(
        item if set(item.answers).isdisjoint(free) else replace(item, answers=(str(query),))
        for item, query in zip(material.items, rng.choice(free, len(material.items)), strict=True)
    )
    return replace(material, queries=queries, items=items)


def observations(material, settings, seed, steps):
    env = MemorizationEnv(material, capacity=4, **settings)
    rng = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    seen, settled = [observation], [0]
    for _ in range(steps):
        action = rng.choice(np.flatnonzero(env.action_masks()))
        observation, _, over, _, _ = env.step(int(action))
        seen.append(observation)
        settled.append(env.episode.settled)
        if over:
            break
    return env, seen, settled


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("utility", ["coverage", "precision", "end-to-end"])
@pytest.mark.parametrize("seed", range(4))
def test_truth_shows_only_in_outcomes_and_records(level, utility, seed):
    rng = np.random.default_rng(seed)
    material = random_material(rng)
    settings = {**LEVELS[level], "utility": utility}
    env, first, settled = observations(material, settings, seed, 2 * SIZE)
    _, second, _ = observations(with_other_truth(material, rng), settings, seed, 2 * SIZE)
    for mine, other, count in zip(first, second, settled, strict=True):
        allowed = {"outcome", "answered"} | DISCLOSED if count else set()
        assert differing(env, mine, other) <= allowed


@pytest.mark.parametrize("level", ["1b", "2", "static"])
@pytest.mark.parametrize("seed", range(6))
def test_queries_do_not_show_before_they_are_settled(level, seed):
    rng = np.random.default_rng(seed)
    material = random_material(rng)
    env, first, _ = observations(material, LEVELS[level], seed, SIZE - 1)
    drawn = env.episode.account.drawn
    fresh = type(env.episode.account)(env.episode.prepared, "precision", env.episode.account.key)
    kept = set(fresh.draw(drawn))
    other = with_other_queries(material, rng, kept)
    _, second, _ = observations(other, LEVELS[level], seed, SIZE - 1)
    assert len(kept) < QUERIES  # some query is still hidden
    for mine, theirs in zip(first, second, strict=True):
        assert differing(env, mine, theirs) == set()


@pytest.mark.parametrize("level", ["1b", "2", "static"])
def test_the_distribution_of_queries_is_hidden(level):
    """Before the first settlement other masses, and other answers, change nothing at all."""
    rng = np.random.default_rng(0)
    material = random_material(rng)
    weights = rng.permutation([query.weight for query in material.queries])
    other = replace(
        material,
        queries=tuple(
            replace(q, weight=float(w)) for q, w in zip(material.queries, weights, strict=True)
        ),
    )
    env, first, settled = observations(material, LEVELS[level], 0, SIZE)
    _, second, _ = observations(other, LEVELS[level], 0, SIZE)
    before = settled.count(0)
    assert before >= 2
    for mine, theirs in zip(first[:before], second[:before], strict=True):
        assert differing(env, mine, theirs) == set()
    assert not any(o["queries"][:, env.layout.index("weight", "queries")].any() for o in first)


@pytest.mark.parametrize("seed", range(4))
def test_a_stream_shows_nothing_of_later_claims(seed):
    rng = np.random.default_rng(seed)
    material = random_material(rng)
    later = SIZE // 2
    claims = list(material.claims)
    for place in range(later, SIZE):
        claims[place] = replace(
            claims[place],
            text="something else entirely, in 1999",
            source="newcomer",
            confidence=0.123,
            embedding=tuple(rng.normal(size=DIMENSION).tolist()),
        )
    other = replace(material, claims=tuple(claims))
    env, first, _ = observations(material, LEVELS["1b"], seed, later - 1)
    _, second, _ = observations(other, LEVELS["1b"], seed, later - 1)
    for mine, theirs in zip(first, second, strict=True):
        assert differing(env, mine, theirs) == set()
