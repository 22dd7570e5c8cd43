"""Callbacks of a user beside ours, and what an algorithm records: in the table, on the board."""

import csv
from typing import ClassVar

import numpy as np
import pytest
from click.testing import CliRunner
from stable_baselines3.common.callbacks import BaseCallback
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from memenvs.train.cli import main
from memenvs.train.learn.run import train
from trainings import SMALL, small

MINE = """
from stable_baselines3.common.callbacks import BaseCallback

class Says(BaseCallback):
    def _on_rollout_end(self):
        self.logger.record("mine/steps", self.num_timesteps)
    def _on_step(self):
        return True
"""


class Counting(BaseCallback):
    """Counts the steps of each model; stops at a number of them."""

    made: ClassVar[list["Counting"]] = []

    def __init__(self, most=10**9):
        super().__init__()
        self.most = most
        self.made.append(self)

    def _on_rollout_end(self):
        self.logger.record("mine/steps", np.float32(self.num_timesteps))

    def _on_step(self):
        return self.num_timesteps < self.most


def rows_of(folder):
    with (folder / "metrics.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_each_model_has_one_of_its_own_and_what_it_records_is_kept(tmp_path):
    Counting.made = []
    train(small(steps=512, seed=[0, 1]), tmp_path / "run", callbacks=[Counting])
    assert [each.num_timesteps for each in Counting.made] == [512, 512]
    rows = rows_of(tmp_path / "run" / "seed-1")
    assert [float(row["mine_steps"]) for row in rows if row["mine_steps"]] == [256, 512]


def test_what_the_algorithm_records_is_in_the_table_and_between_its_rows_on_the_board(tmp_path):
    train(small(steps=512), tmp_path / "run")
    last = rows_of(tmp_path / "run")[-1]
    assert float(last["train_approx_kl"]) > 0
    board = EventAccumulator(str(tmp_path / "run")).Reload()
    updates = [event.step for event in board.Scalars("train/approx_kl")]
    assert updates == [128, 256, 384, 512]  # 8 environments, 16 steps each
    assert [event.step for event in board.Scalars("validation/precision")][-1] == 512
    assert "train_approx_kl" not in board.Tags()["scalars"]


def test_one_that_stops_ends_the_training(tmp_path):
    found = train(small(), tmp_path / "run", callbacks=[lambda: Counting(most=200)])
    assert 200 <= int(rows_of(tmp_path / "run")[-1]["steps"]) < 512
    assert "precision" in found[0]


def test_no_callbacks_where_nothing_calls_them(tmp_path):
    training = small(env="memenvs/Hidden-v0", algorithm="estimator", hyperparameters={})
    with pytest.raises(ValueError, match="fits no 'estimator'"):
        train(training, tmp_path / "run", callbacks=[Counting])


def run_command(tmp_path, name):
    import yaml

    config = tmp_path / "small.yaml"
    config.write_text(yaml.safe_dump({**SMALL, "steps": 256}))
    out = str(tmp_path / "run")
    return CliRunner().invoke(main, ["train", str(config), "--out", out, "--callback", name])


def test_from_the_command_line(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    assert run_command(tmp_path, f"{tmp_path / 'mine.py'}:Says").exit_code == 0
    assert float(rows_of(tmp_path / "run")[-1]["mine_steps"]) == 256


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Says", "MODULE:CLASS"),
        ("nowhere_at_all:Says", "nowhere_at_all"),
        ("none.py:Says", "none.py"),
        ("json:dumps", "BaseCallback"),
    ],
)
def test_what_is_no_callback_is_refused_before_anything_is_begun(tmp_path, name, message):
    found = run_command(tmp_path, name)
    assert found.exit_code == 2
    assert message in found.output
    assert not (tmp_path / "run").exists()
