"""Every registered environment is trained in by one path, and so is one that a user registered."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import sb3_contrib
import stable_baselines3

import memenvs
from browsers import BROWSER
from memenvs.policies.learned.models import find_models
from memenvs.train.compare import compare
from memenvs.train.experiment import Experiment
from memenvs.train.learn.run import train
from memenvs.train.learn.settings import Training, validate_training
from memenvs.train.vec_env import make_vec_env
from own_envs import LENGTH, SIDE, register_own
from trainings import outcome, same, small

TINY: dict[str, Any] = {
    "steps": 64,
    "envs": 4,
    "hyperparameters": {"n-steps": 16, "batch-size": 32, "n-epochs": 1},
    "evaluation": {"every": 64, "materials": 1, "final": 1},
}
# One of a kind is trained in by default; with `-m slow` all of them.
QUICK = (
    "Odyssey",
    "KnownQueries",
    "SingleQuery",
    "EndToEnd",
    "ScenarioBuried",
    "Poisoning",
    "PoisoningPriced",
    "Panels-tabs-3",
    "MiniWoB-click-tab-2",
)


def _marks(row: Any) -> list[Any]:
    marks = list(BROWSER) if "browser" in row.tags else []
    quick = row.id.removeprefix("memenvs/").removesuffix("-v0") in QUICK
    return marks if quick else [*marks, pytest.mark.slow]


ROWS = [pytest.param(row, id=row.id, marks=_marks(row)) for row in memenvs.registered_envs()]


def tiny(**changes: Any) -> Training:
    return validate_training({**TINY, **changes}, "")


@pytest.mark.parametrize("row", ROWS)
def test_every_registered_environment_is_trained_in(row: Any, tmp_path: Path) -> None:
    (found,) = train(tiny(env=row.id), tmp_path)
    assert found["illegal_action"] == 0
    family = gym.make(row.id).unwrapped.family  # type: ignore[attr-defined]
    assert {*family.finals, family.score} <= found.keys()
    _, (metrics,) = outcome(tmp_path)
    assert int(metrics["steps"]) == 64
    (model,) = find_models(tmp_path)
    assert model.card.algorithm == "maskable-ppo"
    assert model.card.trained_on
    assert ("capacity" in model.card.rules) == (family.name == "memorization")


ALGORITHMS: dict[str, list[tuple[str, Any]]] = {
    "Corridor": [
        ("maskable-ppo", sb3_contrib.MaskablePPO),
        ("ppo", stable_baselines3.PPO),
        ("dqn", stable_baselines3.DQN),
        ("recurrent-ppo", sb3_contrib.RecurrentPPO),
    ],
    "MaskInInfo": [("maskable-ppo", sb3_contrib.MaskablePPO)],
    "MaskByMethod": [("maskable-ppo", sb3_contrib.MaskablePPO)],
    "MaskInObservation": [
        ("maskable-ppo", sb3_contrib.MaskablePPO),
        ("dqn", stable_baselines3.DQN),
    ],
    "Continuous": [("ppo", stable_baselines3.PPO), ("a2c", stable_baselines3.A2C)],
}
CASES = [(name, *each) for name, found in ALGORITHMS.items() for each in found]
OF_DQN = {"learning-starts": 16, "batch-size": 8, "buffer-size": 64}


@pytest.mark.parametrize(("name", "algorithm", "built"), CASES)
def test_an_own_environment_trains_saves_and_loads(
    name: str, algorithm: str, built: Any, tmp_path: Path
) -> None:
    id = register_own(name)
    given = {"dqn": OF_DQN, "a2c": {"n-steps": 16}}.get(algorithm, TINY["hyperparameters"])
    training = tiny(env=id, settings={"start": 1}, algorithm=algorithm, hyperparameters=given)
    (found,) = train(training, tmp_path)
    assert 0 <= found["reward"] <= LENGTH  # an illegal step would have failed
    assert "illegal_action" not in found
    (model,) = find_models(tmp_path)
    assert (model.card.rules, model.card.settings["env"]) == ({}, id)
    loaded = built.load(model.path, device="cpu")
    assert loaded.observation_space == gym.make(id).observation_space
    compared = compare(Experiment(env=id, policy=["random", str(tmp_path)], materials=2))
    returns = {row["policy"]: row["return"] for row in compared.rows}
    assert 0 <= returns[str(tmp_path)] <= LENGTH


def test_an_own_environment_is_learned(tmp_path: Path) -> None:
    given = {"n-steps": 12, "batch-size": 48, "n-epochs": 8, "learning-rate": 0.01}
    training = tiny(
        env=register_own("MaskInInfo"),
        steps=1536,
        envs=8,
        hyperparameters=given,
        evaluation={"every": 768, "materials": 2, "final": 2},
    )
    (found,) = train(training, tmp_path)
    # Four steps to the end, and a reward there in each of the three that are left.
    assert found["reward"] == LENGTH - (SIDE - 1) + 1


def test_single_environments_play_what_one_alone_plays() -> None:
    id = "memenvs/Odyssey-v0"
    gym.register("OwnOdyssey-v0", gym.spec(id).entry_point, kwargs=gym.spec(id).kwargs)
    env, native = make_vec_env("OwnOdyssey-v0", 3, seed=4), make_vec_env(id, 3, seed=4)
    seen, expected = env.reset(), native.reset()
    rng = np.random.default_rng(0)
    for _ in range(12):
        for name in expected:
            np.testing.assert_allclose(seen[name], expected[name], atol=1e-6)
        masks = np.stack(env.env_method("action_masks"))
        np.testing.assert_array_equal(masks, np.stack(native.env_method("action_masks")))
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        seen, rewards, dones, infos = env.step(actions)
        expected, others, ends, told = native.step(actions)
        np.testing.assert_allclose(rewards, others, atol=1e-6)
        np.testing.assert_array_equal(dones, ends)
        for info, other in zip(infos, told, strict=True):
            assert info.get("utility") == pytest.approx(other.get("utility"))
            assert info.get("episode", {}).get("l") == other.get("episode", {}).get("l")


REFUSED = {
    "imitation": ({"imitation": {"teacher": "trust"}}, "'imitation' is for memorization"),
    "windows": ({"windows": {"claims": [3, 5]}}, "'windows' is for memorization"),
    "left out": ({"leave_one_out": True}, "needs an environment with materials"),
    "dropout": ({"feature_dropout": 0.2}, "'feature-dropout' is for memorization"),
    "shaping": ({"shaping": {"wrapper": "exact-difference"}}, "'shaping' is for memorization"),
    "game": ({"game": {"name": "asker-writer"}}, "'game' is for memorization"),
    "network": ({"network": "set-transformer"}, "network 'set-transformer' is unknown"),
    "estimator": ({"algorithm": "estimator"}, "estimator does not take actions of a Discrete"),
    "setting": ({"settings": {"capacity": 3}}, "capacity"),
    "tree": ({"wrapper": {"name": "weighted-tree"}}, "is for memorization environments"),
    "wrapper": ({"wrapper": {"name": "tree"}}, "wrapper 'tree' is unknown"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("id", ["memenvs/Panels-tabs-3-v0", "memenvs/Poisoning-v0", "own"])
def test_what_a_family_has_not_is_refused(name: str, id: str, tmp_path: Path) -> None:
    changes, problem = REFUSED[name]
    id = register_own("MaskInInfo") if id == "own" else id
    with pytest.raises(ValueError, match=problem):
        train(tiny(env=id, **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_mask_that_dqn_cannot_see_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="take maskable-ppo"):
        train(tiny(env=register_own("MaskByMethod"), algorithm="dqn", hyperparameters={}), tmp_path)


WRAPPED: dict[str, dict[str, Any]] = {
    "weighted-tree": {"env": "memenvs/OdysseyNoisy-v0", "wrapper": {"name": "weighted-tree"}},
    "bisimulation": {
        "env": "memenvs/Panels-button-v0",
        "settings": {"instances": 4},
        "wrapper": {"name": "bisimulation"},
    },
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_a_wrapper_keeps_survives_an_interruption(name: str, tmp_path: Path) -> None:
    training = small(**WRAPPED[name], steps=512)
    train(training, tmp_path / "whole")

    class Stop(BaseException):
        pass

    def stop(job: Any, steps: int, row: Any) -> None:
        if steps >= 300:  # in the middle of an interval
            raise Stop

    with pytest.raises(Stop):
        train(training, tmp_path / "stopped", stop)
    train(training, tmp_path / "stopped")
    assert same(tmp_path / "whole", tmp_path / "stopped")
    texts = [(tmp_path / run / "evaluation.json").read_text() for run in ("whole", "stopped")]
    assert texts[0] == texts[1]
    parameters, _ = outcome(tmp_path / "whole")
    without, _ = outcome_without(training, tmp_path)
    wide = ".policy.mlp_extractor.policy_net.0.weight"
    assert parameters[wide].shape[1] > without[wide].shape[1]  # it sees the advice
    with pytest.raises(ValueError, match=r"trained with a wrapper|does not show"):
        compare(Experiment(env=training.env, policy=[str(tmp_path / "whole")], materials=1))


def outcome_without(training: Training, folder: Path) -> Any:
    train(training.model_copy(update={"wrapper": None}), folder / "without")
    return outcome(folder / "without")


def test_a_network_that_reads_advice_is_trained_beside_a_memory_alone(tmp_path: Path) -> None:
    training = tiny(
        env="memenvs/Panels-button-v0", network="advised", wrapper={"name": "bisimulation"}
    )
    (found,) = train(training, tmp_path / "run")
    assert found["illegal_action"] == 0
    with pytest.raises(ValueError, match="'advised' is trained by maskable-ppo alone, not by ppo"):
        train(training.model_copy(update={"algorithm": "ppo"}), tmp_path / "ppo")
    with pytest.raises(ValueError, match="holds no evidence; wrap the environment in a memory"):
        train(training.model_copy(update={"wrapper": None}), tmp_path / "without")


def test_pages_of_the_validation_and_of_a_comparison_are_not_those_of_the_training(
    tmp_path: Path,
) -> None:
    from memenvs.train.learn.environments import make_environments

    training = tiny(env="memenvs/Panels-tabs-3-v0", settings={"instances": 7})
    _, instances = make_environments(training).evaluation("validation", 3)
    assert [instance.value for instance in instances] == [2**29, 2**29 + 1, 2**29 + 2]
    train(training, tmp_path / "run")
    outcomes = {}
    for split in (None, "train"):
        setting = Experiment(
            env=training.env, policy=[str(tmp_path / "run")], materials=2, split=split
        )
        rows = compare(setting).rows
        outcomes[split] = {(row["instance"], row["seen"]) for row in rows}
    assert outcomes[None] == {("tabs-3-test-0", False), ("tabs-3-test-1", False)}
    assert outcomes["train"] == {("tabs-3-train-0", True), ("tabs-3-train-1", True)}
