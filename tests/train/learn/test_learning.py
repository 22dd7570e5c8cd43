"""Trainings learn, keep to the legal actions, imitate, and go through stages."""

from pathlib import Path

import numpy as np
import pytest

from memenvs.policies import make
from memenvs.train.learn.environments import make_environments
from memenvs.train.learn.imitation import imitate
from memenvs.train.learn.models import build_model
from memenvs.train.learn.run import train, training_env
from memenvs.train.learn.settings import Imitation
from memenvs.train.learn.validation import Validation
from trainings import outcome, small

SLOTS = {
    "maskable-ppo": {"network": "pointer"},
    "ppo": {"network": "pointer"},
    "a2c": {"network": "pointer", "hyperparameters": {"n-steps": 16}},
    "dqn": {"hyperparameters": {"learning-starts": 64, "batch-size": 16}},
    "qr-dqn": {"hyperparameters": {"learning-starts": 64, "batch-size": 16}},
}
PRIORITIES = {
    "ppo": {"network": "scorer"},
    "a2c": {"network": "priority", "hyperparameters": {"n-steps": 16}},
    "recurrent-ppo": {},
}


@pytest.mark.parametrize("algorithm", SLOTS)
def test_no_algorithm_acts_illegally(algorithm: str, tmp_path: Path) -> None:
    train(small(algorithm=algorithm, steps=512, **SLOTS[algorithm]), tmp_path)
    _, rows = outcome(tmp_path)
    assert len(rows) == 2
    for row in rows:
        assert float(row["rollout_illegal_action"]) == 0
        assert float(row["validation_illegal_action"]) == 0


@pytest.mark.parametrize("algorithm", PRIORITIES)
def test_priorities_are_trained(algorithm: str, tmp_path: Path) -> None:
    settings = {"env": "memenvs/OdysseyDisclosed-v0", "settings": {"action": "priority"}}
    found = train(small(algorithm=algorithm, **settings, **PRIORITIES[algorithm]), tmp_path)
    assert found[0]["precision"] > 0.0


def test_the_odyssey_is_learned(tmp_path: Path) -> None:
    training = small(network="pointer", steps=6144, evaluation={"every": 2048, "materials": 1})
    assert train(training, tmp_path)[0]["share"] > 0.8


def test_imitation_makes_a_network_act_as_its_teacher() -> None:
    training = small(
        env="memenvs/Readable-v0", network="pointer", envs=16, hyperparameters={"batch-size": 64}
    )
    played = make_environments(training)
    env = training_env(training, played)
    model = build_model(training, env, 0, "cpu")
    settings = Imitation(teacher="fifo", steps=4096, rounds=2, epochs=8, batch_size=64)
    found = imitate(model, env, make("fifo", env), settings, seed=0)
    assert found["agreement"] > 0.95  # where the learner went; by chance one action in seven
    assert found["loss"] < 0.1


def test_stages_come_one_after_another(tmp_path: Path) -> None:
    seen = []
    training = small(
        env="memenvs/Hidden-v0",
        curriculum=[{"env": "memenvs/Readable-v0", "steps": 512}],
        steps=512,
    )
    train(training, tmp_path, lambda job, steps, row: seen.append(steps))
    assert max(seen) == 1024
    _, rows = outcome(tmp_path)
    assert [int(row["steps"]) for row in rows] == [256, 512, 768, 1024]


def test_validation_plays_the_same_episodes_each_time() -> None:
    training = small(env="memenvs/Hidden-v0", network="pointer")
    played = make_environments(training)
    batch, materials = played.evaluation("validation", 5)
    model = build_model(training, training_env(training, played), 0, "cpu")
    validation = Validation(batch, materials)
    first, again = validation.play(model), validation.play(model)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert len(first["precision"]) == 5
