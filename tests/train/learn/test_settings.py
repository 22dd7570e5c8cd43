"""A bad key names itself and the nearest right one, before anything is trained."""

import re
from pathlib import Path

import pytest

from commands import memenvs_cli
from memenvs.train.config_files import shipped
from memenvs.train.learn.environments import make_environments
from memenvs.train.learn.run import train
from memenvs.train.learn.settings import load_training
from trainings import small

BAD = {
    "stesp=3": "'stesp': is unknown; did you mean 'steps'?",
    "network_opts=3": "is unknown; did you mean 'network-options'?",
    "evaluation.evry=3": "'evaluation.evry': is unknown; did you mean 'every'?",
    "imitation.techer=trust": "'imitation.teacher': is missing; add it",
    "steps=many": "'steps': should be a valid integer, not 'many'",
    "seed=[1, 1]": "has a value twice",
    "feature-dropout=1.5": "'feature-dropout'",
    "windows.claims=[3]": "'windows.claims'",
    "curriculum=[{env: a, steps: 3, stepps: 3}]": "did you mean 'steps'?",
    "nothing": "write KEY=VALUE",
    "steps.a=3": "has no keys of its own",
    "steps=[": "is no YAML",
}


@pytest.mark.parametrize("assignment", BAD)
def test_a_bad_key_names_itself_and_the_nearest(assignment: str) -> None:
    with pytest.raises(ValueError, match="--set") as error:
        load_training("readable", [assignment])
    assert BAD[assignment] in str(error.value)


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("env: memenvs/Readable-v0\nsteps: 10\nenvss: 3\n")
    result = memenvs_cli("train", str(tmp_path / "bad.yaml"))
    assert result.exit_code == 2
    assert "bad.yaml: key 'envss': is unknown; did you mean 'envs'?" in result.stderr


def test_numbers_may_lack_their_dot_and_inner_keys_may_be_set() -> None:
    training = load_training("readable", ["schedule.end=1e-4", "hyperparameters.n-steps=8"])
    assert training.schedule is not None
    assert training.schedule.end == 1e-4
    assert training.hyperparameters["n-steps"] == 8
    assert training.hyperparameters["batch-size"] == 1024


def test_what_to_play_is_replaced() -> None:
    assert load_training("readable", ["material=odyssey"]).env is None


@pytest.mark.parametrize("name", sorted(set(shipped(training=True)) - {"locomo"}))
def test_every_shipped_training_says_what_it_plays(name: str) -> None:
    assert make_environments(load_training(name)).trained_on


FITS = {
    "ppo": "ppo has no masks, and with the network 'mlp' it would act illegally; take maskable-ppo",
    "recurrent-ppo": "recurrent-ppo does not take action='slots'; maskable-ppo, ppo, a2c, dqn",
    "maskabel-ppo": "did you mean 'maskable-ppo'?",
}


@pytest.mark.parametrize("algorithm", FITS)
def test_an_algorithm_that_does_not_fit_says_which_ones_do(algorithm: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=algorithm) as error:
        train(small(algorithm=algorithm), tmp_path / "run")
    assert FITS[algorithm] in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_rollout_of_one_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="n-steps times envs must be at least 2"):
        train(small(envs=1, hyperparameters={"n-steps": 1}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


SEPARATE = re.compile(r" (?=\w+=)")
MISFITS = {
    "hyperparameters={n-step: 3}": "'hyperparameters.n-step' is unknown; did you mean 'n-steps'?",
    "hyperparameters={n-steps: x}": "'hyperparameters.n-steps': should be a valid integer",
    "network-options={hiden: 3}": "'network-options.hiden' is unknown; did you mean 'hidden'?",
    "hyperparameters={batch-size: 0}": "'hyperparameters.batch-size': should be greater than or",
    "hyperparameters={gamma: 1.5}": "'hyperparameters.gamma': should be less than or equal to 1",
    "algorithm=dqn network=mlp imitation={teacher: trust}": "dqn cannot begin by imitation",
    "algorithm=estimator network=mlp": "does not use rewards; leave 'schedule' out",
    "network=priority": "network 'priority' decides by action='priority', not 'slots'",
    "network=pointr": "did you mean 'pointer'?",
    "env=memenvs/Readble-v0": "did you mean 'memenvs/Readable-v0'?",
    "device=tpu": "choose from auto, cpu, cuda",
    "shaping={wrapper: sampled-difference}": "works on single environments only",
    "curriculum=[{env: memenvs/Odyssey-v0, steps: 9}]": "has another observation space",
    "algorithm=dqn": "dqn trains a network of its own and not 'estimator-pointer'",
    "leave-one-out=true": "needs fixed materials",
    "windows={claims: [3, 5]}": "needs fixed materials",
}


@pytest.mark.parametrize("assignment", MISFITS)
def test_a_misfit_is_refused_in_one_line(assignment: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given = [part for each in SEPARATE.split(assignment) for part in ("--set", each)]
    result = memenvs_cli("train", "readable", *given, "--out", str(folder))
    assert result.exit_code == 2
    assert MISFITS[assignment] in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not folder.exists()
