"""Fits the reading estimator: play, learn from what was settled, play by what was learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from torch import Tensor

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.material.incidence import BoolArray, IntArray
from memenvs.policies.base import State
from memenvs.policies.learned.networks.asked import Asked
from memenvs.policies.learned.networks.fitting import EARLY, Progress, explore, silent
from memenvs.policies.learned.networks.history import NO_CLAIM, Read
from memenvs.policies.learned.networks.reading import ReadingEstimator, Told, reading_loss
from memenvs.policies.learned.reader_greedy import READ, SHOWN, ReaderGreedy

Arrays = dict[str, NDArray[Any]]
BYTES = 1 << 29  # that the kept settlements may take


def fit_reader(
    env: MemorizationVectorEnv,
    *,
    steps: int = 65_536,
    rounds: int = 4,
    passes: float = 8.0,
    exploration: float = 0.1,
    batch: int = 64,
    learning_rate: float = 4e-3,
    hidden: int = 64,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress = silent,
) -> ReadingEstimator:
    """Fit an estimator by ``steps`` steps in ``env``, whose materials are to be training ones.

    Rounds and passes are those of ``fit_estimator``. Raises ``ValueError`` for an environment that
    resets in another step than the last, or whose settlements do not say what was named of what
    was read.
    """
    if env.autoreset_mode != AutoresetMode.SAME_STEP:
        raise ValueError("fit_reader needs autoreset_mode='SameStep'")
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    estimator = ReadingEstimator(env.layout, hidden).to(device)
    player = ReaderGreedy(env, seed, [estimator])
    lessons = Lessons(env, player, generator)
    optimizer = torch.optim.Adam(estimator.parameters(), lr=learning_rate)
    for number in range(rounds):
        for _ in range(0, steps // rounds, env.num_envs):
            lessons.step(exploration if number else 1.0)
            progress(env.num_envs)
        told = lessons.told()
        estimator.typical.copy_(torch.as_tensor(typical(told, generator, len(estimator.typical))))
        final = number == rounds - 1
        size = len(told["stored"])
        batches = round((passes if final else EARLY) * size / batch)
        estimator.train()
        for place in range(batches):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * (1 - place / batches if final else 1.0)
            drawn = generator.integers(size, size=batch)
            loss = score(estimator, told, drawn, player.questions.k)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(estimator.parameters(), 1.0)
            optimizer.step()
        estimator.eval()
    return estimator


def score(estimator: ReadingEstimator, told: Arrays, places: IntArray, k: int) -> Tensor:
    """Give the loss on some of what was told, by place."""
    device = estimator.device
    drawn = {name: torch.as_tensor(array[places], device=device) for name, array in told.items()}
    settled = Told(*(drawn[name] for name in Told._fields))
    true, answers, similarity = estimator({name: drawn[name] for name in SHOWN}, settled.queries)
    return reading_loss(true, answers, similarity, settled, k)


def typical(told: Arrays, generator: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Draw queries that were settled: ``(count, d)``."""
    queries = told["queries"][told["outcome"] != 0]
    return np.asarray(queries[generator.integers(len(queries), size=count)])


class Lessons:
    """Plays a batch of episodes, and keeps what was known before each settlement and told by it.

    Where they would take more than ``BYTES`` the oldest make way.
    """

    def __init__(
        self, env: MemorizationVectorEnv, player: ReaderGreedy, generator: np.random.Generator
    ) -> None:
        self._env, self._player, self._generator = env, player, generator
        layout = env.layout
        self._vector = layout.slice("embedding", "queries")
        self._outcome = layout.index("outcome", "queries")
        self._record = [layout.index(name, "claim") for name in ("credits", "debits")]
        self._kept: list[Arrays] = []
        first = player.start(np.arange(env.num_envs))
        self._seen, self._state = player.follow(env.reset(seed=player.seed)[0], first)

    def told(self) -> Arrays:
        """Give all that is kept: the fields of ``Told``, and what was known before."""
        size = sum(array[0].nbytes for array in self._kept[0].values())
        most = max(1, BYTES // size)
        joined = {
            name: np.concatenate([each[name] for each in self._kept])[-most:]
            for name in self._kept[0]
        }
        self._kept = [joined]
        return joined

    def step(self, share: float) -> None:
        """Take a step in every episode, a share of the actions at random."""
        actions = explore(self._player, self._seen, share, self._generator)
        observation, _, terminated, truncated, infos = self._env.step(actions)
        over = terminated | truncated
        shown = {name: array.copy() for name, array in observation.items()}
        for i in over.nonzero()[0].tolist():
            for name, array in shown.items():
                array[i] = infos["final_obs"][i][name]
        seen, state = self._player.follow(shown, self._state)
        self._keep(shown, state)
        if over.any():
            self._begin_anew(over, observation, seen, state)
        self._seen, self._state = seen, state

    def _begin_anew(self, over: BoolArray, observation: Arrays, seen: Arrays, state: State) -> None:
        """Put the first observations of new episodes where others are over."""
        first = self._player.start(np.arange(int(over.sum())))
        begun, states = self._player.follow({n: a[over] for n, a in observation.items()}, first)
        for name, array in begun.items():
            seen[name][over] = array
        for old, new in zip(state, states, strict=True):
            old[over] = new

    def _keep(self, shown: Arrays, state: State) -> None:
        """Keep what was settled in a step, and what was known before it."""
        before, after = Read(*self._state[:READ]), Read(*state[:READ])
        asked, told = Asked(*self._state[READ:]), Asked(*state[READ:])
        fresh = told.size - asked.size
        places = self._seen["places"]  # (B, C)
        row = np.arange(len(places))[:, None]
        stored = (places[..., None] == after.slots[:, None]).any(axis=-1) & (places != NO_CLAIM)
        kept = np.flatnonzero((fresh > 0) & stored.any(axis=1))
        if not len(kept):
            return
        gained = (after.claims[row, places] - before.claims[row, places]) * stored[..., None]
        credits, debits = (gained[..., column] for column in self._record)
        alone = fresh == 1
        last = np.maximum(told.size - 1, 0)[:, None]
        queries = shown["queries"]
        new = np.arange(queries.shape[1]) < fresh[:, None]
        found = {name: self._seen[name] for name in SHOWN} | {
            "queries": queries[..., self._vector],
            "outcome": queries[..., self._outcome] * new,
            "stored": stored,
            "alone": alone,
            "status": told.known[row, places, last] * (stored & alone[:, None]),
            "truth": np.sign(credits - debits),
        }
        self._kept.append({name: array[kept] for name, array in found.items()})
