"""Six real conversations: simple memories reach what was measured independently of this code."""

from pathlib import Path

import pytest

from memenvs.materials.datasets.conversion import convert
from memenvs.train.compare import compare
from memenvs.train.experiment import load_experiment

FILE = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo6.json"
CAPACITIES = (20, 50, 100, 200)
EXPECTED = {
    "longest": (0.08, 0.20, 0.35, 0.60),
    "random": (0.03, 0.07, 0.15, 0.31),
    "fifo": (0.02, 0.08, 0.18, 0.31),
}


@pytest.mark.skipif(not FILE.exists(), reason=f"LoCoMo is not at {FILE}: it is not ours to ship")
def test_means_over_six_conversations(tmp_path: Path) -> None:
    out = tmp_path / "locomo.jsonl"
    convert("locomo", FILE).save(out)
    options = {"material": [str(out)], "capacity": list(CAPACITIES), "policy": list(EXPECTED)}
    result = compare(load_experiment(None, options))
    assert len(result.rows) == 6 * len(CAPACITIES) * len(EXPECTED)
    for summary in result.summary:
        place = CAPACITIES.index(summary["capacity"])
        assert summary["precision"] == pytest.approx(EXPECTED[summary["policy"]][place], abs=0.02)
        assert summary["illegal"] == 0
        assert summary["frontier_proved"]
