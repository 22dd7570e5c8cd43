"""Generated materials have the structure that their parameters promise."""

import numpy as np
import pytest

from closeness import near
from memenvs import Material
from memenvs.materials.generator import TIERS
from memenvs.materials.generator.contents import ALONE
from memenvs.materials.generator.cues import COSTS

SMALL = [name for name in TIERS if not name.endswith(("-128", "-1000"))]
COUNT = 200

# Statistical tests compare a mean over materials with its expectation, at five standard errors: a
# right generator fails one with a probability under one in a million, and the seeds are fixed.


@pytest.fixture(scope="module")
def drafts():
    return {name: [TIERS[name].draft("train", i) for i in range(COUNT)] for name in SMALL}


def per_material(drafts, function):
    return np.array([value for d in drafts if not np.isnan(value := function(d))])


@pytest.mark.parametrize("name", TIERS)
def test_a_material_has_the_size_of_its_tier(name):
    size = TIERS[name].parameters.size
    material = TIERS[name].split("validation")[7]
    assert isinstance(material, Material)
    assert material.name == f"{name}-validation-7"
    assert len(material.claims) == size.claims
    assert len(material.queries) == size.topics * size.queries
    assert {len(claim.embedding) for claim in material.claims} == {size.dimension}
    assert {tuple(dict(claim.cues)) for claim in material.claims} == {("importance", "style")}
    assert len({claim.source for claim in material.claims}) <= size.sources
    times = [claim.time for claim in material.claims]
    assert times == sorted(times)
    assert len({claim.group for claim in material.claims}) == size.claims // 8
    assert {query.id for query in material.queries} >= {
        query for item in material.items for query in item.answers
    }
    assert material.precision(np.ones(size.claims, dtype=bool)) > 0


@pytest.mark.parametrize("name", SMALL)
def test_truth_follows_the_reliability_of_the_source_alone(name, drafts):
    rates = TIERS[name].parameters
    for reliable, rate in ((True, rates.honest), (False, rates.dishonest)):
        shares = per_material(
            drafts[name],
            lambda d, reliable=reliable: (
                d.truth[d.reliable[d.source] == reliable].mean()
                if (d.reliable[d.source] == reliable).any()
                else np.nan
            ),
        )
        assert near(shares, rate)


@pytest.mark.parametrize("name", SMALL)
def test_given_the_kind_of_the_source_truth_knows_nothing_of_content_place_or_cost(name, drafts):
    """What was drawn before truth has the same mean among true and false claims of a kind."""

    def properties(d):
        place = np.arange(len(d.truth))
        mass = d.contents.answers[d.content] @ d.contents.weight
        return {
            "answers": d.contents.answers.sum(axis=1)[d.content],
            "mass": mass,
            "repeated": d.repeated,
            "place": place,
            "gap": np.diff(d.time, prepend=0.0),
            "cost": d.cost,
            "confidence": d.confidence,
            "style": d.style,
            "composite": d.contents.composite[d.content] != ALONE,
        }

    residuals = {}
    for d in drafts[name]:
        rates = TIERS[name].parameters
        kind = d.reliable[d.source]
        surprise = d.truth - np.where(kind, rates.honest, rates.dishonest)
        for key, values in properties(d).items():
            centred = np.asarray(values, dtype=float) - np.mean(values)
            residuals.setdefault(key, []).append((surprise * centred).mean())
    for key, values in residuals.items():
        assert near(values, 0.0), key


@pytest.mark.parametrize("name", SMALL)
def test_costs_and_confidence_know_nothing_of_the_kind_of_the_source(name, drafts):
    for read in (lambda d: d.cost, lambda d: d.confidence):
        differences = per_material(
            drafts[name],
            lambda d, read=read: (
                np.corrcoef(read(d), d.truth)[0, 1] if 0 < d.truth.mean() < 1 else np.nan
            ),
        )
        assert near(differences, 0.0)
    costs = np.concatenate([d.cost for d in drafts[name]])
    assert (costs.min(), costs.max()) == COSTS


@pytest.mark.parametrize("name", SMALL)
def test_the_share_of_reliable_sources_is_right_and_never_nil(name, drafts):
    rates = TIERS[name].parameters
    newcomers = [d.reliable[~d.established] for d in drafts[name]]
    assert all(each.any() for each in newcomers)
    assert near([each.mean() for each in newcomers], 1 - rates.unreliable)


@pytest.mark.parametrize("name", SMALL)
def test_repetitions_come_after_what_they_repeat_at_the_stated_rate(name, drafts):
    rates = TIERS[name].parameters
    for d in drafts[name]:
        assert d.repeated.sum() == round(rates.repeats * rates.size.claims)
        first = {}
        for place, content in enumerate(d.content.tolist()):
            assert d.repeated[place] == (content in first)
            first.setdefault(content, place)


@pytest.mark.parametrize("name", SMALL)
def test_a_source_repeats_itself_and_others_agree_or_contradict_as_they_are_reliable(name, drafts):
    rates = TIERS[name].parameters
    independent, agreement = [], {True: [], False: []}
    for d in drafts[name]:
        first = {}
        for content, source, truth in zip(d.content, d.source, d.truth, strict=True):
            if content not in first:
                first[content] = (source, truth)
                continue
            said_by, said = first[content]
            independent.append(source != said_by)
            if source == said_by:
                assert truth == said  # it only repeats
            else:
                alike = d.reliable[source] == d.reliable[said_by]
                agreement[bool(alike)].append(truth == said)
    assert near(independent, rates.independent)
    agree = rates.honest * rates.honest + (1 - rates.honest) ** 2
    assert near(agreement[True], agree)
    assert near(agreement[False], 1 - agree)


def test_corrections_arrive_late():
    tier = TIERS["hidden"]
    places = {True: [], False: []}
    for i in range(COUNT):
        d = tier.draft("train", i)
        first = {}
        for place, (content, source) in enumerate(zip(d.content, d.source, strict=True)):
            if content in first:
                places[bool(source != first[content])].append(place)
            first.setdefault(content, source)
    assert np.mean(places[True]) > np.mean(places[False]) + 2


@pytest.mark.parametrize("name", SMALL)
def test_the_mass_of_topics_is_skewed(name, drafts):
    size = TIERS[name].parameters.size
    masses = np.mean(
        [
            np.sort(d.contents.weight.reshape(size.topics, size.queries).sum(axis=1))[::-1]
            for d in drafts[name]
        ],
        axis=0,
    )
    assert masses[0] > 2.5 * masses[-1]
    assert masses.sum() == pytest.approx(1)
    shared = {tuple(d.world.masses) for d in drafts[name]}
    assert (len(shared) == 1) != TIERS[name].parameters.fresh_worlds
