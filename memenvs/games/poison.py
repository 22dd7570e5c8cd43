"""Poisoner and writer: false claims are put into the stream while it is read.

State: the memory, what was read, put there and settled. Actions: the poisoner attacks a query with
a false claim that imitates a source, or waits; the writer decides about the claim that arrives.
Rewards: the writer earns what it answers, the poisoner loses that. Episode: a material is read,
with at most a budget of false claims in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.compiled import SOURCE, tabulates
from memenvs.envs.memorization.batch.state import Batch
from memenvs.envs.memorization.columns import Column
from memenvs.envs.memorization.layout import Columns
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.rules import HISTORY
from memenvs.envs.rows import Rows
from memenvs.games.poison_rows import PoisonRows
from memenvs.games.poison_targets import LEVELS, Injections
from memenvs.games.queries import Queries
from memenvs.games.vector_game import Observations, VectorGame
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.materials.library import Source
from memenvs.reading.answers import ALL

WRITER, POISONER = "writer_0", "poisoner_0"
WAIT = 0  # the poisoner's action without an attack

SOURCE_COLUMNS: dict[str, Column] = {
    "read": Column(0, 1, "share of the stream that it spoke so far"),
    "credits": Column(0, 1e6, "its settled successes"),
    "debits": Column(0, 1e6, "its settled failures"),
    "valid": Column(0, 1, "1: it has spoken, and can be imitated"),
}
CONTEXT_COLUMNS: dict[str, Column] = {
    "reading_left": Column(0, 1, "claims of the material to be read, as a share"),
    "budget_left": Column(0, 1, "false claims that are left, as a share"),
    "settled": Column(0, 1, "settled share of the scheduled queries"),
    "answered": Column(0, 1, "rightly answered share of the settled queries"),
    "poison": Column(0, 1, "1: the claim that the writer decides about is a false one of these"),
}


class PoisonerWriter(VectorGame):
    """B episodes of a writer and a poisoner.

    Args:
        material, settings: as for ``MemorizationEnv``; the game is zero-sum on their ``utility``.
        poison: budget, the number of false claims that may be put into the stream.
        sources: sources that can be imitated, in the order in which they first speak (default: as
            many as the first material has).
        num_envs, autoreset, max_cycles: as for ``VectorGame``.

    Action 0 of the poisoner waits; ``attack(query, source, level)`` gives the others. The false
    claim is read next. It is worded like the true claim that answers the query alone and answers
    most besides (by the query's own words where there is none), with noise, and is taken for an
    answer to the same queries; its confidence and cues are those of a real claim, drawn from the
    lower, middle or upper third of the material's. The spaces hold ``poison`` claims more than the
    material has, whether or not they are used. Raises ``MaterialError`` for truths between 0 and 1,
    and ``ValueError`` where the materials are too large for tables of similarities.
    """

    def __init__(
        self,
        material: Source | Sequence[Material],
        *,
        poison: int = 6,
        sources: int | None = None,
        num_envs: int = 1,
        autoreset: bool = True,
        max_cycles: int | None = None,
        **settings: Any,
    ) -> None:
        for name, number in (("poison", poison), ("sources", sources)):
            if number is not None and number < 1:
                raise ValueError(f"{name}={number!r} is not a positive integer")
        plain = MemorizationEnv(material, **settings)
        claims = plain.layout.limits.claims + poison
        single = MemorizationEnv(material, **{**settings, "max_claims": claims})
        # No limited reader ranks what is made up in the course of an episode.
        fixed = {"access": "stream", "disclosure": "settled", "reader": ALL}
        for name, wanted in fixed.items():
            if (given := getattr(single.rules, name)) != wanted:
                raise ValueError(f"a poisoner needs {name}={wanted!r}, not {given!r}")
        if not tabulates(single.layout):
            raise ValueError(
                f"a poisoner needs smaller materials than {claims} claims and "
                f"{single.layout.limits.queries} queries"
            )
        first = single.materials.draw(np.uint64(0))
        self.sources = sources or max(1, len({claim.source for claim in first.claims} - {""}))
        self.possible_agents = (WRITER, POISONER)
        self.queries = Queries(single.layout, num_envs)
        self.source_columns = Columns.build(SOURCE_COLUMNS, {})
        self.context_columns = Columns.build(CONTEXT_COLUMNS, {})
        attacks = 1 + self.queries.count * self.sources * len(LEVELS)
        assert isinstance(single.observation_space, spaces.Dict)
        self.observation_spaces = {
            WRITER: single.observation_space,
            POISONER: spaces.Dict(
                {
                    "queries": self.queries.space,
                    "sources": self.source_columns.box(self.sources),
                    "context": self.context_columns.box(),
                    "action_mask": spaces.MultiBinary(attacks),
                }
            ),
        }
        self.action_spaces = {WRITER: single.action_space, POISONER: spaces.Discrete(attacks)}
        super().__init__(
            single, single.materials, num_envs=num_envs, autoreset=autoreset, max_cycles=max_cycles
        )
        self.poison = poison
        self._rows = PoisonRows(self._bank, self.layout, poison, num_envs)
        self._never = claims + 1
        self._cursor = np.zeros(num_envs, dtype=np.int64)  # next real claim
        self._length = np.zeros(num_envs, dtype=np.int64)  # of the material
        self._current = np.zeros(num_envs, dtype=np.int64)
        self.used = np.zeros(num_envs, dtype=np.int64)  # (B,) false claims so far
        self._read: BoolArray = np.zeros((num_envs, claims + 2), dtype=bool)
        self._episode_keys = np.zeros(num_envs, dtype=np.uint64)

    def attack(self, query: Any, source: Any, level: Any) -> Any:
        """Number the action that attacks a query as a source of that number, from 0, would."""
        return 1 + (query * self.sources + source) * len(LEVELS) + level

    def make_batch(self, bank: Bank) -> Batch:
        """Make the arrays of the episodes, with a row of its own for each."""
        self._rows.begin(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        # What a batch asks of its bank the rows answer.
        return super().make_batch(self._rows)  # type: ignore[arg-type]

    def deal(self, part: Rows, rows: IntArray, keys: NDArray[np.uint64]) -> None:
        """Begin episodes without poison."""
        at = part.at
        self._rows.begin(part.numbers, rows)
        self.batch.begin(part, part.numbers, keys)
        self.queries.begin(part, self._rows.arrays, part.numbers)
        self._length[at] = self._rows.claims[at] - self.poison
        self._cursor[at] = 1
        self._current[at] = 0
        self.used[at] = 0
        self._read[at] = False
        self._episode_keys[at] = keys

    def play(self, part: Rows, actions: Mapping[str, NDArray[Any]]) -> dict[str, FloatArray]:
        """Let the writer decide, and the poisoner put a claim after that; settle what is due."""
        batch = self.batch
        attacks = self._attacks(np.asarray(actions[POISONER]))
        self._read[np.arange(self.num_envs), self._current] = True
        self.queries.read(self.all, batch)
        batch.act(self.all, np.asarray(actions[WRITER]))
        self.illegal[WRITER][:] = batch.illegal
        following = np.where(self._cursor < self._length, self._cursor, self._never)
        attacking = (attacks >= 0).nonzero()[0]
        upcoming = following.copy()
        if len(attacking):
            upcoming[attacking] = self._put(attacking, attacks[attacking], following[attacking])
        waits = np.ones(self.num_envs, dtype=bool)
        waits[attacking] = False
        self._cursor += waits & (following != self._never)
        self._current = upcoming
        drawn = batch.account.drawn.copy()
        earned = batch.advance(self.all, (upcoming == self._never).nonzero()[0])
        self._count(drawn)
        batch.observer.consider(self.all, upcoming)
        return {WRITER: earned, POISONER: -earned}

    def live(self) -> dict[str, BoolArray]:
        """Both go on until the stream ends."""
        going = ~self.batch.is_over()
        return {WRITER: going, POISONER: going.copy()}

    def observe(self) -> Observations:
        """Show the writer what it sees alone, and the poisoner queries, sources and its budget."""
        batch = self.batch
        context = np.stack([self._context()[name] for name in self.context_columns.slices], axis=1)
        return {
            WRITER: batch.observer.copy(self.all),
            POISONER: {
                "queries": self.queries.observe(batch.scheduled),
                "sources": self._sources(),
                "context": context.astype(np.float32),
                "action_mask": self.masks()[POISONER],
            },
        }

    def masks(self) -> dict[str, NDArray[np.int8]]:
        """Legal actions: attacks while there is a budget, as sources that have spoken."""
        able = (self.used < self.poison) & ~self.batch.is_over()
        asked = able[:, None] & (self.queries.weight > 0)
        spoken = self._sources()[..., self.source_columns.slices["valid"].start] > 0
        legal = asked[:, :, None] & spoken[:, None]
        mask = np.ones((self.num_envs, self.action_spaces[POISONER].n), dtype=np.int8)  # type: ignore[attr-defined]
        mask[:, 1:] = np.repeat(legal.reshape(self.num_envs, -1), len(LEVELS), axis=1)
        return {WRITER: self.batch.buffers.mask[:, :-1].copy(), POISONER: mask}

    def words(self, episode: int, claim: int) -> str:
        """Name a claim, and whether it is true."""
        if claim < int(self._length[episode]):
            return super().words(episode, claim)
        return f"poison {claim - int(self._rows.claim(0))} (truth 0)"

    def _attacks(self, actions: IntArray) -> IntArray:
        """Give the attacks ``(B,)`` by number, -1 for none; an illegal action is a wait."""
        legal = self.legal(POISONER, actions)
        return np.asarray(np.where(legal, actions - 1, -1))

    def _put(self, episodes: IntArray, attacks: IntArray, following: IntArray) -> IntArray:
        """Put false claims into episodes; gives their numbers."""
        pair, level = np.divmod(attacks, len(LEVELS))
        query, source = np.divmod(pair, self.sources)
        claims = self._rows.put(
            Injections(
                episodes=episodes,
                query=query,
                source=source + 1,
                level=level,
                place=self.used[episodes],
                current=self._current[episodes],
                following=following,
                read=self._read[episodes],
                keys=self._episode_keys[episodes],
            )
        )
        self.used[episodes] += 1
        self._tell(episodes, claims)
        return claims

    def _tell(self, episodes: IntArray, claims: IntArray) -> None:
        """Let the running episodes know the new claims: their bits, and their topics' frequency."""
        batch, arrays = self.batch, self._rows.arrays
        batch.memory.bits[episodes, claims] = arrays["bits"][episodes, claims]
        drawn = batch.account.drawn[episodes]
        draws = batch.account.draws[episodes]
        near = np.maximum(arrays["asked"][episodes[:, None], draws, claims[:, None]], 0.0)
        settled = np.arange(draws.shape[1]) < drawn[:, None]
        mean = (near * settled).sum(axis=1) / np.maximum(drawn, 1)
        batch.records.frequency[episodes, claims] = mean

    def _count(self, drawn: IntArray) -> None:
        """Enter what was settled since ``drawn`` queries, as the poisoner may know it."""
        batch = self.batch
        settled = np.minimum(batch.account.drawn - drawn, HISTORY)
        if self.rules.feedback == "none":
            return
        for count in np.unique(settled[settled > 0]).tolist():
            part = batch.part((settled == count).nonzero()[0])
            places = batch.account.drawn[part.at][:, None] - count + np.arange(count)
            queries = batch.account.draws[part.numbers[:, None], places]
            self.queries.settle(part, queries, batch.records.outcomes(part, count))

    def _sources(self) -> NDArray[np.float32]:
        """Give the rows of all sources ``(B, sources, width)``."""
        batch, columns = self.batch, self.source_columns.slices
        numbers = np.arange(1, 1 + self.sources)
        tags = self._rows.arrays["tags"][..., SOURCE]
        said = (tags[..., None] == numbers) & self._read[..., None]
        count = said.sum(axis=1)
        rows = np.zeros((self.num_envs, self.sources, self.source_columns.width), dtype=np.float32)
        records = np.zeros((self.num_envs, self.sources, 2), dtype=np.float32)
        known = batch.records.sources[:, 1 : 1 + self.sources]
        records[:, : known.shape[1]] = known
        rows[..., columns["read"].start] = count / batch.decisions[:, None]
        rows[..., columns["credits"].start] = records[..., 0]
        rows[..., columns["debits"].start] = records[..., 1]
        rows[..., columns["valid"].start] = count > 0
        return rows

    def _context(self) -> dict[str, NDArray[Any]]:
        batch = self.batch
        return {
            "reading_left": 1 - np.minimum(self._cursor, self._length) / self._length,
            "budget_left": 1 - self.used / self.poison,
            "settled": np.minimum(batch.settled / batch.scheduled, 1.0),
            "answered": batch.answered / np.maximum(batch.settled, 1),
            "poison": (self._current >= self._rows.claim(0)) & (self._current != self._never),
        }
