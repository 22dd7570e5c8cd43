"""Asker and writer: an exam setter chooses the queries that are settled.

State: the memory, what was read and what was asked. Actions: the writer decides about the claim
that arrives, the asker picks a query where one is to be settled. Rewards: the writer earns what it
answers; the asker what the writer misses, less a price for straying from p_D. Episode: a material
is read with questions in between, and an exam ends it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.columns import Column
from memenvs.envs.memorization.layout import Columns
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.rows import Rows
from memenvs.games.queries import Queries
from memenvs.games.vector_game import Observations, VectorGame
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.materials.library import Source

WRITER, ASKER = "writer_0", "asker_0"
WAIT = 0  # the asker's action that leaves it to p_D; query q is action 1 + q
MOST = 20.0  # a divergence above is shown as this one

CONTEXT_COLUMNS: dict[str, Column] = {
    "reading_left": Column(0, 1, "claims to be read, as a share"),
    "asked": Column(0, 1, "share of the queries that were asked"),
    "missed": Column(0, 1, "share of those that were missed"),
    "divergence": Column(0, MOST, "of what was asked from p_D, in nats"),
    "due": Column(0, 1, "1: a query is to be settled after this step"),
}


class AskerWriter(VectorGame):
    """B episodes of a writer and an asker.

    Args:
        material, settings: as for ``MemorizationEnv``. One query is settled at a time: ``closing``
            is the number of steps of the exam, in which the writer can only pass.
        price: p of the asker's reward: misses - p KL(asked || p_D), the divergence in nats of the
            frequencies with which queries were asked, paid as it grows.
        num_envs, autoreset, max_cycles: as for ``VectorGame``.

    The asker may ask any query of positive mass, as often as it likes, where one is to be settled.
    Where it waits, or acts illegally, the query is drawn from p_D.
    """

    def __init__(
        self,
        material: Source | Sequence[Material],
        *,
        price: float = 2.0,
        num_envs: int = 1,
        autoreset: bool = True,
        max_cycles: int | None = None,
        **settings: Any,
    ) -> None:
        single = MemorizationEnv(material, **settings)
        rules = single.rules
        if not 0 <= price < np.inf:
            raise ValueError(f"price={price!r} is not a finite number from 0")
        fixed = {"access": "stream", "disclosure": "settled", "settlement": "sampled", "queries": 1}
        for name, wanted in fixed.items():
            if getattr(rules, name) != wanted:
                raise ValueError(f"an asker needs {name}={wanted!r}, not {getattr(rules, name)!r}")
        self.price = price
        self.possible_agents = (WRITER, ASKER)
        self.queries = Queries(single.layout, num_envs)
        count = self.queries.count
        self.context_columns = Columns.build(CONTEXT_COLUMNS, {})
        assert isinstance(single.observation_space, spaces.Dict)
        self.observation_spaces = {
            WRITER: single.observation_space,
            ASKER: spaces.Dict(
                {
                    "queries": self.queries.space,
                    "context": self.context_columns.box(),
                    "action_mask": spaces.MultiBinary(1 + count),
                }
            ),
        }
        self.action_spaces = {
            WRITER: single.action_space,
            ASKER: spaces.Discrete(1 + count),
        }
        super().__init__(
            single, single.materials, num_envs=num_envs, autoreset=autoreset, max_cycles=max_cycles
        )
        self._divergence = np.zeros(num_envs)

    def deal(self, part: Rows, rows: IntArray, keys: NDArray[np.uint64]) -> None:
        """Begin episodes: nothing was asked."""
        self.batch.begin(part, rows, keys)
        self.queries.begin(part, self._bank.arrays, rows)
        self._divergence[part.at] = 0

    def play(self, part: Rows, actions: Mapping[str, NDArray[Any]]) -> dict[str, FloatArray]:
        """Let the writer decide, and settle what the asker picks."""
        batch = self.batch
        due = self._due()
        picked = self._pick(due, np.asarray(actions[ASKER]))
        reading = batch.part((~batch.is_over()).nonzero()[0])
        if reading.size:
            self.queries.read(reading, batch)
            batch.act(reading, np.asarray(actions[WRITER])[reading.at])
            batch.decision[reading.at] += 1
        self.illegal[WRITER][:] = batch.illegal
        earned, grown = np.zeros(self.num_envs), np.zeros(self.num_envs)
        settling = batch.part(due.nonzero()[0])
        if settling.size:
            account = batch.account
            chosen = picked[settling.at] >= 0
            numbers = settling.numbers[chosen]
            account.draws[numbers, account.drawn[numbers]] = picked[numbers]
            queries = account.draws[settling.numbers, account.drawn[settling.at]]
            earned[settling.at] = batch.settle_queries(settling, 1)
            self.queries.settle(settling, queries[:, None], earned[settling.at][:, None] > 0)
            grown[settling.at] = self._stray(settling)
        batch.observer.consider(self.all, None)
        return {WRITER: earned, ASKER: due - earned - self.price * grown}

    def live(self) -> dict[str, BoolArray]:
        """Both go on until the exam is over."""
        going = self.batch.settled < self.batch.scheduled
        return {WRITER: going, ASKER: going.copy()}

    def observe(self) -> Observations:
        """Show the writer what it sees alone, and the asker the queries."""
        context = np.stack([self._context()[name] for name in self.context_columns.slices], axis=1)
        return {
            WRITER: self.batch.observer.copy(self.all),
            ASKER: {
                "queries": self.queries.observe(self.batch.scheduled),
                "context": context.astype(np.float32),
                "action_mask": self.masks()[ASKER],
            },
        }

    def masks(self) -> dict[str, NDArray[np.int8]]:
        """Legal actions: to wait, and any query where one is to be settled."""
        due = self._due()
        mask = np.zeros((self.num_envs, 1 + self.queries.count), dtype=np.int8)
        mask[:, WAIT] = 1
        mask[:, 1:] = due[:, None] & (self.queries.weight > 0)
        return {WRITER: self.batch.buffers.mask[:, :-1].copy(), ASKER: mask}

    def _due(self) -> BoolArray:
        """Say where a query is settled after the next step: ``(B,)``."""
        batch = self.batch
        between = (batch.decision + 1 == batch.due) & (batch.due < batch.decisions)
        return np.asarray((between | batch.is_over()) & (batch.settled < batch.scheduled))

    def _pick(self, due: BoolArray, actions: IntArray) -> IntArray:
        """Give the queries that are asked ``(B,)``, -1 where the asker picked none."""
        legal = self.legal(ASKER, actions)
        return np.asarray(np.where(legal & due, actions - 1, -1))

    def _stray(self, part: Rows) -> FloatArray:
        """Give by how much the divergence of some episodes grew: ``(n,)``."""
        asked = self.queries.settled[:, part.at].sum(axis=0)
        share = asked / asked.sum(axis=1, keepdims=True)
        weight = np.where(share > 0, self.queries.weight[part.at], 1.0)
        now = (share * np.log(np.where(share > 0, share, 1.0) / weight)).sum(axis=1)
        grown = now - self._divergence[part.at]
        self._divergence[part.at] = now
        return np.asarray(grown)

    def _context(self) -> dict[str, NDArray[Any]]:
        batch = self.batch
        settled = batch.settled
        return {
            "reading_left": 1 - batch.decision / batch.decisions,
            "asked": settled / batch.scheduled,
            "missed": (settled - batch.answered) / np.maximum(settled, 1),
            "divergence": np.clip(self._divergence, 0.0, MOST),
            "due": self._due(),
        }
