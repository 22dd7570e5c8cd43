"""Fits the settlement estimator: play, learn from what was settled, play by what was learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.envs.memorization.rules import Rules
from memenvs.policies.learned.estimator_greedy import EstimatorGreedy
from memenvs.policies.learned.networks.estimator import SettlementEstimator
from memenvs.policies.learned.networks.losses import Losses, settlement_losses
from memenvs.policies.learned.networks.settled import Settlements
from memenvs.policies.learned.networks.tracker import Tracker
from memenvs.policies.rules.simple import nth_legal

EARLY = 2.0  # passes after a round that is not the last


class Decides(Protocol):
    """What acts on observations with their history."""

    rules: Rules

    def decide(
        self, observation: dict[str, NDArray[Any]], masks: NDArray[np.bool_]
    ) -> NDArray[Any]:
        """Give actions, or priorities."""
        ...


Progress = Callable[[int], None]  # is told how many steps were played


def silent(steps: int) -> None:
    """Show no progress."""


def fit_estimator(
    env: MemorizationVectorEnv,
    *,
    steps: int = 98_304,
    rounds: int = 4,
    passes: float = 8.0,
    exploration: float = 0.1,
    batch: int = 64,
    learning_rate: float = 4e-3,
    hidden: int = 64,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress = silent,
) -> SettlementEstimator:
    """Fit an estimator by ``steps`` steps in ``env``, whose materials are to be training ones.

    The first of the ``rounds`` is random; the others follow the estimator's own greedy with a share
    of random actions. After each, it learns from all settlements so far: twice as many as there
    are, and after the last ``passes`` times, the learning rate then falling to 0. Raises
    ``ValueError`` for an environment that is no stream, tells no credited claims, or resets in
    another step than the last.
    """
    if env.autoreset_mode != AutoresetMode.SAME_STEP:
        raise ValueError("fit_estimator needs autoreset_mode='SameStep'")
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    estimator = SettlementEstimator(env.layout, hidden).to(device)
    player = EstimatorGreedy(env, seed, [estimator])
    settlements = Settlements(steps, env.layout)
    fitter = Fitter(estimator, learning_rate=learning_rate, batch=batch)
    tracker = Tracker(env.layout, env.rules, env.num_envs)
    tracker.tell(settlements.add)
    observation = tracker.begin(env.reset(seed=seed)[0])
    for number in range(rounds):
        share = exploration if number else 1.0
        for _ in range(0, steps // rounds, env.num_envs):
            actions = explore(player, observation, share, generator)
            observation, _, terminated, truncated, infos = env.step(actions)
            ended = (terminated | truncated).nonzero()[0].tolist()
            finals = {i: infos["final_obs"][i] for i in ended}
            observation = tracker.follow(observation, finals)
            progress(env.num_envs)
        final = number == rounds - 1
        batches = round((passes if final else EARLY) * len(settlements) / batch)
        fitter.fit(settlements, batches, generator, last=0.0 if final else 1.0)
    return estimator.eval()


def explore(
    player: Decides,
    observation: dict[str, NDArray[np.float32]],
    share: float,
    generator: np.random.Generator,
) -> NDArray[Any]:
    """Decide, a share of the actions at random: ``(B,)``, or priorities ``(B, 1)``."""
    chance, deviates = generator.random((2, len(observation["claim"])))
    if player.rules.action == "priority":
        masks = np.ones((len(chance), 1), dtype=bool)
        drawn: NDArray[Any] = (2 * chance - 1).astype(np.float32)[:, None]
    else:
        masks = observation["action_mask"].astype(bool)
        drawn = nth_legal(masks, chance)
    if share >= 1.0:
        return drawn
    chosen = player.decide(observation, masks)
    return np.where((deviates < share).reshape(-1, *[1] * (drawn.ndim - 1)), drawn, chosen)


class Fitter:
    """Trains an estimator on settlements."""

    def __init__(self, estimator: SettlementEstimator, *, learning_rate: float, batch: int) -> None:
        self.estimator = estimator
        self.optimizer = torch.optim.Adam(estimator.parameters(), lr=learning_rate)
        self._learning_rate, self._batch = learning_rate, batch

    def fit(
        self,
        settlements: Settlements,
        batches: int,
        generator: np.random.Generator,
        *,
        first: float = 1.0,
        last: float = 1.0,
    ) -> Losses:
        """Take so many steps; gives their mean losses.

        The learning rate goes from ``first`` to ``last``, in shares of the one it was made with.
        """
        self.estimator.train()
        total = torch.zeros(3)
        for number in range(batches):
            rate = first + (last - first) * number / batches
            for group in self.optimizer.param_groups:
                group["lr"] = self._learning_rate * rate
            losses = self.step(settlements.draw(self._batch, generator))
            total += torch.stack(losses).detach().cpu()
        self.estimator.eval()
        return Losses(*(total / max(batches, 1)))

    def step(self, drawn: dict[str, NDArray[np.float32]]) -> Losses:
        """Take one step on drawn settlements."""
        device = self.estimator.device
        told = {name: torch.as_tensor(array, device=device) for name, array in drawn.items()}
        losses = settlement_losses(self.estimator(told), told)
        self.optimizer.zero_grad()
        losses.total().backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.estimator.parameters(), 1.0)
        self.optimizer.step()
        return losses
