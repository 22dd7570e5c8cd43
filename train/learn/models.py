"""Builds the model of a training for a batch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

from memenvs.policies.base import attribute
from memenvs.train.config_files import unknown
from memenvs.train.learn.algorithms import (
    ALGORITHMS,
    MLP,
    WRITING,
    Interface,
    check_algorithm,
    imported,
    networks,
    own_algorithm,
)
from memenvs.train.learn.hyperparameters import hyperparameters, parameters_of
from memenvs.train.learn.settings import Training, dashed

# SB3 builds these itself; a network option is anything else.
BUILT = ("self", "observation_space", "action_space", "lr_schedule", "layout", "actions")


def resolve_device(device: str) -> str:
    """Give ``cuda`` or ``cpu``; raises ``ValueError`` for what is not here."""
    if device not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device '{device}' is unknown; choose from auto, cpu, cuda")
    here = torch.cuda.is_available()
    if device == "cuda" and not here:
        raise ValueError("device 'cuda': torch finds none on this machine; take --device cpu")
    return "cuda" if here and device != "cpu" else "cpu"


@contextmanager
def calm() -> Iterator[None]:
    """Keep quiet what SB3 warns of and a training here means as it is."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="You have specified a mini-batch size")
        warnings.filterwarnings("ignore", message=r"You are trying to run .* on the GPU")
        yield


def network_class(training: Training, interface: Interface = WRITING) -> tuple[Any, dict[str, Any]]:
    """Give the network of a training, and what the table says of it."""
    if training.network == MLP:
        algorithm = ALGORITHMS[training.algorithm]
        return algorithm.own_policy(interface), dict(algorithm.options)
    path, given = networks(training, interface)[training.network]
    return imported(path), dict(given)


def algorithm_class(training: Training, interface: Interface) -> Any:
    """Give the class that trains: a network may need one of its own."""
    algorithm = check_algorithm(training, interface)
    own = own_algorithm(training, interface)
    return imported(own) if own else algorithm.load(interface)


def build_model(training: Training, env: VecEnv, seed: int, device: str) -> Any:
    """Build a model; raises ``ValueError`` that names what does not fit."""
    interface = Interface.of(env)
    built = algorithm_class(training, interface)
    inner: Any = env.unwrapped
    arguments = hyperparameters(training, inner.decisions, built)
    if training.schedule is not None:
        start = arguments.get("learning_rate", training.schedule.end)
        arguments["learning_rate"] = LinearSchedule(start, training.schedule.end, 1.0)
    policy, options = network_class(training, interface)
    options |= {key.replace("-", "_"): value for key, value in training.network_options.items()}
    if training.network != MLP:
        known = parameters_of(policy)
        for name in options:
            if name not in known:
                names = [dashed(each) for each in known if each not in BUILT]
                raise ValueError(f"key 'network-options.{dashed(name)}' {unknown(name, names)}")
        options |= {n: attribute(env, n) for n in ("layout", "actions") if n in known}
    with calm():
        model = built(policy, env, seed=seed, device=device, policy_kwargs=options, **arguments)
    return quiet(model)


def load_model(training: Training, stream: IO[bytes], env: VecEnv, device: str) -> Any:
    """Load a model to go on with in a batch."""
    built = algorithm_class(training, Interface.of(env))
    with calm():
        return quiet(built.load(stream, env=env, device=device))


def quiet(model: Any) -> Any:
    """Let the model record without writing: the run's folder is written elsewhere."""
    model.set_logger(Logger(folder=None, output_formats=[]))
    return model
