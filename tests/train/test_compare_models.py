"""Trained models in a comparison: seeds as one row, each material by models that did not see it."""

import json

import numpy as np
import pytest

from memenvs.policies import load
from memenvs.train.compare import compare
from memenvs.train.experiment import load_experiment
from memenvs.train.named_policy import NamedPolicy
from memenvs.train.play import play_one
from memenvs.train.setting import make_setting
from memenvs.train.tables import print_comparison, write_tables
from memenvs.train.units import units
from saved_models import train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Three seeds on the readable tier, hardly trained."""
    folder = tmp_path_factory.mktemp("runs") / "readable"
    for seed in (0, 1, 2):
        train(
            folder / f"seed-{seed}" / "best_model.zip", "readable", seed=seed, every=4, capacity=6
        )
    return folder


def experiment(*policies, **options):
    settings = {"material": ["readable"], "materials": 4, "time-limit": 5.0, **options}
    return load_experiment(None, {"policy": list(policies), **settings})


@pytest.fixture(scope="module")
def compared(run):
    return compare(experiment(str(run), "fifo", f"{run}:ensemble", baseline="fifo"))


def by_hand(folder, seeds, settings):
    """Precision of each seed on each material: ``(K, M)``."""
    setting = make_setting(settings)
    (env,) = setting.envs.values()
    models = [load(folder / f"seed-{seed}", env) for seed in seeds]
    return np.array(
        [
            [play_one(env, model, unit).values["precision"] for unit in units(setting.instances)]
            for model in models
        ]
    )


def test_seeds_are_one_row_and_their_mean(run, compared):
    cells = by_hand(run, (0, 1, 2), experiment("fifo"))
    assert np.ptp(cells, axis=0).max() > 0  # seeds differ
    rows = [row for row in compared.rows if row["policy"] == str(run)]
    assert [row["precision"] for row in rows] == pytest.approx(cells.mean(axis=0).tolist())
    assert {row["seeds"] for row in rows} == {3}
    (summary,) = (s for s in compared.summary if s["policy"] == str(run))
    assert summary["precision"] == pytest.approx(cells.mean())
    assert summary["low"] < summary["precision"] < summary["high"]
    assert summary["seeds"] == 3
    assert not summary["seen"]
    assert summary["illegal"] == 0
    fifo = np.array([row["precision"] for row in compared.rows if row["policy"] == "fifo"])
    won = (cells > fifo + 1e-9) + 0.5 * (np.abs(cells - fifo) <= 1e-9)
    assert summary["improvement"] == pytest.approx(won.mean())
    assert summary["difference"] == pytest.approx((cells - fifo).mean())
    assert summary["iqm"] == pytest.approx(np.sort(cells.ravel())[3:9].mean())


def test_an_ensemble_is_one_policy(run, compared):
    (summary,) = (s for s in compared.summary if s["policy"] == f"{run}:ensemble")
    assert summary["seeds"] == 1


def test_a_baseline_is_level_with_itself(run):
    found = compare(experiment(str(run), baseline=str(run)))
    (summary,) = found.summary
    assert (summary["difference"], summary["improvement"]) == (0, 0.5)
    assert (summary["difference_low"], summary["difference_high"]) == (0, 0)


def test_tables_and_json_say_the_same(compared, tmp_path, capsys):
    write_tables(compared, tmp_path)
    stored = json.loads((tmp_path / "comparison.json").read_text())
    assert stored["summary"][0]["iqm"] == compared.summary[0]["iqm"]
    header = (tmp_path / "summary.csv").read_text().split("\n")[0].split(",")
    assert {"seeds", "iqm_low", "improvement_high", "taught_by"} < set(header)
    print_comparison(compared)
    printed = capsys.readouterr().out
    assert "over the seeds, too" in printed
    assert "better" in printed


def test_each_material_is_played_by_models_that_were_not_trained_on_it(tmp_path):
    names = [f"readable-test-{place}" for place in range(3)]
    for name in names[:2]:
        others = tuple(other for other in names if other != name)
        for seed in (0, 1):
            path = tmp_path / f"without-{name}" / f"seed-{seed}" / "best_model.zip"
            train(path, "readable", seed=seed, trained_on=others, every=4, capacity=6)
    setting = make_setting(experiment("fifo", materials=3))
    (env,) = setting.envs.values()
    named = NamedPolicy(str(tmp_path), env, 0, names)
    assert (named.size, named.nested) == (2, True)
    for name in names[:2]:
        for member in (0, 1):
            (model,) = (m for m, p in named._built.items() if p is named.player(name, member))
            assert model[0].path.parts[-3] == f"without-{name}"
            assert model[0].card.seed == member
        assert not named.has_seen(name)
    assert named.has_seen(names[2])  # every model was trained on it
    found = compare(experiment(str(tmp_path), materials=3))
    assert [row["seen"] for row in found.rows] == [False, False, True]
    assert found.summary[0]["seen"]


def test_what_helped_a_training_is_said(tmp_path, capsys):
    from memenvs.policies.learned.saved import read_card, write_card

    path = tmp_path / "best_model.zip"
    train(path, "readable", every=4, capacity=6)
    card = read_card(path)
    card.settings["imitation"] = {"teacher": "bayes"}
    write_card(path, card)
    found = compare(experiment(str(path), materials=2))
    assert found.summary[0]["taught_by"] == "bayes"
    print_comparison(found)
    assert "helped by bayes" in capsys.readouterr().out


def test_a_model_that_does_not_fit_says_so_before_anything_is_played(run):
    with pytest.raises(ValueError, match="'claim' differs in"):
        compare(experiment(str(run), material=["odyssey"]))
    with pytest.raises(ValueError, match="there is no such model"):
        compare(experiment(f"{run}/none"))
