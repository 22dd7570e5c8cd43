"""The models that a training makes, each in a folder of its own, and the rounds of self-play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memenvs.train.learn.environments import names_left_out
from memenvs.train.learn.folder import RunFolder
from memenvs.train.learn.settings import Game, SelfPlay, Training
from memenvs.train.learn.start import starting_model


@dataclass(frozen=True)
class Job:
    """One model to train."""

    training: Training  # with one seed
    folder: RunFolder
    left_out: str | None
    whole: Training  # with all seeds
    root: Path  # folder of all models

    @property
    def seed(self) -> int:
        """Its seed."""
        return self.training.seed[0]

    @property
    def steps(self) -> int:
        """Steps of all stages."""
        return self.training.steps + sum(stage.steps for stage in self.training.curriculum)


def jobs_of(training: Training, out: Path) -> list[Job]:
    """List the models to train, each with its folder in ``out``."""
    left_out: list[str | None] = [None]
    if training.leave_one_out:
        left_out = [*names_left_out(training)]
    jobs = []
    for name in left_out:
        outer = out if name is None else out / f"without-{name}"
        for seed in training.seed:
            folder = outer / f"seed-{seed}" if len(training.seed) > 1 else outer
            single = training.model_copy(update={"seed": [seed]})
            jobs.append(Job(single, RunFolder(folder), name, training, out))
    return jobs


def rounds_of(job: Job) -> list[Job]:
    """List the ordinary trainings that self-play consists of, in order; the last is the model's.

    In each round an opponent is trained against all writers so far, then the writer goes on from
    its parameters, against all opponents so far and those that the training names.
    """
    from memenvs.train.games.making import WRITERS, check_agents, opponents_in, opposing

    game = job.training.game
    assert game is not None
    assert game.self_play is not None
    check_agents(game)
    seat = opposing(game.name)
    first = starting_model(job.training, job.left_out)
    start = None if first is None else str(first.path)
    writers = [start] if start else [*WRITERS]
    opponents = opponents_in(game)
    found = []
    for number in range(1, game.self_play.rounds + 1):
        folder = job.folder.path / f"round-{number}"
        against = {"seat": seat, "opponents": [*writers], "self_play": None}
        found.append(_part(job, folder / "opponent", _opponent(job.training, game, against)))
        opponents = [*opponents, str(folder / "opponent")]
        playing = game.model_copy(update={"opponents": opponents, "self_play": None})
        changes: dict[str, Any] = {"game": playing, "start": start}
        if number > 1:  # it has begun
            changes |= {"imitation": None, "curriculum": []}
        found.append(_part(job, folder / "writer", job.training.model_copy(update=changes)))
        start = str(folder / "writer")
        writers = [*writers, start]
    return found


def _opponent(training: Training, game: Game, against: dict[str, Any]) -> Training:
    """Give the training of an opponent: the settings of the place are those of the writer's."""
    settings = game.self_play
    assert isinstance(settings, SelfPlay)
    return training.model_copy(
        update={
            "game": game.model_copy(update=against),
            "steps": settings.steps,
            "network": settings.network,
            "network_options": {},
            "settings": {**training.settings, **settings.settings},
            "hyperparameters": settings.hyperparameters,
            "start": None,
            "imitation": settings.imitation,
            "feature_dropout": 0.0,
            "curriculum": [],
        }
    )


def _part(job: Job, folder: Path, training: Training) -> Job:
    return replace(job, training=training, folder=RunFolder(folder))
