"""A network as data: how to build it from a table of known classes, and its numbers; no pickles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from gymnasium import spaces
from pydantic import Field

from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.envs.memorization.rules import Actions
from memenvs.errors import MaterialError
from memenvs.policies.learned.networks.table import NETWORKS, OPPONENTS
from memenvs.policies.learned.saved import LONGEST
from memenvs.storage import archives
from memenvs.storage.archives import array_entries, read_archive
from memenvs.storage.messages import clipped
from memenvs.storage.reading import checked, read_sealed, sealed
from memenvs.storage.strict import Strict

FORMAT = "memenvs.network/1"
ENTRY, WEIGHTS = "network.json", "weights/"  # in a model's zip file
_SB3 = "stable_baselines3.common.policies:MultiInputActorCriticPolicy"
_MASKABLE = "sb3_contrib.common.maskable.policies:MaskableMultiInputActorCriticPolicy"
_RECURRENT = "sb3_contrib.common.recurrent.policies:RecurrentMultiInputActorCriticPolicy"
_Q = "memenvs.train.learn.masked_q:MaskedDQNPolicy"
_QR = "memenvs.train.learn.masked_q:MaskedQRDQNPolicy"
_OWN = (path for path, _ in (*NETWORKS.values(), *OPPONENTS.values()))
# The classes that a file may name, by their last name.
CLASSES = {path.partition(":")[2]: path for path in (_SB3, _MASKABLE, _RECURRENT, _Q, _QR, *_OWN)}
ACTIVATIONS = ("ReLU", "Tanh", "ELU", "GELU", "SiLU", "LeakyReLU", "Sigmoid", "Identity")
UNUSED = ("optimizer_class", "optimizer_kwargs")  # of what only plays
WIDEST, MOST_VALUES = 4096, 1000  # of a layer; in a list
WIDEST_VECTOR = 2**16
Size = Annotated[int, Field(ge=0, le=2**24)]


class _Shown(Strict):
    shape: Annotated[list[Size], Field(max_length=4)]
    dtype: Annotated[str, Field(pattern="^(float32|float64|int8|int64|uint8|bool)$")]


class _Acting(Strict):
    n: Annotated[int, Field(ge=0, le=2**24)]  # 0 of a priority


class _Network(Strict):
    kind: str
    observation: Annotated[dict[str, _Shown], Field(max_length=32)]
    action: _Acting
    arguments: Annotated[dict[str, Any], Field(max_length=64)]


class _NotPlainError(Exception):
    """Something has no form here."""


def plain_entries(model: Any) -> dict[str, bytes]:
    """Give the entries of a model's zip file that hold its network as data.

    There are none for a class that is not in the table, or an argument that only a pickle can hold.
    """
    policy = model.policy
    kind = type(policy).__name__
    if kind not in CLASSES or imported(CLASSES[kind]) is not type(policy):
        return {}
    given = {n: v for n, v in (model.policy_kwargs or {}).items() if n not in UNUSED}
    if getattr(model, "use_sde", False):
        given["use_sde"] = True
    try:
        document = {
            "format": FORMAT,
            "kind": kind,
            "observation": _shown(model.observation_space),
            "action": _acting(model.action_space),
            "arguments": {name: _as_json(value) for name, value in given.items()},
        }
    except _NotPlainError:
        return {}
    arrays = {f"{WEIGHTS}{n}": t.detach().cpu().numpy() for n, t in policy.state_dict().items()}
    text = json.dumps(sealed(document), sort_keys=True).encode()
    return {ENTRY: text, **array_entries(arrays.items())}


def plain_network(path: Path) -> Any | None:
    """Build the network of a model's zip file from its data; None where it holds none.

    Raises ``MaterialError`` for data that describe no network.
    """
    file = str(path)
    archive = read_archive(path, LONGEST, "model")
    if ENTRY not in archive.names:
        return None
    found = read_sealed(archive.read(ENTRY, archives.TEXT), FORMAT, "network", file)
    network = checked(_Network, found, file, f"'{ENTRY}'")
    if network.kind not in CLASSES:
        raise MaterialError(
            f"'{clipped(network.kind)}' is no network of this version", field="kind", file=file
        )
    numbers = {
        name.removeprefix(WEIGHTS): torch.from_numpy(array)
        for name, array in archive.arrays().items()
        if name.startswith(WEIGHTS)
    }
    shown = {n: _box(s.shape, np.dtype(s.dtype)) for n, s in network.observation.items()}
    n = network.action.n
    action = spaces.Discrete(n) if n else spaces.Box(-1.0, 1.0, (1,), np.float32)
    try:
        arguments = {name: _from_json(value) for name, value in network.arguments.items()}
        policy = imported(CLASSES[network.kind])(
            spaces.Dict(shown), action, lambda _: 0.0, **arguments
        )
        policy.load_state_dict(numbers)
    except MemoryError:
        raise
    except Exception as error:  # whatever a network raises for arguments that are none of its own
        raise MaterialError(
            f"holds a network that this version cannot build: {clipped(str(error), 120)}; train "
            "it again",
            file=file,
        ) from None
    return policy


def imported(path: str) -> Any:
    """Import ``module:attribute``."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def _box(shape: list[int], dtype: np.dtype[Any]) -> spaces.Space[Any]:
    if np.prod(shape, dtype=object) > 2**24:
        raise MaterialError("shows more numbers than an observation has")
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (0, 1)
    return spaces.Box(low, high, tuple(shape), dtype.type)


