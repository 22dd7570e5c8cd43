"""Trainings in games: each seat, going on after a stop, self-play, and a start from a model."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.save_util import load_from_zip_file

from commands import memenvs_cli
from game_trainings import GAMES, SHORT, short
from memenvs.policies.learned.models import find_models
from memenvs.policies.learned.saved import read_card
from memenvs.train.games.making import make_game
from memenvs.train.games.vec_env import GameVecEnv
from memenvs.train.learn.environments import make_environments, place_of
from memenvs.train.learn.history_env import HistoryVecEnv
from memenvs.train.learn.imitation import imitate
from memenvs.train.learn.jobs import jobs_of, rounds_of
from memenvs.train.learn.models import build_model
from memenvs.train.learn.run import train, training_env
from memenvs.train.learn.settings import Imitation, load_training, validate_training
from memenvs.train.learn.start import begin_with, starting_model
from trainings import outcome, same


def parameters(path: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = load_from_zip_file(path, device="cpu")[1]["policy"]
    return found


@pytest.mark.parametrize("name", GAMES)
def test_every_seat_is_trained_legally_and_goes_on_as_if_never_stopped(
    name: str, tmp_path: Path
) -> None:
    training = short(name)
    evaluation = train(training, tmp_path / "whole")[0]
    _, rows = outcome(tmp_path / "whole")
    assert sum(float(row["rollout_illegal_action"]) for row in rows) == 0
    assert sum(float(row["validation_illegal_action"]) for row in rows) == 0
    assert 0 <= evaluation["precision"] <= evaluation["coverage"] <= 1
    told = {
        "poisoner": lambda row: -float(row["validation_utility"]),
        "asker": lambda row: float(row["validation_reward"]),
    }.get(name, lambda row: float(row["validation_utility"]))
    best = max(rows, key=told)
    assert evaluation["best_steps"] == int(best["steps"])

    def stop(job: Any, steps: int, row: Any) -> None:
        if steps > training.steps // 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(training, tmp_path / "stopped", stop)
    train(training, tmp_path / "stopped")
    assert same(tmp_path / "whole", tmp_path / "stopped")


def test_a_card_says_who_was_trained_in_which_game(tmp_path: Path) -> None:
    train(short("asker"), tmp_path)
    card = read_card(tmp_path / "best_model.zip")
    assert card.settings["game"]["name"] == "asker-writer"
    assert card.settings["game"]["seat"] == "asker"
    assert (card.kind, card.network, card.trained_on) == ("sb3", "opponent", ["hidden-train"])
    assert card.columns["context"] == ["reading_left", "asked", "missed", "divergence", "due"]
    assert set(card.columns) == {"queries", "context"}
    (model,) = find_models(tmp_path)
    assert model.seat == "asker"


SELF_PLAY: dict[str, Any] = {
    "name": "poisoner-writer",
    "opponents": ["wait"],
    "self-play": {
        "rounds": 2,
        "steps": 64,
        "settings": {"settlement": "expected"},
        "hyperparameters": SHORT["hyperparameters"],
        "imitation": {"teacher": "imitate", "steps": 64, "rounds": 1, "critic-epochs": 0},
    },
}


def test_self_play_is_ordinary_trainings_in_turn(tmp_path: Path) -> None:
    training = short("writer", game=SELF_PLAY, steps=64, imitation={"teacher": "fifo", "steps": 64})
    rounds = [
        job.folder.path.relative_to(tmp_path) for job in rounds_of(jobs_of(training, tmp_path)[0])
    ]
    assert [str(path) for path in rounds] == [
        "round-1/opponent",
        "round-1/writer",
        "round-2/opponent",
        "round-2/writer",
    ]

    def stop(job: Any, steps: int, row: Any) -> None:
        if job.folder.path.name == "writer":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(training, tmp_path, stop)
    assert not (tmp_path / "best_model.zip").exists()
    result = memenvs_cli("train", "--resume", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    last = tmp_path / "round-2" / "writer" / "best_model.zip"
    assert (tmp_path / "best_model.zip").read_bytes() == last.read_bytes()
    assert [model.path for model in find_models(tmp_path)] == [tmp_path / "best_model.zip"]
    stored = json.loads((tmp_path / "evaluation.json").read_text())
    assert stored == json.loads((tmp_path / "round-2" / "writer" / "evaluation.json").read_text())
    settings = [read_card(tmp_path / path / "best_model.zip").settings for path in rounds]
    told = [settings[k]["game"] for k in range(4)]
    opponents = [str(tmp_path / f"round-{k}" / "opponent") for k in (1, 2)]
    writers = [str(tmp_path / f"round-{k}" / "writer") for k in (1, 2)]
    assert [game["seat"] for game in told] == ["poisoner", "writer"] * 2
    assert told[0]["opponents"] == ["trust"]
    assert told[1]["opponents"] == ["wait", opponents[0]]
    assert told[2]["opponents"] == ["trust", writers[0]]
    assert told[3]["opponents"] == ["wait", *opponents]
    assert [each["start"] for each in settings] == [None, None, None, writers[0]]
    teachers = [(each["imitation"] or {}).get("teacher") for each in settings]
    assert teachers == ["imitate", "fifo", "imitate", None]
    assert [each["settings"] for each in settings] == [{"settlement": "expected"}, {}] * 2
    begun = parameters_at_first(tmp_path / "round-2" / "writer")
    saved = parameters(tmp_path / "round-1" / "writer" / "best_model.zip")
    assert all(torch.equal(begun[name], saved[name]) for name in saved)


def parameters_at_first(folder: Path) -> dict[str, torch.Tensor]:
    """Give what a run of one interval began with, from its first checkpoint."""
    with zipfile.ZipFile(folder / "checkpoints" / f"{0:012d}.zip") as archive:
        stored = io.BytesIO(archive.read("model.zip"))
    found: dict[str, torch.Tensor] = load_from_zip_file(stored, device="cpu")[1]["policy"]
    return found


def test_a_start_copies_the_parameters_of_the_model_of_the_same_seed(tmp_path: Path) -> None:
    once = {"steps": 64, "network": "estimator-pointer", "game": None}
    train(short("shared-writers", **once, seed=[4, 5]), tmp_path / "alone")
    start = str(tmp_path / "alone")
    for seed, from_seed in ((5, 5), (3, 5)):  # there is no 3: it is 3 mod 2 in their order
        out = tmp_path / f"shared-{seed}"
        train(short("shared-writers", start=start, steps=64, seed=seed), out)
        begun = parameters_at_first(out)
        saved = parameters(tmp_path / "alone" / f"seed-{from_seed}" / "best_model.zip")
        assert begun.keys() == saved.keys()
        assert any("estimator" in name for name in begun)
        assert all(torch.equal(begun[name], saved[name]) for name in saved)
        assert read_card(out / "best_model.zip").settings["start"] == start


def test_what_a_start_was_trained_on_stays_known(tmp_path: Path) -> None:
    train(short("writer", game=None, steps=64, env="memenvs/Readable-v0"), tmp_path / "first")
    train(short("writer", steps=64, start=str(tmp_path / "first")), tmp_path / "second")
    trained_on = read_card(tmp_path / "second" / "best_model.zip").trained_on
    assert trained_on == ["hidden-train", "readable-train"]


def test_a_shared_pointer_begins_with_a_writer_that_was_alone(tmp_path: Path) -> None:
    alone = validate_training(
        {**SHORT, "network": "estimator-pointer", "hyperparameters": {"n-steps": 16}}, ""
    )
    train(alone, tmp_path / "alone")
    (model,) = find_models(tmp_path / "alone")
    game = {"network": "shared-pointer", "start": str(tmp_path / "alone")}
    training = short("shared-writers", **game)
    built = build_model(training, training_env(training, make_environments(training)), 0, "cpu")
    first = {name: tensor.clone() for name, tensor in built.policy.state_dict().items()}
    begin_with(built, model, model.card.columns)
    saved, begun = parameters(model.path), built.policy.state_dict()
    own = {name for name in begun if ".spare." in name}
    assert begun.keys() - saved.keys() == own
    assert own
    for name, tensor in begun.items():
        assert torch.equal(tensor, first[name] if name in own else saved[name])
    with pytest.raises(ValueError, match="is a network 'estimator-pointer'"):
        starting_model(short("shared-writers", **(game | {"network": "pointer"})), None)


def test_every_writer_of_a_memory_hears_all_that_is_settled() -> None:
    writers, episodes = 3, 4
    arguments = place_of(load_training("shared-writers")).arguments
    game = make_game("shared-writers", {"writers": writers}, arguments, episodes)
    env = HistoryVecEnv(GameVecEnv(game, game.possible_agents))
    heard: list[tuple[Any, Any]] = []
    env.tracker.tell(lambda observation, outcome: heard.append((observation, outcome)))
    env.seed(0)
    env.reset()
    rng = np.random.default_rng(0)
    valid = game.layout.index("valid", "claim")
    total, right = np.zeros((2, writers * episodes))
    ended = finished = 0
    for _ in range(40):
        masks = np.array(env.env_method("action_masks"))
        _, _, done, infos = env.step((masks * rng.random(masks.shape)).argmax(axis=1))
        observation, told = heard[-1]
        total += told.settled
        right += told.right
        late = observation["claim"][:, valid] == 0  # writers that read nothing more
        finished += int(late.sum())
        assert not told.stored[late, -1].any()
        for row in np.flatnonzero(done).tolist():
            assert total[row] == 30  # 15 between 32 decisions, and 15 at the end
            assert right[row] == pytest.approx(infos[row]["settled"])
            total[row] = right[row] = 0
            ended += 1
    assert ended >= 2 * writers
    assert finished > 40


@pytest.mark.slow
def test_an_opponent_imitates_another() -> None:
    training = short("poisoner", envs=16, steps=512)
    env = training_env(training, make_environments(training))
    model = build_model(training, env, 0, "cpu")
    settings = Imitation(
        teacher="repeat",
        steps=4096,
        rounds=2,
        epochs=6,
        batch_size=64,
        learning_rate=3e-3,
        critic_epochs=0,
    )
    found = imitate(model, env, env.unwrapped.teacher("repeat", 0), settings, seed=0)
    assert found["agreement"] > 0.95  # who always waits agrees in 25 of 31 steps
