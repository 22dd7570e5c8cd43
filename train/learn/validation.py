"""Evaluation of a model in training: fixed materials, masked, deterministic, in native batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.policies.base import Policy, attribute
from memenvs.train.optima import Optima
from memenvs.train.places import Instance
from memenvs.train.play import units_in

TIME_LIMIT = 10.0  # seconds for the frontier of one material
SMALL = 8  # slots
# By which measure of a seat the best model is chosen, and its sign. An asker pays for straying.
BEST_BY = {"writer": ("utility", 1.0), "poisoner": ("utility", -1.0), "asker": ("reward", 1.0)}
FINAL = ("utility", "coverage", "precision", "water_inflation", "size", "settled", "illegal_action")


class Validation:
    """Materials to evaluate on, in a batch whose observations are those that the model knows."""

    def __init__(self, env: VecEnv, materials: Sequence[Material]) -> None:
        self.env = env
        self.materials = list(materials)
        self._rules: Rules = attribute(env, "rules")
        self._optima = Optima(TIME_LIMIT)

    @property
    def decisions(self) -> int:
        """Steps of an evaluation, those that nobody counts among them."""
        inner: Any = self.env.unwrapped
        chunks: int = -(-len(self.materials) // inner.episodes)
        return chunks * self.env.num_envs * int(inner.decisions)

    def prepare(self) -> None:
        """Solve the frontiers beforehand, at every size where the memory is small."""
        slots = self._rules.capacity
        for material in self.materials if self._rules.budget is None else ():
            sizes = range(1 if slots <= SMALL else slots, slots + 1)
            self._optima.average(material, self._rules, [float(size) for size in sizes])

    def evaluate(self, model: Any) -> dict[str, float]:
        """Play every material once; gives means, and without a budget the share of the frontier."""
        ended = self.play(model)
        means = {name: float(values.mean()) for name, values in ended.items()}
        means["illegal_action"] = float(ended["illegal_action"].sum())
        return means | (self._against_the_best(ended) if self._rules.budget is None else {})

    def play(self, model: Any) -> dict[str, FloatArray]:
        """Play one episode of each material; gives what ``info`` held at their ends: ``(M,)``.

        Of the seats of a game the rewards are averaged, and their illegal actions added up.
        """
        instances = [Instance(material.name, material) for material in self.materials]
        seeds = [unit.seed for unit in units_in(instances)]
        inner: Any = self.env.unwrapped
        size = inner.episodes
        ended: dict[str, list[float]] = {name: [] for name in (*FINAL, "reward")}
        for start in range(0, len(self.materials), size):
            stop = min(start + size, len(self.materials))
            for final in self._chunk(model, self.materials[start:stop], seeds[start:stop]):
                for name, values in ended.items():
                    values.append(float(final[name]))
        return {name: np.array(values) for name, values in ended.items()}

    def _chunk(
        self, model: Any, materials: Sequence[Material], seeds: Sequence[int]
    ) -> list[dict[str, Any]]:
        inner: Any = self.env.unwrapped
        size, rows, count = inner.episodes, self.env.num_envs, len(materials)
        filled = [place % count for place in range(size)]  # the rest plays along, uncounted
        inner.give([materials[place] for place in filled], [seeds[place] for place in filled])
        observation = self.env.reset()
        finals: list[dict[str, Any] | None] = [None] * count
        state, begun = None, np.ones(rows, dtype=bool)
        while any(final is None for final in finals):
            actions, state = act(model, observation, state, begun)
            observation, _, begun, infos = self.env.step(actions)
            for place in np.flatnonzero(begun[:count]).tolist():
                if finals[place] is None:
                    finals[place] = _together(infos[place::size])
        return [final for final in finals if final is not None]

    def _against_the_best(self, ended: dict[str, FloatArray]) -> dict[str, float]:
        """Share of the frontier at S, and U*(|M|) − u(M), by the environment's objective (means).

        At level 0 the frontier is its mean over the queries that may be asked.
        """
        sizes = ended["size"].astype(int).tolist()
        top = np.array([self._optimum(m, self._rules.capacity) for m in self.materials])
        own = np.array([self._optimum(m, n) for m, n in zip(self.materials, sizes, strict=True)])
        utility, solvable = ended["utility"], top > 0
        return {
            "share": float((utility[solvable] / top[solvable]).mean()) if solvable.any() else 0.0,
            "efficiency_loss": float((own - utility).mean()),
        }

    def _optimum(self, material: Material, size: int) -> float:
        """Best value of so many claims, or its upper bound where optimality is not proved."""
        return self._optima.average(material, self._rules, [float(size)])[0].bound


def _together(seats: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sum up the infos of the seats of one episode that ended."""
    return seats[0] | {
        "illegal_action": sum(info["illegal_action"] for info in seats),
        "reward": sum(info["episode"]["r"] for info in seats) / len(seats),
    }


def act(
    model: Any, observation: Any, state: Any, begun: NDArray[np.bool_]
) -> tuple[NDArray[Any], Any]:
    """Give the deterministic actions of a model or of a policy of ours, and its state.

    Our networks give logits at any number of claims and slots; SB3's ``predict`` would refuse other
    sizes than those of training.
    """
    if isinstance(model, Policy):
        return model.predict(observation, state, begun)
    policy = model.policy
    if hasattr(policy, "action_logits"):
        tensors = {name: torch.as_tensor(a, device=model.device) for name, a in observation.items()}
        with torch.no_grad():
            logits = policy.action_logits(tensors).cpu().numpy()
        if logits.shape[1] == 1:
            return np.clip(logits, -1.0, 1.0), None
        legal = observation["action_mask"].astype(bool)
        return np.where(legal, logits, -np.inf).argmax(axis=1), None
    if isinstance(model, MaskablePPO):
        masks = observation["action_mask"]
        return model.predict(observation, deterministic=True, action_masks=masks)[0], None
    found: tuple[NDArray[Any], Any] = model.predict(observation, state, begun, deterministic=True)
    return found
