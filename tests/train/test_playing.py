"""One play for all: batches as single episodes, every environment, one rule for seeds."""

import numpy as np
import pytest

import memenvs
from browsers import BROWSER
from memenvs.materials.odyssey import odyssey_noisy
from memenvs.policies import POLICIES, make
from memenvs.train.compare import compare
from memenvs.train.experiment import Experiment
from memenvs.train.measures import measured
from memenvs.train.places import place_of_id
from memenvs.train.play import play, play_one
from memenvs.train.setting import make_setting
from memenvs.train.studies.headroom import best_of, find_rows, headroom
from memenvs.train.units import units, units_of

FITTED = {"supervised", "estimator", "estimator-ranker", "reader-estimator"}  # tested elsewhere
SMALL = [row.id for row in memenvs.registered_envs() if not {"medium", "large"} & set(row.tags)]
LARGER = [row.id for row in memenvs.registered_envs() if {"medium", "large"} & set(row.tags)]


def marked(identifier):
    if "MiniWoB" in identifier:
        return pytest.param(identifier, marks=BROWSER)
    return pytest.param(identifier, marks=[pytest.mark.slow] if identifier in LARGER else [])


@pytest.mark.parametrize("identifier", [marked(each) for each in (*SMALL, *LARGER)])
def test_two_episodes_are_compared_in_every_environment(identifier):
    found = compare(
        Experiment.model_validate(
            {"env": identifier, "materials": 2, "episodes": 1, "policy": ["random"]}
            | {"time-limit": 0.0}
        )
    )
    assert not found.failed
    (record,) = found.summary
    assert record["illegal"] == 0
    for name in measured(found.family):
        if name in record and name != "answered":
            assert record[name] is not None


@pytest.mark.parametrize("policy", sorted(POLICIES.keys() - FITTED))
@pytest.mark.parametrize(
    "options",
    [
        {"material": ["hidden"], "materials": 3},
        {"material": ["odyssey-noisy"], "capacity": [3], "episodes": 2},
    ],
)
def test_a_batch_ends_as_single_episodes_do(policy, options):
    setting = make_setting(Experiment(**options))
    played = units(setting.instances, options.get("episodes", 1))
    batch = setting.place.batch(2)  # the last one is not full, or not of one material
    texts = setting.place.env.unwrapped.layout.limits.texts
    if (policy == "bisimulation" and len(setting.instances) == 1) or (
        policy == "longest" and not texts
    ):
        pytest.skip("it cannot play there")
    together = play(batch, make(policy, batch), played)
    single = make(policy, setting.place.env)
    for unit, ended in zip(played, together, strict=True):
        alone = play_one(setting.place.env, single, unit)
        assert str(alone.values) == str(ended.values)  # NaN is what was not measured
        np.testing.assert_array_equal(alone.memory, ended.memory)
        np.testing.assert_array_equal(alone.own, ended.own)


@pytest.mark.parametrize("identifier", ["memenvs/Poisoning-v0", "memenvs/Panels-tabs-3-v0"])
def test_batches_of_other_families_end_as_single_episodes_do(identifier):
    place = place_of_id(identifier, count=3)
    played, batch = units(place.instances, 2), place.batch(4)
    assert place.family is not None
    for name in place.family.policies:
        together = play(batch, make(name, batch), played)
        single = make(name, place.env)
        alone = [play_one(place.env, single, unit) for unit in played]
        assert [each.values for each in alone] == [each.values for each in together]


def test_a_comparison_equals_the_headroom_on_shared_seeds():
    (row,) = headroom(find_rows(["memenvs/Hidden-v0"]), split="test", count=4)
    policies = ["random", "bayes", "clairvoyant"]
    found = compare(Experiment(env="memenvs/Hidden-v0", materials=4, policy=policies))
    for record in found.summary:
        assert record["utility"] == row.cells[record["policy"]].mean
        assert record["frontier_at_capacity"] == row.cells["optimum"].mean
        assert record["intervals"]["utility"] == list(row.cells[record["policy"]].interval or ())
    (single,) = headroom(find_rows(["memenvs/OdysseyNoisy-v0"]), split="test", count=20)
    found = compare(Experiment(env="memenvs/OdysseyNoisy-v0", policy=["random"]))
    assert found.summary[0]["utility"] == single.cells["random"].mean


def test_the_best_rule_is_the_one_that_reaches_most():
    reached = {"trust": np.array([0.2, 0.4]), "fifo": np.array([0.5, 0.3])}
    assert best_of(reached) == "fifo"
    assert best_of({"trust": np.array([0.3]), "fifo": np.array([0.3])}) == "trust"


def test_the_optimum_is_of_what_is_paid():
    # Of the noisy Odyssey the best coverage of two claims is .80, and the best precision .60.
    identifier = memenvs.register_material(
        "headroom-of-coverage", odyssey_noisy, capacity=2, utility="coverage"
    )
    (row,) = headroom(find_rows([identifier]), split="test", count=2)
    assert row.cells["optimum"].mean == pytest.approx(0.80)
    (other,) = compare(Experiment(env=identifier, policy=["optimal"], episodes=2)).rows
    assert other["coverage"] == pytest.approx(0.80)
    assert other["frontier_at_capacity"] == pytest.approx(0.80)


def test_units_are_of_their_instance_and_number_alone():
    setting = make_setting(Experiment(material=["odyssey", "odyssey-noisy"]))
    first = units(setting.instances, 3, seed=5)
    assert units(setting.instances[1:], 3, seed=5) == first[3:]
    assert sorted(map(str, units_of(setting.instances, 6, seed=5))) == sorted(map(str, first))
    assert len({unit.seed for unit in first}) == 6
