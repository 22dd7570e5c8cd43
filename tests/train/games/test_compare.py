"""Comparisons in games: against single episodes, by hand, and by command; what is refused."""

import csv
import json

import numpy as np
import pytest

from commands import memenvs_cli
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.games import poisoner_writer_v0, shared_writers_v0
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import make
from memenvs.policies.opponents.opponents import make_opponent
from memenvs.train.compare import compare
from memenvs.train.experiment import load_experiment
from memenvs.train.games.comparison import compare_in_game
from memenvs.train.games.episodes import play as play_game
from memenvs.train.games.episodes import units_of
from memenvs.train.places import Instance
from memenvs.train.play import play_one
from memenvs.train.units import episode_seed, units
from saved_opponents import save_opponent

TIER = TIERS["hidden"]
MATERIALS = list(TIER.split("validation")[:3])
SEEDS = [episode_seed(0, material.name, 0) for material in MATERIALS]


def experiment(**options):
    given = {"material": ["hidden"], "split": "validation", "materials": 3, **options}
    return load_experiment(None, {name.replace("_", "-"): v for name, v in given.items()})


def in_game(game, **options):
    return compare_in_game(experiment(game=game, **options))


def test_without_attacks_it_is_what_the_writer_reaches_alone():
    env = MemorizationEnv(MATERIALS, **TIER.preset)
    alone = [
        play_one(env, make("trust", env), unit).values["precision"]
        for unit in units([Instance(material.name, material) for material in MATERIALS])
    ]
    (row,) = in_game("poisoner-writer", policy=["trust"], opponent=["wait"]).rows
    assert row["precision"] == row["utility"] == pytest.approx(np.mean(alone))
    assert (row["seeds"], row["materials"], row["episodes"], row["illegal"]) == (1, 3, 3, 0)


def test_a_cell_is_the_mean_of_single_games():
    reached = []
    for material, seed in zip(MATERIALS, SEEDS, strict=True):
        game = poisoner_writer_v0.vector_env(MATERIALS, autoreset=False, poison=4)
        players = {"writer_0": make("reservoir", game), "poisoner_0": make_opponent("random", game)}
        states = {
            name: player.start(np.array([seed + k]))
            for k, (name, player) in enumerate(players.items())
        }
        seen, _ = game.reset(seed=seed, options={"material": material})
        while not game.over.all():
            actions = {}
            for name, player in players.items():
                actions[name], states[name] = player.predict(seen[name], states[name])
            seen, _, _, _, infos = game.step(actions)
        reached.append([infos["writer_0"][key][0] for key in ("precision", "settled", "answered")])
    options = {"policy": ["reservoir"], "opponent": ["random"], "game_option": {"poison": "4"}}
    (row,) = in_game("poisoner-writer", **options).rows
    expected = np.mean(reached, axis=0)
    found = [row[key] for key in ("precision", "settled", "answered")]
    np.testing.assert_allclose(found, expected)


def test_what_is_played_besides_changes_nothing():
    alone = in_game("asker-writer", policy=["random"], opponent=["obscure"]).rows
    beside = in_game("asker-writer", policy=["fifo", "random"], opponent=["honest", "obscure"]).rows
    assert beside[3] == alone[0]


def test_materials_go_to_the_players_that_are_named_for_them():
    game = shared_writers_v0.vector_env(MATERIALS, num_envs=2, writers=1)
    policies = {m.name: make("fifo" if m is MATERIALS[1] else "random", game) for m in MATERIALS}
    instances = [Instance(material.name, material) for material in MATERIALS]
    materials, seeds = units_of(instances, 2, 0)
    mixed = play_game(game, lambda m: {"writer_0": policies[m.name]}, materials, seeds)
    for name in ("fifo", "random"):
        policy = make(name, game)
        whole = play_game(game, lambda m, policy=policy: {"writer_0": policy}, materials, seeds)
        own = [(m is MATERIALS[1]) == (name == "fifo") for m in materials]
        np.testing.assert_array_equal(mixed["precision"][own], whole["precision"][own])
    assert len(set(seeds)) == 6


