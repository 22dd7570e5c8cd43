"""`start:` begins a training with the parameters of a model of the same network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memenvs.policies.learned.models import Model, check_columns, find_models, unseen
from memenvs.policies.learned.trained import load_network
from memenvs.train.learn.algorithms import WRITING, Interface
from memenvs.train.learn.models import network_class
from memenvs.train.learn.settings import Training


def starting_model(
    training: Training, left_out: str | None, interface: Interface = WRITING
) -> Model | None:
    """Find the model to begin with: of a run's folder that of the same seed, as far as there is.

    Raises ``ValueError`` where there is none, or where it is of another kind than what is trained.
    """
    if training.start is None:
        return None
    models = find_models(training.start)
    if left_out is not None:
        models = unseen(models, left_out)
    seed = training.seed[0]
    same = [model for model in models if model.card.seed == seed]
    found = same[0] if same else models[seed % len(models)]
    if found.card.network not in _networks(training, interface) or found.seat != training.seat:
        raise ValueError(
            f"start: {found.path} is a network '{found.card.network}' (seat: {found.seat}); this "
            f"training needs '{training.network}' (seat: {training.seat})"
        )
    return found


def begin_with(model: Any, start: Model, columns: Mapping[str, Sequence[str]]) -> None:
    """Copy the parameters of a saved model; raises ``ValueError`` where they do not fit.

    What another network adds to those of the saved one stays as it is.
    """
    check_columns(start, columns)
    saved = load_network(start, model.device).state_dict()
    own = model.policy.state_dict()
    if start.card.network in getattr(model.policy, "begins_with", ()):
        saved = own | saved
    other = [n for n in own.keys() | saved.keys() if _shape(n, own) != _shape(n, saved)]
    if other:
        raise ValueError(
            f"start: {start.path} has other parameters than the network that is trained "
            f"('{min(other)}' among them); give both the same sizes and network-options"
        )
    model.policy.load_state_dict(saved)


def _networks(training: Training, interface: Interface) -> tuple[str, ...]:
    """Name the networks with whose parameters that of a training can begin."""
    built = network_class(training, interface)[0]
    return (training.network, *getattr(built, "begins_with", ()))


def _shape(name: str, parameters: Mapping[str, Any]) -> tuple[int, ...] | None:
    return tuple(parameters[name].shape) if name in parameters else None
