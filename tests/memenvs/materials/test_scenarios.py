"""The scenarios say what they are meant to say, and a good memory is the best one."""

from pathlib import Path

import numpy as np
import pytest

import memenvs
from memenvs.materials.library import find_materials
from memenvs.materials.scenarios import SCENARIOS
from memenvs.text.encoders import embeddings

ROOT = Path(__file__).parents[3]
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def similarity(name, first, second):
    material = BY_NAME[name].material()
    vectors = embeddings(material)[0]
    ids = material.claim_ids
    return float(vectors[ids.index(first)] @ vectors[ids.index(second)])


def test_there_are_ten_registered_materials():
    assert len(BY_NAME) == 10
    for name, scenario in BY_NAME.items():
        (material,) = find_materials(f"scenario-{name}")
        assert material == scenario.material()


@pytest.mark.parametrize("name", BY_NAME)
def test_the_example_is_a_best_memory_and_good(name):
    scenario = BY_NAME[name]
    material = scenario.material()
    best = memenvs.frontier(material, "precision", [scenario.capacity])
    assert len(scenario.example) <= scenario.capacity
    assert material.precision(scenario.example) == pytest.approx(best.values[0])
    assert scenario.kept(scenario.example)
    for claim in scenario.example:
        assert not scenario.kept(set(scenario.example) - {claim})


@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_expected_names_claims(name):
    scenario = BY_NAME[name]
    ids = {told.id for told in scenario.told}
    for expected in scenario.expected:
        assert ids.issuperset(expected.claims)
        assert expected.least <= expected.most
    assert not scenario.kept(())
    false = {told.id for told in scenario.told if not told.truth}
    for claim in false:
        assert not scenario.kept({*scenario.example, claim})


def test_wordings_have_the_similarity_that_the_scenario_is_about():
    lies = [f"lie-{i}" for i in range(2, 6)]
    assert min(similarity("repeated-lie", "lie-1", lie) for lie in lies) > 0.9999
    assert similarity("duplicate", "dentist", "dentist-again") > 0.9999
    alike = {
        "contradiction": ("lisbon", "berlin"),
        "compatible": ("peanuts", "walnuts"),
        "unseen-contradiction": ("flight-old", "flight"),
        "late-old-fact": ("boris", "anna"),
    }
    for name, pair in alike.items():
        assert 0.8 < similarity(name, *pair) < 0.92, name
    assert similarity("unseen-contradiction", "diet-old", "diet") < 0.5
    assert similarity("four-passages", "museum-1", "museum-4") > 0.8


def test_facts_have_nothing_to_do_with_each_other():
    facts = BY_NAME["thirteen-wordings"].material()
    vectors = embeddings(facts)[0]
    subject = np.array([claim.id.partition("-")[0] for claim in facts.claims])
    apart = subject[:, None] != subject[None, :]
    assert len(facts.claims) == 13
    assert len(set(subject)) == 5
    assert (vectors @ vectors.T)[apart].max() < 0.5


def test_no_policy_knows_the_scenarios():
    for file in (ROOT / "policies").rglob("*.py"):
        text = file.read_text()
        assert "materials.scenarios" not in text, file
        assert "scenario-" not in text, file
