"""Hyperparameters of a training, checked against the signature of what trains."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from memenvs.train.config_files import unknown
from memenvs.train.learn.algorithms import ALGORITHMS
from memenvs.train.learn.settings import Training, dashed

# Of an algorithm's signature, what a training says elsewhere.
ELSEWHERE = frozenset(
    "self policy env seed device verbose tensorboard_log policy_kwargs monitor_wrapper "
    "stats_window_size _init_setup_model steps progress".split()
)
# What no signature says, and what would fail in the middle of a training.
BOUNDS = dict.fromkeys(
    "n_steps n_epochs buffer_size batch rounds estimator_batch settlements".split(),
    Field(ge=1),
)
BOUNDS |= {"batch_size": Field(ge=2)}  # advantages are normalised
BOUNDS |= dict.fromkeys(("gamma", "gae_lambda"), Field(ge=0, le=1))
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def hyperparameters(training: Training, decisions: int, trained_by: Any) -> dict[str, Any]:
    """Give the arguments of what trains: those of the training over the table's.

    ``decisions`` is the length of an episode, and of a rollout unless another is given. Raises
    ``ValueError`` that names an unknown or mistyped one.
    """
    algorithm = ALGORITHMS[training.algorithm]
    known = {dashed(name): p for name, p in parameters_of(trained_by).items()}
    given: dict[str, Any] = {"n_steps": decisions} if algorithm.rollouts else {}
    given |= algorithm.defaults
    for key, value in training.hyperparameters.items():
        name = dashed(key)
        if name not in known:
            raise ValueError(f"key 'hyperparameters.{key}' {unknown(key, known)}")
        given[name.replace("-", "_")] = _typed(key, value, known[name])
    if "batch_size" in given and algorithm.rollouts:  # no larger than what there is
        given["batch_size"] = min(given["batch_size"], given["n_steps"] * training.envs)
        if given["batch_size"] < 2:
            raise ValueError("n-steps times envs must be at least 2; raise one of them")
    return given


def parameters_of(trained_by: Any) -> dict[str, inspect.Parameter]:
    """List what a class or function takes, and its bases as far as it hands the rest on."""
    found: dict[str, inspect.Parameter] = {}
    bases = trained_by.__mro__ if inspect.isclass(trained_by) else ()
    takers = [vars(base)["__init__"] for base in bases if "__init__" in vars(base)]
    for taker in takers or [trained_by]:
        parameters = inspect.signature(taker).parameters
        named = {n: p for n, p in parameters.items() if p.kind not in VARIABLE}
        found = {n: p for n, p in named.items() if n not in ELSEWHERE} | found
        if len(named) == len(parameters):
            break
    return found


def _typed(key: str, value: Any, parameter: inspect.Parameter) -> Any:
    """Check a value against the signature; a number may be written without its dot."""
    annotation = parameter.annotation
    if parameter.name in BOUNDS:
        annotation = Annotated[annotation, BOUNDS[parameter.name]]
    config = ConfigDict(arbitrary_types_allowed=True)
    try:
        return TypeAdapter(annotation, config=config).validate_python(value)
    except ValidationError as error:
        wanted = error.errors(include_url=False)[0]["msg"].removeprefix("Input ")
        raise ValueError(f"key 'hyperparameters.{key}': {wanted}, not {value!r:.40}") from None
