"""A run that was stopped and gone on with equals one that was not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from memenvs.train.learn.run import train
from trainings import SMALL, same, small

RUNS: dict[str, dict[str, Any]] = {
    "maskable-ppo": {},
    "dqn": {"hyperparameters": {"learning-starts": 128, "buffer-size": 400, "batch-size": 32}},
    "a2c": {
        "env": "memenvs/OdysseyDisclosed-v0",
        "settings": {"action": "priority"},
        "hyperparameters": {},
    },
    "estimator-pointer": {  # it also goes on with the settlements that it heard
        "env": "memenvs/Hidden-v0",
        "algorithm": "maskable-ppo",
        "network": "estimator-pointer",
        "hyperparameters": {"n-steps": 32, "batch-size": 128, "estimator-steps": 4},
    },
}


PATIENCE = 900  # seconds that a run may take on a busy machine


class Stop(BaseException):
    pass


@pytest.mark.parametrize("name", RUNS)
def test_a_resumed_run_equals_an_uninterrupted_one(name: str, tmp_path: Path) -> None:
    training = small(**{"algorithm": name, **RUNS[name]})
    train(training, tmp_path / "whole")

    def stop(job, steps, row):
        if steps >= 700:  # in the middle of an interval
            raise Stop

    with pytest.raises(Stop):
        train(training, tmp_path / "stopped", stop)
    assert not (tmp_path / "stopped" / "evaluation.json").exists()
    train(training, tmp_path / "stopped")
    assert same(tmp_path / "whole", tmp_path / "stopped")
    final = [(tmp_path / name / "evaluation.json").read_text() for name in ("whole", "stopped")]
    assert final[0] == final[1]


def test_other_seeds_end_elsewhere(tmp_path: Path) -> None:
    train(small(seed=[1, 2]), tmp_path)
    assert not same(tmp_path / "seed-1", tmp_path / "seed-2")


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)],
    ids=["SIGTERM", "SIGINT", "SIGKILL"],
)
@pytest.mark.slow
def test_a_killed_process_is_gone_on_with(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    settings = {**SMALL, "steps": 8192, "evaluation": {**SMALL["evaluation"], "every": 1024}}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump({**settings, "algorithm": "maskable-ppo"}))
    command = [sys.executable, "-c", "from memenvs.train.cli import main; main()", "train"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, *arguments],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )

    whole = start("small.yaml", "--out", "whole")
    _, said = whole.communicate(timeout=PATIENCE)
    assert whole.returncode == 0, said
    killed = start("small.yaml", "--out", "killed")
    folder = tmp_path / "killed" / "checkpoints"
    deadline = time.monotonic() + PATIENCE
    while len(list(folder.glob("0*.zip"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.send_signal(number)
    _, said = killed.communicate(timeout=PATIENCE)
    assert killed.returncode == code
    if code > 0:
        assert said.splitlines()[-1].endswith("go on with: memenvs train --resume killed")
        assert "Traceback" not in said
    resumed = start("--resume", "killed")
    _, said = resumed.communicate(timeout=PATIENCE)
    assert resumed.returncode == 0, said
    assert same(tmp_path / "whole", tmp_path / "killed")
