"""Trained networks as policies: one model, or several whose preferences are averaged."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.policies.base import Observation, Policy, State
from memenvs.policies.learned.known_pickles import read_known
from memenvs.policies.learned.models import Model, check_fit
from memenvs.policies.learned.networks.history import History, Read
from memenvs.policies.learned.plain import plain_network
from memenvs.policies.learned.saved import check_trusted
from memenvs.storage.messages import clipped

READ = len(Read._fields)  # arrays of a state that hold what was read


class Trained(Policy):
    """Take the legal action of highest mean probability, or give the mean priority.

    It is always deterministic. Networks that value actions (DQN) give their values instead of
    probabilities. The state holds what was read, where a network needs it, and the recurrent
    states. Raises ``ValueError`` where a model does not fit the environment.
    """

    def __init__(
        self, env: Any, seed: int = 0, *, models: Sequence[Model], device: str = "auto"
    ) -> None:
        super().__init__(env, seed)
        check_fit(models, self.layout, self.rules)
        n = 1 if self.rules.action == "priority" else self.actions.n
        space = self.layout.space(self.rules.capacity, n)
        self._networks = [_fitting(model, space, device) for model in models]
        reads = any(network.needs_history for network in self._networks)
        self._history = History(self.layout, self.rules.capacity) if reads else None

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Begin without having read anything, recurrent states at zero."""
        read: State = () if self._history is None else tuple(self._history.start(len(episodes)))
        hidden = (array for each in self._networks for array in each.start(len(episodes)))
        return (*read, *hidden)

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Average what the networks prefer, and take the best."""
        following: list[NDArray[Any]] = []
        if self._history is not None:
            read = self._history.enter(Read(*state[:READ]), observation)
            observation = {**observation, "history": read.claims}
            following += read
        preferred = []
        for network in self._networks:
            own = state[len(following) : len(following) + network.arrays]
            preference, after = network.prefer(observation, masks, own)
            preferred.append(preference)
            following += after
        mean = np.mean(preferred, axis=0)
        if self.rules.action == "priority":
            return np.asarray(mean, dtype=np.float32), tuple(following)
        return np.where(masks, mean, -np.inf).argmax(axis=1), tuple(following)


class Network:
    """One network of stable-baselines3, whatever trained it: a ``BasePolicy``."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.needs_history = bool(getattr(self._policy, "needs_history", False))
        self._recurrent = hasattr(self._policy, "lstm_actor")
        self.arrays = 2 if self._recurrent else 0  # of its recurrent state

    def start(self, episodes: int) -> tuple[NDArray[Any], ...]:
        """Give the recurrent state of new episodes: arrays ``(B, layers, width)``."""
        if not self._recurrent:
            return ()
        layers, _, width = self._policy.lstm_hidden_state_shape
        return (np.zeros((episodes, layers, width), dtype=np.float32),) * 2

    def prefer(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """Give probabilities or values ``(B, n)``, or priorities ``(B, 1)``, and the next state."""
        with torch.no_grad():
            found, after = self._scores(observation, state)
        if isinstance(self._policy.action_space, spaces.Box):
            return found.clamp(-1.0, 1.0).cpu().numpy(), after
        if self._values:
            return found.cpu().numpy(), after
        legal = torch.as_tensor(masks, device=found.device)
        return found.masked_fill(~legal, -torch.inf).softmax(dim=1).cpu().numpy(), after

    @property
    def _values(self) -> bool:
        return hasattr(self._policy, "q_net") or hasattr(self._policy, "quantile_net")

    def _scores(self, observation: Observation, state: State) -> tuple[Any, list[NDArray[Any]]]:
        policy = self._policy
        tensors: Any
        if isinstance(policy.observation_space, spaces.Dict):
            known = (*policy.observation_space.spaces, "history")
            tensors = {
                name: torch.as_tensor(array, device=policy.device)
                for name, array in observation.items()
                if name in known
            }
            if hasattr(policy, "action_logits"):
                return policy.action_logits(tensors), []
            tensors = {name: tensor.float() for name, tensor in tensors.items()}
        else:
            tensors, _ = policy.obs_to_tensor(observation)
        if hasattr(policy, "q_net"):
            return policy.q_net(tensors), []
        if hasattr(policy, "quantile_net"):
            return policy.quantile_net(tensors).mean(dim=1), []
        if not self._recurrent:
            return _centre(policy.get_distribution(tensors)), []
        device = policy.device
        lstm = tuple(torch.as_tensor(a, device=device).transpose(0, 1).contiguous() for a in state)
        begun = torch.zeros(len(state[0]), device=device)  # new episodes have zeros already
        distribution, after = policy.get_distribution(tensors, lstm, begun)
        return _centre(distribution), [each.transpose(0, 1).cpu().numpy() for each in after]


def load_network(model: Model, device: str = "auto") -> Any:
    """Load the network of a model with a card; raises ``ValueError`` where it cannot be loaded.

    What memenvs saved has a form without pickles, which is taken.
    """
    from stable_baselines3.common.utils import get_device

    policy = plain_network(model.path)
    if policy is None:
        saved = ", ".join(f"{name} {version}" for name, version in model.card.versions.items())
        return load_policy(model.path, device, f"; it was saved with {saved}", trust=model.trust)
    policy.to(get_device(device)).set_training_mode(False)
    return policy


def load_policy(
    path: str | os.PathLike[str], device: str = "auto", saved: str = "", *, trust: bool = False
) -> Any:
    """Load the network of a file that stable-baselines3 saved, without its algorithm.

    Such a file holds pickles. Where they name more than spaces, arrays and known classes, it has to
    be trusted. Raises ``ValueError`` where it is not, and, with ``saved`` at its end, where it
    cannot be loaded.
    """
    from stable_baselines3.common.save_util import load_from_zip_file
    from stable_baselines3.common.utils import get_device

    known = read_known(path)
    if known is None:
        check_trusted(path, trust)
    schedules = dict.fromkeys(("lr_schedule", "learning_rate", "clip_range", "clip_range_vf"), 0.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # SB3 warns of a pickle that it cannot read
            data: Any
            numbers: Any
            if known is not None:
                data, numbers = known
            else:
                told, parameters, _ = load_from_zip_file(
                    os.fspath(path), custom_objects=schedules, device=device
                )
                assert told is not None
                data, numbers = told, dict(parameters["policy"])
        options = dict(data["policy_kwargs"])
        if data.get("use_sde"):
            options["use_sde"] = True
        policy = data["policy_class"](
            data["observation_space"],
            data["action_space"],
            lambda _: 0.0,  # of the learning rate
            **options,
        )
        policy.load_state_dict(numbers)
    except Exception as error:  # pickles fail in any way
        raise ValueError(
            f"{os.fspath(path)}: cannot be loaded by the installed versions "
            f"({type(error).__name__}: {clipped(str(error), 200)}){saved}"
        ) from error
    policy.to(get_device(device)).set_training_mode(False)
    return policy


def _fitting(model: Model, space: spaces.Dict, device: str) -> Network:
    """Load a network; one without heads of ours takes the sizes alone that it was trained with."""
    policy = load_network(model, device)
    if not hasattr(policy, "action_logits"):
        _check_shapes(model, policy.observation_space, space)
    return Network(policy)


def _centre(distribution: Any) -> torch.Tensor:
    """Logits ``(B, n)`` of a categorical distribution, the mean ``(B, 1)`` of a normal one."""
    inner = distribution.distribution
    found: torch.Tensor = inner.logits if hasattr(inner, "logits") else inner.mean
    return found


def _check_shapes(model: Model, trained: spaces.Dict, given: spaces.Dict) -> None:
    """Refuse other numbers of slots or claims than those that a network without our heads takes."""
    for name, space in trained.spaces.items():
        if name not in given.spaces:
            raise ValueError(
                f"{model.path}: takes an array '{name}' that this environment does not show; it "
                "was trained with a wrapper around the environment and plays with that alone"
            )
        other = given.spaces[name].shape
        if space.shape != other:
            raise ValueError(
                f"{model.path}: the network '{model.card.network}' takes '{name}' of "
                f"{space.shape} alone, and this environment gives {other}; play it at the sizes "
                "it was trained with, or train 'pointer'"
            )
