"""The policies on the estimator: fitted from settlements, saved, averaged, refused."""

import io
import zipfile
from dataclasses import asdict

import numpy as np
import pytest
import torch

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import load, make
from memenvs.policies.learned.estimator import WEIGHTS, Estimator, EstimatorRanker, _fitted
from memenvs.policies.learned.networks.fitting import fit_estimator
from memenvs.policies.learned.saved import (
    ModelCard,
    column_names,
    read_card,
    save_entries,
    write_card,
)
from memenvs.train.learn.environments import materials_of, named
from memenvs.train.play import play
from memenvs.train.units import units_of

SETTINGS = {"material": "hidden", "capacity": 6, "every": 2}


def batch(split="train", **changes):
    settings = SETTINGS | {"split": split, "num_envs": 32, "autoreset_mode": "SameStep"}
    return MemorizationVectorEnv(**(settings | changes))


def fit(seed=0, steps=6144):
    return fit_estimator(batch(), steps=steps, rounds=2, passes=6.0, hidden=24, seed=seed)


@pytest.fixture(scope="module")
def estimator():
    return fit()


@pytest.fixture
def path(estimator, tmp_path):
    return save(tmp_path, estimator)


def save(folder, estimator, seed=0):
    env, weights = batch(), io.BytesIO()
    torch.save(estimator.state_dict(), weights)
    file = folder / "best_model.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(WEIGHTS, weights.getvalue())
    told = {"settings": {}, "encoder": {}, "trained_on": ["hidden-train"], "versions": {}}
    card = ModelCard(
        kind="estimator",
        algorithm="estimator",
        network="estimator",
        columns=column_names(env.layout),
        rules=asdict(env.rules),
        seed=seed,
        steps=6144,
        **told,
    )
    write_card(file, card)
    return file


def played(build, count=96):
    env = MemorizationVectorEnv(**SETTINGS, split="validation", num_envs=32)
    instances = named(materials_of(env.materials, count))
    found = [each.values for each in play(env, build(env), units_of(instances, count))]
    assert not any(values["illegal"] for values in found)
    return np.array([values["utility"] for values in found])


@pytest.mark.parametrize("policy", [Estimator, EstimatorRanker])
def test_it_learns_from_settlements_whom_to_believe(policy, estimator):
    learned = played(lambda env: policy(env, estimator=estimator))
    chance = played(lambda env: make("reservoir", env))
    difference = learned - chance
    assert difference.mean() > 4 * difference.std() / np.sqrt(len(difference))
    assert learned.mean() > 1.3 * chance.mean()


def test_equal_seeds_fit_equal_estimators(estimator):
    first, second = (fit(seed=3, steps=512).state_dict() for _ in range(2))
    for name, weights in first.items():
        assert torch.equal(weights, second[name])
    assert not torch.equal(first["true.0.weight"], estimator.state_dict()["true.0.weight"])


def test_a_saved_estimator_plays_the_same(estimator, path):
    expected = played(lambda env: Estimator(env, estimator=estimator), 32)
    for build in (lambda env: make(f"estimator:{path}", env), lambda env: load(path, env)):
        assert played(build, 32).tolist() == expected.tolist()
    ranked = played(lambda env: make(f"estimator-ranker:{path}", env), 32)
    assert (
        ranked.tolist()
        == played(lambda env: EstimatorRanker(env, estimator=estimator), 32)[:32].tolist()
    )


def test_seeds_are_averaged(estimator, tmp_path):
    other = fit(seed=5, steps=512)
    for seed, each in enumerate((estimator, other)):
        folder = tmp_path / f"seed-{seed}"
        folder.mkdir()
        save(folder, each, seed)
    env = batch("validation")
    together = make(f"estimator:{tmp_path}", env)
    observation, _ = env.reset(seed=0)
    history = np.zeros((32, 32, env.layout.claim.width), dtype=np.float32)
    observation = observation | {"history": history}
    mean = together.judge(observation).true
    apart = [Estimator(env, estimator=each).judge(observation).true for each in (estimator, other)]
    torch.testing.assert_close(mean, (apart[0] + apart[1]) / 2)


def test_scalar_and_batch_decide_alike(estimator):
    vector = MemorizationVectorEnv(**SETTINGS, split="validation", num_envs=1)
    single = MemorizationEnv(**SETTINGS, split="validation")
    (one, state), (many, states) = (
        (Estimator(e, estimator=estimator), None) for e in (single, vector)
    )
    observation, _ = single.reset(seed=9)
    batched, _ = vector.reset(seed=9)
    for _ in range(32):
        action, state = one.predict(observation, state)
        actions, states = many.predict(batched, states)
        assert action == actions[0]
        observation, *_ = single.step(action)
        batched, *_ = vector.step(actions)


@pytest.mark.parametrize("name", ["estimator", "estimator-ranker"])
def test_by_its_name_it_fits_itself_on_the_train_split(name, monkeypatch):
    fitted = []

    def short(env, **settings):
        fitted.append((env.materials.fixed.name, env.rules))
        return fit_estimator(env, steps=256, **settings)

    monkeypatch.setattr("memenvs.policies.learned.networks.fitting.fit_estimator", short)
    _fitted.cache_clear()  # of an earlier test in this process
    env = batch("validation", capacity=3)
    policy = make(name, env)
    assert fitted == [("train", env.rules)]
    actions, _ = policy.predict(env.reset(seed=0)[0])
    assert (actions == 1).all()  # the first slot is free


def test_priorities_order_claims_by_worth():
    env = batch("validation", action="priority")
    policy = Estimator(env, estimator=fit_estimator(batch(action="priority"), steps=512, rounds=2))
    observation, _ = env.reset(seed=0)
    actions, _ = policy.predict(observation)
    assert actions.shape == (32, 1)
    history = policy._history.enter(policy._history.start(32), observation).claims
    worth = policy.judge(observation | {"history": history}).worth()[:, -1].numpy()
    assert (np.argsort(actions[:, 0]) == np.argsort(worth)).all()


def test_what_cannot_be_learned_from_is_refused():
    env = MemorizationEnv("odyssey", capacity=2)
    with pytest.raises(ValueError, match="estimator:PATH"):
        make("estimator", env)
    with pytest.raises(ValueError, match="feedback='outcome'"):
        fit_estimator(batch(feedback="outcome"), steps=64)
    with pytest.raises(ValueError, match="SameStep"):
        fit_estimator(batch(autoreset_mode="NextStep"), steps=64)


def test_a_file_without_weights_is_refused(path, tmp_path):
    other = tmp_path / "other.zip"
    save_entries(other, {}, read_card(path))
    with pytest.raises(ValueError, match=r"holds no 'estimator\.pth'"):
        make(f"estimator:{other}", batch())


@pytest.mark.parametrize(
    ("entry", "words"),
    [(b"rubbish", "is damaged"), ({"a": torch.ones(2)}, "another network"), ([1], "another net")],
)
def test_weights_that_are_none_of_ours_are_refused(path, tmp_path, entry, words):
    other, weights = tmp_path / "other.zip", io.BytesIO()
    if isinstance(entry, bytes):
        weights.write(entry)
    else:
        torch.save(entry, weights)
    save_entries(other, {WEIGHTS: weights.getvalue()}, read_card(path))
    with pytest.raises(ValueError, match=words):
        make(f"estimator:{other}", batch())
