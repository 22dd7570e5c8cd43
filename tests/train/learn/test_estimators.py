"""`algorithm: estimator` through `memenvs train`: a folder with a model that can be put to work."""

import json
import zipfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch
import yaml

from commands import memenvs_cli
from memenvs import policies
from memenvs.policies.learned.estimator import WEIGHTS, Estimator
from memenvs.policies.learned.reader_estimator import ReaderEstimator
from memenvs.policies.learned.saved import read_card
from memenvs.train.learn.run import train
from trainings import SMALL, small

FITTED = {
    "env": "memenvs/Hidden-v0",
    "algorithm": "estimator",
    "steps": 1024,
    "hyperparameters": {"rounds": 2, "passes": 1.0},
}


def test_an_estimator_is_fitted_evaluated_and_put_to_work(tmp_path: Path) -> None:
    (tmp_path / "fitted.yaml").write_text(yaml.safe_dump({**SMALL, **FITTED}))
    folder = tmp_path / "run"
    result = memenvs_cli("train", str(tmp_path / "fitted.yaml"), "--out", str(folder))
    assert result.exit_code == 0, result.output
    assert f"{folder / 'best_model.zip'}: utility" in result.stdout
    card = read_card(folder / "best_model.zip")
    assert (card.kind, card.steps, card.trained_on) == ("estimator", 1024, ["hidden-train"])
    evaluation = json.loads((folder / "evaluation.json").read_text())
    assert evaluation["illegal_action"] == 0
    assert 0 < evaluation["precision"] <= 1
    env = gym.make("memenvs/Hidden-v0")
    policy = policies.load(folder, env)
    assert isinstance(policy, Estimator)
    observation, info = env.reset(seed=0)
    action, _ = policy.predict(observation, None)
    assert info["action_mask"][action]


def test_a_reading_estimator_is_fitted_evaluated_and_put_to_work(tmp_path: Path) -> None:
    changes = {"env": "memenvs/ReadLimited-v0", "algorithm": "reader-estimator"}
    found = train(small(**{**FITTED, **changes}), tmp_path / "run")
    assert found[0]["illegal_action"] == 0
    assert read_card(tmp_path / "run" / "best_model.zip").kind == "reader-estimator"
    env = gym.make("memenvs/ReadLimited-v0")
    policy = policies.load(tmp_path / "run", env)
    assert isinstance(policy, ReaderEstimator)
    observation, info = env.reset(seed=0)
    action, _ = policy.predict(observation, None)
    assert info["action_mask"][action]
    with pytest.raises(ValueError, match="'reader-estimator' does not use rewards"):
        train(small(**{**FITTED, **changes}, shaping={"wrapper": "exact"}), tmp_path / "shaped")


def test_equal_seeds_fit_equal_estimators_and_a_finished_one_stays(tmp_path: Path) -> None:
    runs = {}
    for name, seed in (("first", 0), ("again", 0), ("other", 1)):
        found = train(small(**FITTED, seed=seed), tmp_path / name)
        with zipfile.ZipFile(tmp_path / name / "best_model.zip") as archive:
            runs[name] = found, archive.read(WEIGHTS)
    assert runs["first"] == runs["again"]
    assert runs["first"][1] != runs["other"][1]
    told: list[int] = []
    training = small(**FITTED, seed=0)
    again = train(training, tmp_path / "first", lambda job, steps, row: told.append(steps))
    assert (again, told) == (runs["first"][0], [])


def test_the_estimator_of_an_estimator_pointer_acts_by_its_greedy(tmp_path: Path) -> None:
    """The one of `estimator:RUN` has the weights of that run's policy."""
    changes = {"network": "estimator-pointer", "steps": 256, "env": "memenvs/Hidden-v0"}
    train(small(**changes), tmp_path / "run")
    env = gym.make("memenvs/Hidden-v0")
    whole: Any = policies.load(tmp_path / "run", env)
    policy: Any = policies.make(f"estimator:{tmp_path / 'run'}", env)
    (own,) = policy._estimators
    trained = whole._networks[0]._policy.estimator.state_dict()
    assert trained.keys() == own.state_dict().keys()
    assert all(torch.equal(value, trained[name]) for name, value in own.state_dict().items())
    observation, info = env.reset(seed=0)
    action, _ = policy.predict(observation, None)
    assert info["action_mask"][action]


def test_a_run_without_an_estimator_is_refused(tmp_path: Path) -> None:
    train(small(network="pointer", steps=256, env="memenvs/Hidden-v0"), tmp_path / "run")
    with pytest.raises(ValueError, match="network is pointer, which has no estimator"):
        policies.make(f"estimator:{tmp_path / 'run'}", gym.make("memenvs/Hidden-v0"))
