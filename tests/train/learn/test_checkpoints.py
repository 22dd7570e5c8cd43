"""A checkpoint is whole or not there, and the last good one survives a full disk."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from commands import RUN, memenvs_cli
from memenvs.policies.learned.saved import read_card
from memenvs.train.learn.checkpoints import last_checkpoint, load_checkpoint
from memenvs.train.learn.jobs import jobs_of
from memenvs.train.learn.run import train
from trainings import SMALL, same, small


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    (tmp_path / "000000000001.zip").write_bytes(b"no zip")
    last = last_checkpoint(tmp_path)
    assert last is not None
    with pytest.raises(
        ValueError, match=r"000000000001\.zip: is no checkpoint that was written here"
    ):
        load_checkpoint(last, lambda stream: stream)


def test_where_the_newest_is_damaged_the_one_before_it_is_gone_on_with(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {**SMALL, "algorithm": "maskable-ppo"}
    train(small(**settings), tmp_path / "whole")

    def stop_later(job: Any, steps: int, row: Any) -> None:
        if steps >= 768:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(small(**settings), tmp_path / "run", stop_later)
    *_, before, newest = sorted((tmp_path / "run" / "checkpoints").iterdir())
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 255
    newest.write_bytes(content)
    resumed = memenvs_cli("train", "--resume", str(tmp_path / "run"))
    assert resumed.exit_code == 0, resumed.output
    assert f"{newest}: is no checkpoint" in caplog.text
    assert f"going on from {before}" in caplog.text
    assert same(tmp_path / "whole", tmp_path / "run")


def checkpoints(folder: Path) -> list[Path]:
    """Files of a run that was stopped before its first evaluation, and of that run at its end."""
    first = folder.parent / "first"
    with pytest.raises(KeyboardInterrupt):
        train(small(steps=512), first, stop)
    return [*(first / "checkpoints").iterdir(), max((folder / "checkpoints").iterdir())]


def stop(job: Any, steps: int, row: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_where_a_file_cannot_grow_the_last_good_checkpoint_stays(tmp_path: Path) -> None:
    settings = {**SMALL, "algorithm": "maskable-ppo", "steps": 512}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(settings))
    train(small(**settings), tmp_path / "whole")
    begun, later = sorted(f.stat().st_size for f in checkpoints(tmp_path / "whole"))
    size = (begun + later) // 2  # the optimiser has nothing to remember at the beginning

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    run = subprocess.run(
        [*RUN, "train", "small.yaml", "--out", "run"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert "File too large" in run.stderr
    assert "go on with: memenvs train --resume run" in run.stderr
    assert [f.name for f in (tmp_path / "run" / "checkpoints").iterdir()] == ["000000000000.zip"]
    assert [f.name for f in (tmp_path / "run").rglob(".*")] == []  # nothing half-written
    resumed = memenvs_cli("train", "--resume", str(tmp_path / "run"))
    assert resumed.exit_code == 0, resumed.output
    assert same(tmp_path / "whole", tmp_path / "run")


def test_a_run_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(
        yaml.safe_dump({**SMALL, "algorithm": "maskable-ppo", "steps": 512})
    )
    folder = tmp_path / "run"
    result = memenvs_cli("train", str(tmp_path / "small.yaml"), "--seed", "3", "--out", str(folder))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{folder}/best_model.zip: utility 0.")
    stored = yaml.safe_load((folder / "config.yaml").read_text())
    assert (stored["seed"], stored["envs"], stored["feature-dropout"]) == ([3], 8, 0.0)
    assert "torch" in json.loads((folder / "versions.json").read_text())
    assert len((folder / "metrics.csv").read_text().splitlines()) == 3
    assert len(list(folder.glob("events.out.tfevents.*"))) == 1
    evaluation = json.loads((folder / "evaluation.json").read_text())
    assert evaluation["illegal_action"] == 0
    assert 0 <= evaluation["precision"] <= evaluation["share"] <= 1
    card = read_card(folder / "best_model.zip")
    assert (card.algorithm, card.seed, card.trained_on) == ("maskable-ppo", 3, ["odyssey-noisy"])
    assert card.steps == evaluation["best_steps"]
    again = memenvs_cli("train", str(tmp_path / "small.yaml"), "--out", str(folder))
    assert again.exit_code == 2
    assert f"go on with it by --resume {folder}" in again.stderr
    resumed = memenvs_cli("train", "--resume", str(folder))
    assert resumed.exit_code == 0
    assert resumed.stdout == result.stdout


def test_seeds_and_materials_left_out_have_folders_of_their_own(tmp_path: Path) -> None:
    training = small(
        env=None,
        material=["hidden-train-0", "hidden-train-1"],
        steps=256,
        seed=[0, 1],
        **{"leave-one-out": True},
    )
    found = train(training, tmp_path)
    names = [str(job.folder.path.relative_to(tmp_path)) for job in jobs_of(training, tmp_path)]
    assert names == [f"without-hidden-train-{m}/seed-{s}" for m in (0, 1) for s in (0, 1)]
    assert [each["left_out"] for each in found] == [f"hidden-train-{m}" for m in (0, 0, 1, 1)]
    card = read_card(tmp_path / "without-hidden-train-0" / "seed-1" / "best_model.zip")
    assert card.trained_on == ["hidden-train-1"]
