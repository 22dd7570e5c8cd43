"""What each tier of generated materials has of its own."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from closeness import near
from memenvs.materials.generator import TIERS, Family, draw_world, generate
from memenvs.materials.generator.cues import importance_density, truth_filter
from memenvs.materials.generator.draft import NONE
from memenvs.text.encoders import embeddings

COUNT = 200


def test_false_claims_look_as_important_as_the_most_at_the_overclaim_rate():
    parameters = replace(TIERS["hidden"].parameters, importance_noise=1e-6)
    for overclaim, looks in ((0.75, 1.0), (-0.75, 1 / 3), (0.0, 1.0)):
        rates = replace(parameters, family=replace(parameters.family, overclaims=(overclaim,)))
        expected = abs(overclaim) + (1 - abs(overclaim)) / 3
        shares = {True: [], False: []}
        for seed in range(COUNT):
            material = generate(rates, np.random.default_rng(seed))
            for truth in shares:
                looked = [
                    abs(dict(c.cues)["importance"] - looks) < 0.1
                    for c in material.claims
                    if c.truth == truth
                ]
                shares[truth] += looked
        # Claims of one material share contents: the error of independent claims is doubled.
        for truth, rate in ((True, 1 / 3), (False, expected)):
            error = 2 * np.sqrt(rate * (1 - rate) / len(shares[truth]))
            assert abs(np.mean(shares[truth]) - rate) < 5 * error


def test_half_of_the_mass_of_composite_needs_two_or_three_claims():
    tier, masses = TIERS["composite"], []
    for i in range(COUNT):
        material = tier.split("train")[i]
        weight = {query.id: query.weight for query in material.queries}
        ways = {query.id: Counter() for query in material.queries}
        for item in material.items:
            assert not item.conflicts
            for query in item.answers:
                ways[query][len(item.supports[0])] += 1
        assert {size for way in ways.values() for size in way} <= {1, 2, 3}
        assert not any(1 in way and len(way) > 1 for way in ways.values())
        masses.append(sum(weight[q] for q, way in ways.items() if 1 not in way and way))
    assert 0.25 < np.mean(masses) < 0.5  # some queries are left without any answer
    assert not material.is_decomposable


def test_composites_have_decoys():
    """Both wholly true composites and those with a false part are common."""
    truths = []
    for i in range(50):
        material = TIERS["composite"].split("train")[i]
        truth = {claim.id: bool(claim.truth) for claim in material.claims}
        truths += [
            all(truth[c] for c in item.supports[0])
            for item in material.items
            if len(item.supports[0]) > 1
        ]
    assert 0.2 < np.mean(truths) < 0.6


def test_only_false_claims_withdraw_and_what_contradicts_lies_apart():
    tier, withdrawn, alike = TIERS["conflicting"], [], {True: [], False: []}
    for i in range(COUNT):
        d = tier.draft("train", i)
        assert not (d.withdraws[d.truth] != NONE).any()
        withdrawn.append((d.withdraws != NONE).sum())
        material = tier.split("train")[i]
        conflicts = {c for item in material.items for c in item.conflicts}
        assert conflicts == {f"c{c}" for c in np.flatnonzero(d.withdraws != NONE)}
        assert not any(material.claims[int(c[1:])].truth for c in conflicts)
        vectors = embeddings(material)[0]
        for a, b in zip(*np.triu_indices(len(d.truth), 1), strict=True):
            if d.content[a] == d.content[b]:
                alike[bool(d.truth[a] == d.truth[b])].append(vectors[a] @ vectors[b])
    assert np.mean(withdrawn) > 5
    assert np.mean(alike[True]) > np.mean(alike[False]) + 0.15
    assert not material.is_monotone


def test_similarity_shows_overlap_through_noise():
    kinds = {"content": [], "topic": [], "other": []}
    for i in range(50):
        d = TIERS["hidden"].draft("train", i)
        vectors = embeddings(TIERS["hidden"].split("train")[i])[0]
        topic = d.contents.topic[d.content]
        for a, b in zip(*np.triu_indices(len(d.truth), 1), strict=True):
            kind = "topic" if topic[a] == topic[b] else "other"
            kind = "content" if d.content[a] == d.content[b] else kind
            kinds[kind].append(vectors[a] @ vectors[b])
    medians = {kind: np.median(values) for kind, values in kinds.items()}
    assert 0.85 < medians["content"] < 0.95
    assert 0.55 < medians["topic"] < 0.75
    assert abs(medians["other"]) < 0.3
    assert np.quantile(kinds["content"], 0.1) < np.quantile(kinds["topic"], 0.95)


def test_newcomers_of_probe_speak_early_and_again():
    tier = TIERS["probe"]
    for i in range(50):
        d = tier.draft("train", i)
        opened = tier.parameters.established // 2
        assert d.established[d.source[:opened]].all()
        newcomers = np.flatnonzero(~d.established)
        assert set(d.source[opened : opened + len(newcomers)]) == set(newcomers)
        late = d.source[tier.parameters.established + len(newcomers) :]
        assert set(late) == set(newcomers)


def test_worlds_are_drawn_evenly_and_held_out_ones_differ():
    tier = TIERS["worlds"]
    worlds = [tier.draft("train", i).world for i in range(COUNT)]
    assert {w.overclaim for w in worlds} == {0.0, 0.25, 0.75}
    assert {w.direction for w in worlds} == {-1.0, 1.0}
    assert near([w.direction for w in worlds], 0.0)
    out = [tier.draft("ood", i).world for i in range(50)]
    assert {w.overclaim for w in out} == {-0.5, 0.5}
    assert {w.style_gap for w in out}.isdisjoint({w.style_gap for w in worlds})
    for w in out:
        assert np.unique(w.masses.round(9)).size == 3  # two topics share each mass


def test_the_chance_of_truth_is_calibrated():
    """Beliefs by the published densities come true as often as they say."""
    for name in ("readable", "worlds", "probe"):
        tier, beliefs, truths = TIERS[name], [], []
        for i in range(COUNT):
            d = tier.draft("train", i)
            beliefs.append(truth_filter(d.source, d.importance, d.style, tier.parameters))
            truths.append(d.truth)
        surprise = np.array(truths) - np.array(beliefs)
        assert near(surprise.mean(axis=1), 0.0)
        sure = np.array(beliefs) > np.median(beliefs)
        assert abs(surprise[sure].mean()) < 0.05


def test_densities_integrate_to_one():
    grid = np.linspace(-3, 4, 7001)
    parameters = TIERS["hidden"].parameters
    for truth in (True, False):
        for overclaim in (-0.5, 0.0, 0.75):
            density = importance_density(grid, truth, overclaim, parameters)
            assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-6)


def test_generate_draws_a_world_unless_one_is_given():
    parameters = TIERS["hidden"].parameters
    family = Family(style_gaps=(0.0,), overclaims=(0.5,))
    world = draw_world(replace(parameters, family=family), np.random.default_rng(0))
    first = generate(parameters, np.random.default_rng(1), world)
    assert first == generate(parameters, np.random.default_rng(1), world)
    assert first != generate(parameters, np.random.default_rng(1))
    assert first != generate(parameters, np.random.default_rng(2), world)
