"""Evaluation of a model in training: fixed materials, masked, deterministic, in native batches."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from memenvs.envs.family import MEMORIZATION, Family
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.policies.base import Policy, attribute
from memenvs.policies.learned.models import WRITER
from memenvs.train.learn.wrapping import carry
from memenvs.train.optima import Optima
from memenvs.train.places import Instance
from memenvs.train.units import units_in

TIME_LIMIT = 10.0  # seconds for the frontier of one material
SMALL = 8  # slots
LONGEST = 10_000  # steps of an episode; one that goes on is taken for endless
# By which measure the best of a writer's opponents is chosen. An asker pays for straying.
OPPONENT_BY = {"poisoner": ("utility", -1.0), "asker": ("reward", 1.0)}


class Validation:
    """Instances to evaluate on, in a batch whose observations are those that the model knows.

    Instances are materials, scenarios, numbers of pages, or nothing but names for the seeds.
    """

    def __init__(self, env: VecEnv, instances: Sequence[Instance]) -> None:
        self.env = env
        self.instances = list(instances)
        inner: Any = env.unwrapped
        self.finals: tuple[str, ...] = inner.finals
        self._rules: Rules | None = None
        if inner.family is MEMORIZATION:
            self._rules = attribute(env, "rules")
        self._optima = Optima(TIME_LIMIT)

    @property
    def decisions(self) -> int:
        """Steps of an evaluation, those past the ends of episodes among them."""
        inner: Any = self.env.unwrapped
        chunks: int = -(-len(self.instances) // inner.episodes)
        return chunks * self.env.num_envs * int(inner.decisions)

    @property
    def _has_frontier(self) -> bool:
        return self._rules is not None and self._rules.budget is None

    def prepare(self) -> None:
        """Solve the frontiers beforehand, at every size where the memory is small."""
        if self._rules is None or not self._has_frontier:
            return
        slots = self._rules.capacity
        for instance in self.instances:
            sizes = range(1 if slots <= SMALL else slots, slots + 1)
            self._optima.average(instance.value, self._rules, [float(size) for size in sizes])

    def evaluate(self, model: Any, carried: Any = None) -> dict[str, float]:
        """Play every instance once; gives means, and without a budget the share of the frontier.

        ``carried`` is what the environments of the training kept so far; it stays as it is.
        """
        if carried is not None:
            carry(self.env, deepcopy(carried))
        ended = self.play(model)
        means = {name: mean(values) for name, values in ended.items()}
        if "illegal_action" in ended:
            means["illegal_action"] = float(ended["illegal_action"].sum())
        return means | (self._against_the_best(ended) if self._has_frontier else {})

    def play(self, model: Any) -> dict[str, FloatArray]:
        """Play one episode of each instance; gives what ``info`` held at their ends: ``(M,)``.

        Of the seats of a game the rewards are averaged, and their illegal actions added up.
        """
        seeds = [unit.seed for unit in units_in(self.instances)]
        inner: Any = self.env.unwrapped
        size = inner.episodes
        ended: dict[str, list[float]] = {name: [] for name in (*self.finals, "reward")}
        for start in range(0, len(self.instances), size):
            stop = min(start + size, len(self.instances))
            for final in self._chunk(model, self.instances[start:stop], seeds[start:stop]):
                for name, values in ended.items():
                    values.append(float(final.get(name, "nan")))
        return {name: np.array(values) for name, values in ended.items()}

    def _chunk(
        self, model: Any, instances: Sequence[Instance], seeds: Sequence[int]
    ) -> list[dict[str, Any]]:
        inner: Any = self.env.unwrapped
        size, rows, count = inner.episodes, self.env.num_envs, len(instances)
        filled = [place % count for place in range(size)]  # the rest plays along, uncounted
        inner.give([instances[place].value for place in filled], [seeds[place] for place in filled])
        observation = self.env.reset()
        finals: list[dict[str, Any] | None] = [None] * count
        state, begun = None, np.ones(rows, dtype=bool)
        for _ in range(LONGEST):
            actions, state = act(model, observation, state, begun, masks_of(self.env))
            observation, _, begun, infos = self.env.step(actions)
            for place in np.flatnonzero(begun[:count]).tolist():
                if finals[place] is None:
                    finals[place] = _together(infos[place::size])
            if None not in finals:
                return [final for final in finals if final is not None]
        raise ValueError(
            f"an episode did not end within {LONGEST:,} steps; register the environment with "
            "max_episode_steps"
        )

    def _against_the_best(self, ended: dict[str, FloatArray]) -> dict[str, float]:
        """Share of the frontier at S, and U*(|M|) − u(M), by the environment's objective (means).

        At level 0 the frontier is its mean over the queries that may be asked.
        """
        sizes = ended["size"].astype(int).tolist()
        assert self._rules is not None
        materials = [instance.value for instance in self.instances]
        top = np.array([self._optimum(m, self._rules.capacity) for m in materials])
        own = np.array([self._optimum(m, n) for m, n in zip(materials, sizes, strict=True)])
        utility, solvable = ended["utility"], top > 0
        return {
            "share": float((utility[solvable] / top[solvable]).mean()) if solvable.any() else 0.0,
            "efficiency_loss": float((own - utility).mean()),
        }

    def _optimum(self, material: Material, size: int) -> float:
        """Best value of so many claims, or its upper bound where optimality is not proved."""
        assert self._rules is not None
        return self._optima.average(material, self._rules, [float(size)])[0].bound


def best_by(seat: str, family: Family | None) -> tuple[str, float]:
    """Say by which measure the best model is chosen, and its sign."""
    if seat != WRITER:
        return OPPONENT_BY[seat]
    return ("reward" if family is None else family.score), 1.0


def mean(values: Sequence[float] | FloatArray) -> float:
    """Average what is defined; NaN where nothing is."""
    defined = [float(value) for value in values if value == value]
    return float(np.mean(defined)) if defined else float("nan")


def _together(seats: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sum up the infos of the seats of one episode that ended."""
    reward = sum(info["episode"]["r"] for info in seats) / len(seats)
    illegal = [info["illegal_action"] for info in seats if "illegal_action" in info]
    return seats[0] | {"reward": reward} | ({"illegal_action": sum(illegal)} if illegal else {})


def takes_masks(model: Any) -> bool:
    """Whether a model of stable-baselines3 has to be told which actions are legal."""
    return isinstance(model, MaskablePPO)


def masks_of(env: VecEnv) -> NDArray[np.bool_] | None:
    """Give the legal actions ``(rows, n)`` of a batch; None where every action is legal."""
    return np.stack(env.env_method("action_masks")) if env.has_attr("action_masks") else None


def act(
    model: Any,
    observation: Any,
    state: Any,
    begun: NDArray[np.bool_],
    masks: NDArray[np.bool_] | None,
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
        assert masks is not None
        return np.where(masks, logits, -np.inf).argmax(axis=1), None
    if takes_masks(model):
        return model.predict(observation, deterministic=True, action_masks=masks)[0], None
    found: tuple[NDArray[Any], Any] = model.predict(observation, state, begun, deterministic=True)
    return found
