"""Train the weights of the policy ``pretrained``: a logistic start, then rewards of coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.errors import MaterialError
from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.material.material import Material
from memenvs.policies.learned.pretrained import RunningStatistics, Weights, columns_of
from memenvs.policies.learned.supervised import useful_mass

# What the words of a claim say by themselves, in any text.
COLUMNS = (
    "length",
    "digits",
    "capitals",
    "time_words",
    "first_person",
    "second_person",
    "question",
)
SHARES = (0.1, 0.25)  # of the claims that are kept, drawn anew at each step
MEMORIES = 16  # that are drawn at each step
REGULARISATION = 0.01  # scikit-learn's C
RATE = 0.02  # of Adam, falling to a tenth
PULL = 0.02  # towards the start
CREDITS = 3.0  # of log(1 + settled successes)
AGEING = 64.0  # over an episode, of claims without successes where answers need several


@dataclass(frozen=True)
class Text:
    """A training material as it is read once, in order, in the environment."""

    material: Material
    columns: FloatArray  # (E, f)

    @classmethod
    def read(cls, material: Material) -> Text:
        """Let an episode pass, and take the columns of every considered claim."""
        env = MemorizationEnv(material, capacity=1)
        if not env.layout.limits.texts:
            raise MaterialError("has claims without text; give texts", file=material.name)
        rows: list[NDArray[Any]] = []
        observation, _ = env.reset(seed=0)
        over = False
        while not over:
            rows.append(observation["claim"])
            observation, _, over, _, _ = env.step(env.actions.PASS)
        zero = (0.0,) * len(COLUMNS)
        return cls(material, columns_of(np.array(rows), COLUMNS, zero, env.layout))

    def standardised(self, weights: Weights) -> FloatArray:
        """Give each claim's columns by the statistics when it was read: ``(E, f)``."""
        running = RunningStatistics.begun(weights, 1)
        found = []
        for row in self.columns:
            running = running.read(row[None], np.array([True]))
            found.append(running.standardised(row[None, None])[0, 0])
        return np.array(found)


def pretrain(
    materials: Sequence[Material], *, steps: int = 400, seed: int = 0, card: dict[str, Any]
) -> Weights:
    """Fit the weights on materials of texts; ``steps=0`` gives the logistic start.

    A step draws a material and a capacity, then memories by adding Gumbel noise to the claims'
    worth; the reward of a memory is the coverage of all queries, and its baseline the mean of the
    others. The weights are pulled to the start, and averaged over the second half. Raises
    ``MaterialError`` for claims without text, ``ValueError`` where nothing or all is asked about.
    """
    from sklearn.linear_model import LogisticRegression

    texts = [Text.read(material) for material in materials]
    columns = np.concatenate([text.columns for text in texts])
    deviation = np.maximum(columns.std(axis=0), 1e-3)
    zero = np.zeros(len(COLUMNS))

    def made(weights: FloatArray) -> Weights:
        mean, spread, slopes = (
            tuple(a.tolist()) for a in (columns.mean(axis=0), deviation, weights)
        )
        return Weights(COLUMNS, mean, spread, slopes, CREDITS, AGEING, card)

    read = [text.standardised(made(zero)) for text in texts]
    asked = np.concatenate([useful_mass(material) > 0 for material in materials])
    if asked.all() or not asked.any():
        raise ValueError("every claim is asked about, or none; give materials where some are")
    logistic = LogisticRegression(C=REGULARISATION, max_iter=2000)
    start = logistic.fit(np.concatenate(read), asked).coef_[0]
    return made(_reinforced(start, list(zip(materials, read, strict=True)), steps, seed))


def _reinforced(
    start: FloatArray, texts: Sequence[tuple[Material, FloatArray]], steps: int, seed: int
) -> FloatArray:
    rng = np.random.default_rng(seed)
    weights, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
    kept = [start] if steps < 2 else []
    for step in range(steps):
        material, columns = texts[int(rng.integers(len(texts)))]
        capacity = max(1, round(len(columns) * rng.choice(SHARES)))
        noise = rng.gumbel(size=(MEMORIES, len(columns)))
        orders = np.argsort(-(columns @ weights + noise), axis=1)[:, :capacity]
        rewards = np.asarray(material.coverage(_memories(orders, len(columns))))
        advantage = (rewards - rewards.mean()) * MEMORIES / (MEMORIES - 1)
        slopes = np.array([log_slope(columns, weights, order) for order in orders])
        slope = advantage @ slopes / MEMORIES - PULL * (weights - start)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        size = np.sqrt(second / (1 - 0.99 ** (step + 1))) + 1e-8
        rate = RATE * (1 - 0.9 * step / steps)
        weights = weights + rate * first / (1 - 0.9 ** (step + 1)) / size
        if step >= steps // 2:
            kept.append(weights)
    return np.asarray(np.mean(kept, axis=0))


def _memories(orders: NDArray[np.int64], claims: int) -> BoolArray:
    held = np.zeros((len(orders), claims), dtype=bool)
    np.put_along_axis(held, orders, values=True, axis=1)
    return held


def log_slope(columns: FloatArray, weights: FloatArray, order: NDArray[np.int64]) -> FloatArray:
    """Give the slope ``(f,)`` of the log-probability that Gumbel noise draws this order.

    Each claim is drawn in proportion to exp(worth) among those that are left (Plackett-Luce).
    """
    worth = columns @ weights
    mass = np.exp(worth - worth.max())
    drawn = columns[order]
    gone = np.cumsum(mass[order]) - mass[order]
    moved = mass[order, None] * drawn
    left = (mass[:, None] * columns).sum(axis=0) - (np.cumsum(moved, axis=0) - moved)
    return np.asarray((drawn - left / (mass.sum() - gone)[:, None]).sum(axis=0))
