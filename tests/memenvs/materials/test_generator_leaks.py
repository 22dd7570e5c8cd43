"""Nothing that a claim shows beforehand tells more of its truth than the cues are meant to."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import memenvs
from leaks import differing
from memenvs.envs.memorization.reward import Account
from memenvs.material.audit import audit, audit_tier
from memenvs.materials.generator import TIERS

SMALL = [name for name in TIERS if not name.endswith(("-128", "-1000"))]
ROWS = [row for row in memenvs.registered_envs() if "generated" in row.tags]
DISCLOSED = {"credits", "debits", "source_credits", "source_debits", "outcome", "answered"}
STEPS = 24


@pytest.mark.parametrize("name", SMALL)
def test_no_classifier_beats_the_design(name):
    for finding in audit_tier(TIERS[name]):
        assert not finding.leaks, finding
        # The audit has power: the classifiers come close to all that the cues allow.
        assert finding.accuracy > finding.design_accuracy - 0.03, finding


def test_larger_sizes_are_audited_alike():
    for finding in audit_tier(TIERS["worlds-128"], training=100, held_out=80):
        assert not finding.leaks, finding


def test_the_audit_finds_a_planted_leak():
    """True claims answer no more queries, but are a little more confident."""

    def leaky(material):
        claims = tuple(
            replace(claim, confidence=min(1.0, 0.9 * claim.confidence + 0.1 * claim.truth))
            for claim in material.claims
        )
        return replace(material, claims=claims)

    tier = TIERS["hidden"]
    training = [leaky(material) for material in tier.split("train")[:150]]
    held_out = [leaky(material) for material in tier.split("validation")[:100]]
    findings = audit(training, held_out, lambda m: np.full(len(m.claims), 0.4))
    assert all(finding.leaks for finding in findings)


def play(row, material, seed):
    """Play legal actions of a test's own choice; gives observations and settled counts."""
    env = gym.make(row.id).unwrapped
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed, options={"material": material})
    seen = [(observation, 0)]
    for _ in range(STEPS):
        legal = np.flatnonzero(info["action_mask"])
        observation, _, over, _, info = env.step(int(rng.choice(legal)))
        seen.append((observation, env.episode.settled))
        if over:
            break
    return env, seen


def a_material(row):
    env = gym.make(row.id).unwrapped
    return env.materials[min(3, len(env.materials.fixed) - 1)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_other_truths_show_only_in_what_settlement_discloses(row):
    material, rng = a_material(row), np.random.default_rng(0)
    truths = rng.permutation([1.0 - claim.truth for claim in material.claims])
    other = replace(
        material,
        claims=tuple(
            replace(c, truth=float(t)) for c, t in zip(material.claims, truths, strict=True)
        ),
    )
    for seed in range(2):
        env, first = play(row, material, seed)
        _, second = play(row, other, seed)
        for (mine, settled), (theirs, _) in zip(first, second, strict=True):
            assert differing(env, mine, theirs) <= (DISCLOSED if settled else set())


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.level in ("1b", "2")], ids=lambda row: row.id
)
def test_queries_not_yet_settled_and_their_masses_do_not_show(row):
    """Change what is asked by the queries that are still to come, and who answers them."""
    material, rng = a_material(row), np.random.default_rng(1)
    env, first = play(row, material, 0)
    account = env.episode.account
    settled = set(Account(env.episode.prepared, account.objective, account.key).draw(account.drawn))
    hidden = [q for q in range(len(material.queries)) if q not in settled]
    assert hidden
    moved = dict(zip(hidden, rng.permutation(hidden).tolist(), strict=True))
    other = replace(
        material,
        queries=tuple(
            query
            if place in settled
            else replace(query, embedding=tuple(rng.normal(size=len(query.embedding)).tolist()))
            for place, query in enumerate(material.queries)
        ),
        items=tuple(
            replace(
                item,
                answers=tuple(f"q{moved.get(int(q[1:]), int(q[1:]))}" for q in item.answers),
            )
            for item in material.items
        ),
    )
    _, second = play(row, other, 0)
    for (mine, _), (theirs, _) in zip(first, second, strict=True):
        assert differing(env, mine, theirs) == set()
    # Other masses: before the first settlement nothing at all changes.
    weights = rng.permutation([query.weight for query in material.queries])
    other = replace(
        material,
        queries=tuple(
            replace(q, weight=float(w)) for q, w in zip(material.queries, weights, strict=True)
        ),
    )
    _, second = play(row, other, 0)
    for (mine, count), (theirs, _) in zip(first, second, strict=True):
        if not count:
            assert differing(env, mine, theirs) == set()
