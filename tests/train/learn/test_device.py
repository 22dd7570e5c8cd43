"""`memenvs benchmark-device`: figures of a tiny training, and how rows become figures."""

import json
from pathlib import Path

import pytest
import torch
import yaml

from commands import memenvs_cli
from memenvs.train.learn.device import SPLIT, UNMEASURED, figures
from trainings import SMALL


def row(seconds: float, speed: float, share: float, env: float) -> dict[str, float]:
    """Give the part of a row of metrics that is read."""
    split = dict(zip(SPLIT, (env, 0.5 - env, 0.4, 0.1), strict=True))
    return {"seconds": seconds, "steps_per_second": speed, "validation_share": share, **split}


def test_the_first_evaluation_counts_for_the_time_and_not_for_the_speed() -> None:
    rows = [row(9, 10, 0.6, 0.5), row(11, 300, 0.9, 0.1), row(13, 100, 0.8, 0.3)]
    rows.append(row(15, 200, 0.95, 0.2))
    found = figures(rows, 0.85)
    assert found["steps_per_second"] == 200  # of 300, 100, 200
    assert found["time_env"] == pytest.approx(0.2)
    assert found["seconds_to_share"] == 11
    assert figures(rows, 0.5)["seconds_to_share"] == 9
    assert figures(rows, 0.99)["seconds_to_share"] is None
    assert figures(rows[:1], 0.5)["steps_per_second"] == 10
    scored = [{**each, "validation_success": each["validation_share"]} for each in rows]
    assert figures(scored, 0.85, "success")["seconds_to_success"] == 11


def test_a_training_is_timed_on_each_device(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump({**SMALL, "steps": 512}))
    result = memenvs_cli("benchmark-device", str(tmp_path / "tiny.yaml"), "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert list(found) == ["cpu", "cuda"]
    cpu = found["cpu"]
    assert cpu["steps_per_second"] > 0
    assert sum(cpu[name] for name in SPLIT) == pytest.approx(1, abs=1e-3)  # rounded to 4 places
    assert 0 < cpu["share"] <= 1
    assert cpu["seconds_to_share"] > 0  # its own best is reached
    if not torch.cuda.is_available():
        assert set(found["cuda"].values()) == {UNMEASURED}
        assert found["cuda"].keys() == cpu.keys()
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]


REFUSED = {
    "algorithm=estimator": "writes no metrics while it is fitted",
    "env=memenvs/Odyss-v0": "did you mean 'memenvs/Odyssey-v0'?",
}


@pytest.mark.parametrize("assignment", REFUSED)
def test_what_has_no_such_figures_is_refused(assignment: str) -> None:
    result = memenvs_cli("benchmark-device", "odyssey", "--set", assignment)
    assert result.exit_code == 2
    assert REFUSED[assignment] in result.stderr
