"""The logistic comparator: what it learns, what it leaves out, and how it is kept."""

import dataclasses

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.material.files import save_materials
from memenvs.policies import make
from memenvs.policies.learned.supervised import (
    Model,
    Sample,
    feature_names,
    features,
    fit,
    useful_mass,
)
from players import SETTINGS, run


def material(name, seed, sign=1.0):
    """Half of the claims answer a query; a cue tells which, reversed by ``sign``."""
    rng = np.random.default_rng(seed)
    useful = np.arange(20) % 2 == rng.integers(2)
    claims = tuple(
        Claim(
            id=f"c{i}", cues={"tell": sign * (2.0 * u - 1.0)}, embedding=tuple(rng.normal(size=4))
        )
        for i, u in enumerate(useful)
    )
    items = tuple(
        Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in np.flatnonzero(useful)
    )
    queries = tuple(
        Query(id=f"q{i}", embedding=tuple(rng.normal(size=4))) for i in np.flatnonzero(useful)
    )
    return Material(name, claims, items, queries)


def environment(*materials, **settings):
    return MemorizationEnv(list(materials), capacity=5, strict=True, **LEVELS["1b"], **settings)


def test_it_learns_from_the_other_materials_alone():
    # Two materials say the opposite of the third: what is learned without it fails on it.
    ordinary, other, reversed_one = material("x", 0), material("y", 1), material("z", 2, sign=-1.0)
    env = environment(ordinary, other, reversed_one)
    policy = make("supervised", env)
    place = feature_names(env.layout).index("cues")
    assert policy.model("z").weights[place] > 0.1
    assert policy.model("").weights[place] < policy.model("z").weights[place]

    def play(of):
        observation, _ = env.reset(seed=0, options={"material": of})
        state, over = None, False
        while not over:
            action, state = policy.predict(observation, state)
            observation, _, over, _, info = env.step(action)
        return info["precision"]

    assert play(reversed_one) == 0.0
    first_two = make("supervised", environment(ordinary, other))
    assert first_two.model("x").weights[place] > 0.1


def test_masks_seeds_and_other_settings():
    for kind, settings in SETTINGS.items():
        env = MemorizationEnv(
            [material("x", 0), material("y", 1)], capacity=4, strict=True, **settings
        )
        policy = make("supervised", env)
        assert run(policy, env, 3) == run(make("supervised", env), env, 3), kind


def test_the_native_batch_is_played_as_single_environments_are():
    settings = {"material": [material("x", 0), material("y", 1)], "capacity": 5, **LEVELS["1b"]}
    batch = MemorizationVectorEnv(num_envs=3, **settings)
    observation, _ = batch.reset(seed=7)
    policy, state, paid = make("supervised", batch), None, []
    for _ in range(20):
        actions, state = policy.predict(observation, state)
        observation, rewards, *_ = batch.step(actions)
        paid.append(rewards.tolist())
    for i in range(3):
        env = MemorizationEnv(**settings)
        observation, _ = env.reset(seed=7 + i)
        single, state, rewards = make("supervised", env), None, []
        for _ in range(20):
            action, state = single.predict(observation, state)
            observation, reward, *_ = env.step(action)
            rewards.append(reward)
        assert rewards == [step[i] for step in paid]


def test_on_a_tier_it_is_fitted_on_the_train_split(monkeypatch):
    monkeypatch.setattr("memenvs.policies.learned.supervised.MATERIALS", 24)
    env = MemorizationEnv("readable", split="test", **LEVELS["2"], capacity=6)
    policy = make("supervised", env)
    assert set(policy._samples) == {f"readable-train-{n}" for n in range(24)}
    better = []
    for number in range(12):
        values = []
        for each in (policy, make("fifo", env)):
            observation, _ = env.reset(seed=number, options={"material": number})
            state, over = None, False
            while not over:
                action, state = each.predict(observation, state)
                observation, _, over, _, info = env.step(action)
            values.append(info["precision"])
        better.append(values[0] - values[1])
    assert np.mean(better) > 0.05


def test_the_material_that_is_played_is_not_trained_on(monkeypatch):
    monkeypatch.setattr("memenvs.policies.learned.supervised.MATERIALS", 3)
    env = MemorizationEnv("readable-train-1", capacity=6, **LEVELS["1b"])
    policy = make("supervised", env)
    assert policy.model("readable-train-1") != policy.model("")


def test_named_training_materials_and_saved_models(tmp_path):
    one = environment(material("z", 2))
    with pytest.raises(ValueError, match="'supervised' has nothing to train on beside the one"):
        make("supervised", one)
    file = tmp_path / "train.jsonl"
    save_materials([material("x", 0), material("y", 1)], file)
    policy = make(f"supervised:{file}", one)
    saved = tmp_path / "fitted.model.json"
    policy.model().save(saved)
    assert Model.load(saved) == policy.model()
    again = make(f"supervised:{saved}", one)
    assert run(again, one) == run(policy, one)
    with pytest.raises(ValueError, match="fitted on other columns"):
        make(f"supervised:{saved}", MemorizationEnv("odyssey"))
    with pytest.raises(ValueError, match="its claims have other columns than those played"):
        make("supervised:odyssey", one)
    saved.write_text("{}")
    with pytest.raises(ValueError, match=r"fitted.model.json is no model of the policy"):
        make(f"supervised:{saved}", one)


def test_a_material_of_good_claims_alone_teaches_nothing():
    policy = make("supervised:odyssey", MemorizationEnv("odyssey-composite", capacity=2))
    assert set(policy.model().weights) == {0.0}


def test_good_claims_weigh_by_the_mass_they_answer():
    # As many good claims show the one column as the other; the first answer nine times as much.
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]] * 5)
    good, mass = np.array([True, True, False, False] * 5), np.array([0.9, 0.1, 0.0, 0.0] * 5)
    weighed = fit([Sample(rows, good, mass)], ("first", "second"))
    assert weighed.weights[0] > 2 * weighed.weights[1]
    equal = fit([Sample(rows, good, np.where(good, 0.5, 0.0))], ("first", "second"))
    assert equal.weights[0] == pytest.approx(equal.weights[1])
    again = fit([Sample(rows, good, mass / 10)], ("first", "second"))  # shares matter alone
    assert again.weights == pytest.approx(weighed.weights)


def test_mass_and_features():
    base = material("x", 0)
    items = (
        Item(id="a", supports=(("c0",), ("c1", "c2")), answers=("q0", "q1")),
        Item(id="b", supports=(("c1",),), answers=("q1",)),
    )
    queries = (
        Query(id="q0", weight=3.0, embedding=(1.0,) * 4),
        Query(id="q1", embedding=(1.0,) * 4),
    )
    made = dataclasses.replace(base, items=items, queries=queries)
    assert useful_mass(made)[:4].tolist() == [1.0, 1.0, 1.0, 0.0]
    env = environment(base)
    rows = np.zeros((1, env.layout.claim.width), dtype=np.float32)
    rows[0, env.layout.index("source_credits")] = 3.0
    found = dict(zip(feature_names(env.layout), features(rows, env.layout)[0], strict=True))
    assert found["source_credits"] == pytest.approx(np.log(4.0))
    assert "age" not in found
    assert "embedding[3]" in found
