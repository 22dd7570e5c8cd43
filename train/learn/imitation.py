"""Warm start by imitation of a teacher: DAgger, then the critic on what the learner earned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from memenvs.policies.predictor import Predictor
from memenvs.train.learn.settings import Imitation
from memenvs.train.learn.validation import act, masks_of

Arrays = dict[str, NDArray[Any]]


class Labels:
    """Observations with what the teacher would have done, in preallocated arrays."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.count = 0
        self._arrays: Arrays = {}

    def add(self, observation: Arrays, **labels: NDArray[Any]) -> None:
        """Add a batch."""
        rows = {**observation, **labels}
        if not self._arrays:
            self._arrays = {
                name: np.zeros((self.size, *array.shape[1:]), dtype=array.dtype)
                for name, array in rows.items()
            }
        stop = self.count + len(observation["context"])
        for name, array in rows.items():
            self._arrays[name][self.count : stop] = array
        self.count = stop

    def take(self, rows: NDArray[np.int64], device: str) -> dict[str, torch.Tensor]:
        """Give some rows as tensors."""
        return {name: torch.as_tensor(a[rows], device=device) for name, a in self._arrays.items()}


def imitate(
    model: Any,
    env: VecEnv,
    teacher: Predictor,
    settings: Imitation,
    seed: int,
    progress: Callable[[int], None] = lambda steps: None,
) -> dict[str, float]:
    """Let a model's actor imitate a teacher; gives the last loss and share of agreement.

    The teacher plays the first round, the learner the others; the teacher says in each what it
    would have done. Then the critic learns the returns of the last round, the actor as it is.
    """
    generator = np.random.default_rng(seed)
    each = -(-settings.steps // (settings.rounds * env.num_envs))  # steps of the batch in a round
    labels = Labels(each * settings.rounds * env.num_envs)
    model.set_random_seed(seed)
    actor = [p for name, p in model.policy.named_parameters() if name != "log_std"]
    optimizer = torch.optim.Adam(actor, lr=settings.learning_rate)
    found = {}
    for number in range(settings.rounds):
        agreed, rewards, dones = [], np.zeros((each, env.num_envs)), np.zeros((each, env.num_envs))
        observation: Any = env.reset()
        state, begun = None, np.ones(env.num_envs, dtype=bool)
        for step in range(each):
            wanted, state = teacher.predict(observation, state, begun)
            own, _ = act(model, observation, None, begun, masks_of(env))
            agreed.append(float(np.isclose(own, wanted, atol=0.05).mean()))
            labels.add(observation, wanted=wanted)
            observation, rewards[step], begun, _ = env.step(wanted if number == 0 else own)
            dones[step] = begun
            progress(env.num_envs)
        for _ in range(settings.epochs):
            found["loss"] = _epoch(model, labels, optimizer, settings.batch_size, generator)
        found["agreement"] = float(np.mean(agreed))
    if settings.critic_epochs:
        returns = _returns(rewards, dones, model.gamma)
        last = np.arange(labels.count - returns.size, labels.count)
        _fit_critic(model, labels, last, returns.ravel(), settings, generator)
    return found


def _epoch(
    model: Any,
    labels: Labels,
    optimizer: torch.optim.Optimizer,
    size: int,
    rng: np.random.Generator,
) -> float:
    """Pass once over all labels; gives the mean negative log likelihood."""
    order, losses = rng.permutation(labels.count), []
    model.policy.set_training_mode(True)
    for start in range(0, len(order), size):
        rows = labels.take(order[start : start + size], model.device)
        wanted = rows.pop("wanted")
        masks = {"action_masks": rows["action_mask"]} if "Maskable" in type(model).__name__ else {}
        _, likelihood, _ = model.policy.evaluate_actions(rows, wanted, **masks)
        loss = -likelihood.mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.policy.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    model.policy.set_training_mode(False)
    return float(np.mean(losses))


def _fit_critic(
    model: Any,
    labels: Labels,
    rows: NDArray[np.int64],
    returns: NDArray[np.float64],
    settings: Imitation,
    rng: np.random.Generator,
) -> None:
    """Fit the values to returns; the networks have critics of their own, so the actor stays."""
    optimizer = torch.optim.Adam(model.policy.parameters(), lr=settings.learning_rate)
    target = torch.as_tensor(returns, dtype=torch.float32, device=model.device)
    for _ in range(settings.critic_epochs):
        order = rng.permutation(len(rows))
        for start in range(0, len(order), settings.batch_size):
            chosen = order[start : start + settings.batch_size]
            observation = labels.take(rows[chosen], model.device)
            observation.pop("wanted")
            values = model.policy.predict_values(observation).flatten()
            loss: Any = torch.nn.functional.mse_loss(values, target[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def _returns(
    rewards: NDArray[np.float64], dones: NDArray[np.float64], gamma: float
) -> NDArray[np.float64]:
    """Discounted sums to the episodes' ends ``(T, B)``; what is cut off counts for nothing."""
    returns, running = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        running = rewards[step] + gamma * (1.0 - dones[step]) * running
        returns[step] = running
    return returns