def _shown(space: Any) -> dict[str, Any]:
    if not isinstance(space, spaces.Dict):
        raise _NotPlainError
    found = {}
    for name, part in space.spaces.items():
        if not isinstance(part, spaces.Box | spaces.MultiBinary) or part.shape is None:
            raise _NotPlainError
        found[name] = {"shape": list(part.shape), "dtype": str(part.dtype)}
    return found


def _acting(space: Any) -> dict[str, Any]:
    if isinstance(space, spaces.Discrete):
        return {"n": int(space.n)}
    if isinstance(space, spaces.Box) and space.shape == (1,):
        return {"n": 0}
    raise _NotPlainError


def _as_json(value: Any) -> Any:
    """Give the form of an argument: itself, or one key that says what it is."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    if isinstance(value, Mapping):
        return {"dict": {str(name): _as_json(part) for name, part in value.items()}}
    if isinstance(value, Layout):
        return {"layout": asdict(value)}
    if isinstance(value, Actions):
        return {"actions": asdict(value)}
    for name in ACTIVATIONS:
        if value is getattr(torch.nn, name):
            return {"activation": name}
    raise _NotPlainError


def _whole(told: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Give fields that are truth values or numbers of things; raises ``ValueError`` for others."""
    found = {name: value for name, value in told.items() if name not in others}
    if not all(type(value) in (bool, int) and 0 <= value <= 2**24 for value in found.values()):
        raise ValueError("a size is no whole number, or too large")
    return found


def _from_json(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        if not abs(value) <= WIDEST:
            raise ValueError(f"{value!r:.20} is more than {WIDEST}")
        return value
    if isinstance(value, list) and len(value) <= MOST_VALUES:
        return [_from_json(part) for part in value]
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("an argument has no known form")
    ((kind, told),) = value.items()
    if kind == "dict":
        return {name: _from_json(part) for name, part in told.items()}
    if kind == "layout":
        limits = dict(told["limits"])
        cues = tuple(map(str, limits.pop("cues")))
        if not limits["embedding"] <= WIDEST_VECTOR:
            raise ValueError("vectors are too long")
        parts = _whole(told, "limits") | {"limits": Limits(cues=cues, **_whole(limits))}
        return Layout(**parts)
    if kind == "actions":
        return Actions(**_whole(told))
    if kind == "activation" and told in ACTIVATIONS:
        return getattr(torch.nn, told)
    raise ValueError("an argument has no known form")