@pytest.fixture(scope="module")
def responses(tmp_path_factory):
    """A run of two seeds, and a single model."""
    folder = tmp_path_factory.mktemp("responses")
    for seed in (0, 1):
        save_opponent(folder / "two" / f"seed-{seed}" / "best_model.zip", "poisoner", seed=seed)
    save_opponent(folder / "one" / "best_model.zip", "poisoner", seed=5)
    return folder


def test_a_best_response_takes_what_is_missing_beside_peace(responses):
    two, one = str(responses / "two"), str(responses / "one")
    found = in_game("poisoner-writer", policy=["trust", "fifo"], opponent=[two, one])
    assert [(row["policy"], row["opponent"], row["seeds"]) for row in found.rows] == [
        ("trust", two, 2),
        ("trust", one, 1),
        ("fifo", two, 2),
        ("fifo", one, 1),
    ]
    singly = [f"{two}/seed-0", f"{two}/seed-1", one]
    each = in_game("poisoner-writer", policy=["trust", "fifo"], opponent=["wait", *singly]).rows
    for place, lost in enumerate(found.exploitability):
        wait, first, second, single = (row["precision"] for row in each[4 * place : 4 * place + 4])
        pair, alone = found.rows[2 * place], found.rows[2 * place + 1]
        assert pair["precision"] == pytest.approx((first + second) / 2)
        assert alone["precision"] == pytest.approx(single)
        taken = {"wait": 0.0, two: wait - (first + second) / 2, one: wait - single}
        assert lost["exploitability"] == pytest.approx(max(taken.values()))
        assert taken[lost["opponent"]] == pytest.approx(max(taken.values()))
        low, high = lost["exploitability_low"], lost["exploitability_high"]
        assert low <= lost["exploitability"] <= high
    scripted = in_game("poisoner-writer", policy=["fifo"], opponent=["late"])
    assert scripted.exploitability == []


def test_exploitability_is_that_of_the_strongest_opponent_scripted_or_trained(responses):
    names = ["wait", "imitate", "late", "contradict", str(responses / "one")]
    found = in_game("poisoner-writer", policy=["trust", "fifo"], opponent=names)
    for place, lost in enumerate(found.exploitability):
        rows = found.rows[len(names) * place : len(names) * (place + 1)]
        reached = {row["opponent"]: row["precision"] for row in rows}
        least = min(reached.values())
        assert lost["exploitability"] == pytest.approx(reached["wait"] - least)
        assert reached[lost["opponent"]] == pytest.approx(least)


def test_one_writer_of_a_shared_memory_is_the_writer_alone():
    policies = {"policy": ["trust", "random"], "baseline": "fifo"}
    shared = in_game("shared-writers", game_option={"writers": 1}, **policies).rows
    alone = compare(experiment(**policies)).summary
    same = "precision settled coverage size share difference difference_low difference_high illegal"
    for one, other in zip(shared, alone, strict=True):
        for name in same.split():
            assert one[name] == pytest.approx(other[name]), name
        assert one["conflicts"] == 0
        assert one["share_low"] == pytest.approx(other["intervals"]["share"][0])


def test_conflicts_are_those_of_the_game():
    counts, precision = [], []
    for material, seed in zip(MATERIALS, SEEDS, strict=True):
        game = shared_writers_v0.vector_env(MATERIALS, writers=3, autoreset=False)
        policy = make("fifo", game)
        seen, _ = game.reset(seed=seed, options={"material": material})
        while not game.over.all():
            _, _, _, _, infos = game.step(
                {name: policy.predict(seen[name])[0] for name in game.possible_agents}
            )
            seen = game.observe()
        counts.append(game.conflicts.sum())
        precision.append(infos["writer_0"]["precision"][0])
    (row,) = in_game("shared-writers", policy=["fifo"], game_option={"writers": 3}).rows
    assert row["conflicts"] == pytest.approx(np.mean(counts))
    assert row["precision"] == pytest.approx(np.mean(precision))
    assert row["conflicts"] > 0


