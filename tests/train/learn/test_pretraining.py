"""Pretraining: the slope of drawn memories by finite differences, and what a small run learns."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from click.testing import CliRunner

from memenvs import Material
from memenvs.material.files import save_lines
from memenvs.material.records import Claim, Item, Query
from memenvs.policies.learned.pretrained import Weights
from memenvs.train.cli import main
from memenvs.train.learn.pretraining import COLUMNS, log_slope, pretrain


def chance(worth, order):
    """Probability of drawing this order, claim by claim, in proportion to exp(worth)."""
    left, found = set(range(len(worth))), 1.0
    for claim in order:
        found *= np.exp(worth[claim]) / sum(np.exp(worth[other]) for other in left)
        left.remove(claim)
    return found


def test_the_slope_is_that_of_the_orders_probability():
    rng = np.random.default_rng(0)
    columns, weights = rng.normal(size=(5, 3)), rng.normal(size=3)
    total = 0.0
    for order in permutations(range(5), 3):
        slope = log_slope(columns, weights, np.array(order))
        total += chance(columns @ weights, order)
        for place, step in enumerate(1e-5 * np.eye(3)):
            above, below = (
                np.log(chance(columns @ (weights + sign * step), order)) for sign in (1, -1)
            )
            assert slope[place] == pytest.approx((above - below) / 2e-5, abs=1e-6)
    assert total == pytest.approx(1.0)


def material(seed):
    """Sixty turns; what is asked stands in turns with a number."""
    rng = np.random.default_rng(seed)
    asked = rng.random(60) < 0.2
    claims = tuple(
        Claim(id=str(n), text="the price is 42 here" if told else "oh well, that is fine with me")
        for n, told in enumerate(asked)
    )
    answered = np.flatnonzero(asked).tolist()
    items = tuple(Item(id=f"n{n}", supports=((str(n),),), answers=(f"q{n}",)) for n in answered)
    return Material(f"prices-{seed}", claims, items, tuple(Query(id=f"q{n}") for n in answered))


def test_it_learns_what_is_asked_about_and_equal_seeds_give_equal_weights():
    materials = [material(seed) for seed in range(3)]
    found = pretrain(materials, steps=20, seed=3, card={})
    assert found == pretrain(materials, steps=20, seed=3, card={})
    assert found.weights[COLUMNS.index("digits")] > 0 > found.weights[COLUMNS.index("length")]
    assert found.weights != pretrain(materials, steps=0, card={}).weights


def test_the_command_writes_weights_that_can_be_played(tmp_path):
    save_lines([material(0)], tmp_path / "prices.jsonl")
    line = ["pretrain", str(tmp_path / "prices.jsonl"), "--out", str(tmp_path / "w.json")]
    result = CliRunner().invoke(main, [*line, "--steps", "5"])
    assert result.exit_code == 0, result.output
    assert Weights.load(tmp_path / "w.json").card["materials"] == ["prices.jsonl"]


def test_claims_without_text_are_refused(tmp_path):
    bare = Material(
        "bare",
        (Claim(id="a"), Claim(id="b")),
        (Item(id="n", supports=(("a",),), answers=("q",)),),
        (Query(id="q"),),
    )
    save_lines([bare], tmp_path / "bare.jsonl")
    line = ["pretrain", str(tmp_path / "bare.jsonl"), "--out", str(tmp_path / "w.json")]
    result = CliRunner().invoke(main, line)
    assert result.exit_code == 2
    assert "bare: has claims without text; give texts" in result.output
    assert not (tmp_path / "w.json").exists()
