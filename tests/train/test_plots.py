"""The plot: it is drawn, it is not blank, and it says what it shows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instances import random_material
from memenvs.train.compare import Comparison, compare
from memenvs.train.experiment import load_experiment

pytest.importorskip("matplotlib")


def compared(**options: Any) -> Comparison:
    """Compare, with the curve that a plot needs."""
    return compare(load_experiment(None, options), curve=True)


@pytest.fixture(scope="module")
def noisy() -> Comparison:
    return compared(material=["odyssey-noisy"], capacity=[1, 4], episodes=3)


def test_plot_is_written_and_not_blank(noisy: Comparison, tmp_path: Path) -> None:
    from matplotlib.image import imread

    from memenvs.train.plots import save_frontier_plot

    save_frontier_plot(noisy, tmp_path)
    image = imread(tmp_path / "frontier.png")
    assert image.shape[0] > 600
    assert image.shape[1] > 1000
    assert len(np.unique(image.reshape(-1, image.shape[-1]), axis=0)) > 100
    assert (tmp_path / "frontier.pdf").read_bytes().startswith(b"%PDF")


def test_plot_shows_the_frontier_and_every_policy(noisy: Comparison) -> None:
    from matplotlib.figure import Figure

    from memenvs.train.plots import draw_plane

    axes = draw_plane(Figure(), noisy)
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[:3] == ["frontier", "full context", "cost of compression"]
    policies = {"random", "fifo", "reservoir", "longest", "pretrained", "optimal (oracle)"}
    assert set(labels[3:]) == {*policies, "coverage, if higher"}
    (line,) = (line for line in axes.lines if line.get_label() == labels[0])
    assert np.asarray(line.get_ydata()) == pytest.approx([0, 0.35, 0.60, 0.80, 0.90, 0.95, 1, 1])


def test_long_curves_take_few_capacities_and_show_what_is_not_proved(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from memenvs.train.plots import draw_plane

    material = random_material(np.random.default_rng(0), 90, 150, composite=0.8)
    material.save(tmp_path / "long.json")
    result = compared(
        **{"material": [str(tmp_path / "long.json")], "capacity": [10, 70], "policy": ["fifo"]},
        **{"episodes": 2, "time-limit": 0.0},
    )
    assert result.curve is not None
    assert len(result.curve.capacities) < 30
    assert {10.0, 70.0} <= set(result.curve.capacities)
    assert result.curve.capacities[-1] == 70
    legend = draw_plane(Figure(), result).get_legend()
    assert legend is not None
    assert "not proved" in [text.get_text() for text in legend.get_texts()]


def test_a_budget_is_drawn_at_the_capacities_asked_for() -> None:
    result = compared(
        material=["odyssey"], capacity=[2, 4], budget=3.0, policy=["optimal"], episodes=2
    )
    assert result.curve is not None
    assert result.curve.capacities == (2, 4)
    assert result.curve.values == pytest.approx([0.60, 0.80])