def test_the_command_prints_a_matrix_and_writes_it(tmp_path):
    words = ["compare", "--game", "poisoner-writer", "--material", "hidden", "--materials", "2"]
    words += ["--policy", "fifo", "--policy", "trust", "--opponent", "wait", "--opponent", "late"]
    result = memenvs_cli(*words, "--json", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["game"] == "poisoner-writer"
    rows = document["rows"]
    assert [(row["policy"], row["opponent"]) for row in rows] == [
        ("fifo", "wait"),
        ("fifo", "late"),
        ("trust", "wait"),
        ("trust", "late"),
    ]
    assert all(row["precision_low"] <= row["precision"] <= row["precision_high"] for row in rows)
    assert json.loads((tmp_path / "out" / "comparison.json").read_text()) == document
    with (tmp_path / "out" / "rows.csv").open(newline="") as stream:
        read = list(csv.DictReader(stream))
    assert [float(row["precision"]) for row in read] == [row["precision"] for row in rows]
    printed = memenvs_cli(*words, "--capacity", "2", "--capacity", "4")
    assert printed.stdout.count("S = ") == 2
    assert all(name in printed.stdout for name in ("wait", "late", "fifo", "trust"))


def test_the_command_prints_best_responses_and_shared_writers(responses):
    words = ["compare", "--material", "hidden", "--materials", "2", "--policy", "fifo"]
    game = [*words, "--game", "poisoner-writer", "--opponent", str(responses / "two")]
    matrix = memenvs_cli(*game)
    assert matrix.exit_code == 0, matrix.stderr
    assert "exploitability" in matrix.stdout
    assert "fifo (2 seeds)" in matrix.stdout
    together = memenvs_cli(*words, "--game", "shared-writers", "--policy", "fifo:split")
    assert together.exit_code == 0, together.stderr
    assert "vs random" in together.stdout
    knowing = memenvs_cli(*words, "--game", "shared-writers", "--policy", "bayes:split")
    assert "bayes:split°" in knowing.stdout
    assert "° knows the generator's rates" in knowing.stdout
    assert "fifo:split" in together.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--game chess --policy fifo", "game 'chess' is unknown; choose from shared-writers"),
        ("--game asker-writer", "--policy is missing"),
        ("--game asker-writer --policy fifo --opponent nobody", "no opponent of this game is"),
        ("--game asker-writer --policy fifo --opponent late", "choose from honest, obscure"),
        ("--game asker-writer --policy fifo --baseline fifo", "--baseline is not an option of the"),
        (
            "--game asker-writer --policy fifo --reader bm25",
            "--reader is not an option of",
        ),
        ("--game asker-writer --policy optimal", "'optimal' is an oracle"),
        ("--game shared-writers --policy fifo --policy none:split", "no policy is named 'none'"),
        ("--game shared-writers --policy fifo --opponent wait", "--opponent is not an option"),
        ("--game shared-writers --policy fifo:split --capacity 1", "2 copies cannot share 1 slots"),
        ("--game shared-writers --policy fifo --game-option writer=2", "did you mean 'writers'?"),
        ("--game shared-writers --policy fifo --game-option writers", "write KEY=VALUE"),
        ("--game shared-writers --policy fifo --game-option writers=many", "valid integer"),
        ("--policy fifo --opponent wait", "--opponent belongs to --game NAME"),
        ("--policy fifo --game-option poison=2", "--game-option belongs to --game NAME"),
    ],
)
def test_what_cannot_be_played_is_one_line(words, problem):
    result = memenvs_cli("compare", "--material", "hidden", "--materials", "2", *words.split())
    assert result.exit_code == 2
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
