"""Runs a training: one folder for each seed and each material left out, begun or gone on with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from memenvs.policies.base import Policy
from memenvs.policies.learned.models import Model
from memenvs.policies.learned.saved import ModelCard
from memenvs.policies.learned.saving import save_model
from memenvs.storage.handles import owned_folder
from memenvs.storage.whole import write_whole
from memenvs.train.learn.algorithms import ALGORITHMS, ESTIMATORS, Interface, check_algorithm
from memenvs.train.learn.batches import FeatureDropout, Stages, Timed, shaped
from memenvs.train.learn.callback import Evaluations
from memenvs.train.learn.checkpoints import load_last
from memenvs.train.learn.environments import Environments, make_environments, place_of
from memenvs.train.learn.estimators import acting, fit, save_estimator
from memenvs.train.learn.folder import CONFIG, save_training, stored_training, versions
from memenvs.train.learn.imitation import imitate
from memenvs.train.learn.jobs import Job, jobs_of, rounds_of
from memenvs.train.learn.models import (
    build_model,
    load_model,
    network_class,
    resolve_device,
)
from memenvs.train.learn.settings import Training
from memenvs.train.learn.start import begin_with, starting_model
from memenvs.train.learn.validation import Validation, best_by, takes_masks
from memenvs.train.learn.wrapping import carried_by, carry

# Is told a job, its steps, and a row of its metrics.
Report = Callable[[Job, int, dict[str, Any] | None], None]
NewCallback = Callable[[], BaseCallback]  # a class will do: each model has one of its own
# Unless a training says how far its evaluations are apart: how many there are at most, and how many
# times as long as one of them it trains before each. A step that is learned from costs about three.
EVALUATIONS, APART = 10, 8


def train(
    training: Training,
    out: Path,
    report: Report = lambda job, steps, row: None,
    *,
    callbacks: Sequence[NewCallback] = (),
) -> list[dict[str, Any]]:
    """Train every model that ``out`` lacks, and go on with those that were interrupted.

    ``callbacks`` make callbacks of Stable-Baselines3 that are called beside our own, one of each
    for a model; what they remember is not kept by checkpoints, and one that stops a training ends
    it for good. Gives the final evaluations in the order of ``jobs_of``. Raises ``ValueError`` for
    a training that cannot be run.
    """
    if callbacks and training.algorithm in ESTIMATORS:
        raise ValueError(
            f"callbacks are called by Stable-Baselines3, which fits no '{training.algorithm}'"
        )
    device = resolve_device(training.device)
    if device == "cpu":
        torch.set_num_threads(1)  # more only wait for another: the networks are small
    with owned_folder(out):
        _check_same(training, out)
        return [run(job, device, report, callbacks) for job in jobs_of(training, out)]


def _check_same(training: Training, out: Path) -> None:
    """Raise ``ValueError`` where a folder holds the run of another training.

    It may have been begun while this one was starting. More seeds may be added to several.
    """
    if not (out / CONFIG).exists():
        return
    kept = stored_training(out)
    several = len(kept.seed) > 1 and len(training.seed) > 1
    free = {"device": "", **({"seed": [0]} if several else {})}
    if kept.model_copy(update=free) != training.model_copy(update=free):
        raise ValueError(f"{out} holds the run of another training; name another folder")


def run(
    job: Job,
    device: str,
    report: Report = lambda job, steps, row: None,
    callbacks: Sequence[NewCallback] = (),
) -> dict[str, Any]:
    """Train one model to its end; gives its final evaluation."""
    if job.folder.finished:
        return job.folder.evaluation
    if job.training.game is not None and job.training.game.self_play is not None:
        return _play_rounds(job, device, report, callbacks)
    played = make_environments(job.training, job.left_out)
    batch = played.batch(job.training.envs)
    check_algorithm(job.training, Interface.of(batch))
    if job.training.algorithm in ESTIMATORS:
        best: Any = _fit(job, played, batch, device, report)
        return _finish(job, played, best, job.training.steps)
    env = Timed(surrounded(job.training, played, batch))
    try:
        _learn(job, played, env, device, report, callbacks)
        with job.folder.best.open("rb") as stream:
            best = load_model(job.training, stream, env, device)
        return _finish(job, played, best, best.num_timesteps, carried_by(env))
    finally:
        env.close()


def _play_rounds(
    job: Job, device: str, report: Report, callbacks: Sequence[NewCallback]
) -> dict[str, Any]:
    """Train opponents and the writer in turn; the last writer is the model."""
    rounds = rounds_of(job)
    alone = job.training.game.model_copy(update={"self_play": None})  # type: ignore[union-attr]
    _check(replace(job, training=job.training.model_copy(update={"game": alone})), device)
    for each in rounds:
        evaluation = run(each, device, report, callbacks)
        _begin(job)
    write_whole(job.folder.best, rounds[-1].folder.best.read_bytes())
    job.folder.write_evaluation(evaluation)
    return evaluation


def _check(job: Job, device: str) -> None:
    """Raise ``ValueError`` where a training does not fit, without beginning it."""
    env = training_env(job.training, make_environments(job.training, job.left_out))
    build_model(job.training, env, job.seed, device)


def _learn(
    job: Job,
    played: Environments,
    env: Timed,
    device: str,
    report: Report,
    callbacks: Sequence[NewCallback],
) -> None:
    """Train by reinforcement, from the last checkpoint where there is one."""
    start = starting_model(job.training, job.left_out, Interface.of(env))
    model, progress = _model(job, env, device, start)
    validation = _validation(job, played, job.training.evaluation.materials)
    validation.prepare()
    every = max(-(-job.steps // EVALUATIONS), APART * validation.decisions)
    evaluations = Evaluations(
        job.folder,
        validation,
        env,
        seed=job.seed,
        every=job.training.evaluation.every or every,
        stages=_stages(job.training, env),
        best_by=best_by(job.training.seat, played.family),
        save_best=lambda model: save_model(
            job.folder.best, model, card_of(job, played, env, model.num_timesteps, start)
        ),
        report=lambda steps, row: report(job, steps, row),
        progress=progress,
    )
    left = job.steps - model.num_timesteps
    if left > 0:
        silent: Any = None
        # MaskablePPO would refuse an environment in which every action is legal.
        masks = {"use_masking": env.has_attr("action_masks")} if takes_masks(model) else {}
        called: list[BaseCallback] = [evaluations, *(make() for make in callbacks)]
        model.learn(left, callback=called, log_interval=silent, reset_num_timesteps=False, **masks)
    validation.env.close()


def _fit(job: Job, played: Environments, batch: Any, device: str, report: Report) -> Policy:
    """Fit an estimator, which acts by its greedy."""
    estimator = fit(job.training, batch, job.seed, device, lambda steps: report(job, steps, None))
    _begin(job)
    save_estimator(job.folder.best, estimator, card_of(job, played, batch, job.training.steps))
    return acting(batch, job.seed, estimator)


def _begin(job: Job) -> None:
    """Write down what is run, as everything fits: from here on the folder holds a run."""
    job.folder.begin(job.training)
    save_training(job.whole, job.root)


def training_env(training: Training, played: Environments) -> VecEnv:
    """Make the batch to train in, with everything that a training puts around it."""
    return surrounded(training, played, played.batch(training.envs))


def surrounded(training: Training, played: Environments, env: VecEnv) -> VecEnv:
    """Put around a batch what a training asks for."""
    if training.curriculum:
        earlier = [played.make(place_of(stage), training.envs) for stage in training.curriculum]
        env = Stages([*earlier, env])
    if training.shaping is not None:
        env = shaped(env, training.shaping.wrapper, training.shaping.weight)
    if training.feature_dropout:
        env = FeatureDropout(env, training.feature_dropout)
    return _with_history(training, env)


def card_of(
    job: Job, played: Environments, env: VecEnv, steps: int, start: Model | None = None
) -> ModelCard:
    """Describe a model; what it began with has seen materials, too."""
    training = job.training
    told = "env material settings game start windows imitation shaping wrapper".split()
    earlier = [] if start is None else start.card.trained_on
    inner: Any = env.unwrapped
    return ModelCard(
        kind=ALGORITHMS[training.algorithm].kind,
        algorithm=training.algorithm,
        network=training.network,
        settings={name: value for name, value in training.as_document().items() if name in told},
        columns=inner.columns,
        rules=played.described,
        encoder=played.encoder,
        trained_on=list(dict.fromkeys([*played.trained_on, *earlier])),
        seed=job.seed,
        steps=steps,
        versions=versions(),
    )


def _model(job: Job, env: VecEnv, device: str, start: Model | None) -> tuple[Any, dict[str, Any]]:
    """Load the model of the last checkpoint, or build it and warm it up."""
    last = load_last(
        job.folder.checkpoints,
        lambda stream: load_model(job.training, stream, env, device),
        lambda carried: carry(env, carried),
    )
    if last is not None:
        return last
    model = build_model(job.training, env, job.seed, device)
    inner: Any = env.unwrapped
    if start is not None:
        begin_with(model, start, inner.columns)
    imitation = job.training.imitation
    teacher = None if imitation is None else inner.teacher(imitation.teacher, job.seed)
    _begin(job)
    if imitation is not None and teacher is not None:
        imitate(model, env, teacher, imitation, job.seed)
    return model, {}


def _validation(job: Job, played: Environments, count: int) -> Validation:
    env, instances = played.evaluation(job.training.evaluation.split, count)
    return Validation(_with_history(job.training, env), instances)


def _with_history(training: Training, env: VecEnv) -> VecEnv:
    """Add what was read to the observations, where the network needs it."""
    network, _ = network_class(training, Interface.of(env))
    if not getattr(network, "needs_history", False):
        return env
    from memenvs.train.learn.history_env import HistoryVecEnv

    return HistoryVecEnv(env)


def _stages(training: Training, env: VecEnv) -> tuple[Stages, tuple[int, ...]] | None:
    """Find the stages in a batch, with the step at which each of the earlier ones ends."""
    ends: list[int] = []
    for stage in training.curriculum:
        ends.append(stage.steps + (ends[-1] if ends else 0))
    while not isinstance(env, Stages):
        if not ends:
            return None
        env = env.venv  # type: ignore[attr-defined]
    return env, tuple(ends)


def _finish(
    job: Job, played: Environments, best: Any, steps: int, carried: Any = None
) -> dict[str, Any]:
    """Evaluate the best model on more materials, or on those that were left out."""
    settings = job.training.evaluation
    if played.left_out:
        env, left_out = played.evaluation_left_out()
        final = Validation(_with_history(job.training, env), left_out)
    else:
        final = _validation(job, played, settings.final)
    try:
        measured = final.evaluate(best, carried)
    finally:
        final.env.close()
    evaluation = {
        "best_steps": steps,
        "steps": job.steps,
        "seed": job.seed,
        "left_out": job.left_out,
        "materials": len(final.instances),
        "split": settings.split,
        **measured,
    }
    job.folder.write_evaluation(evaluation)
    return evaluation
