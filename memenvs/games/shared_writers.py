"""Shared writers: several agents, each reading a stream of its own, write into one memory.

State: the memory, what each stream showed and what was settled. Action of each agent: what to do
with its claim, as in the memorization environment. Reward: what the queries of the round paid, to
all alike, or to each what its own claims added. Episode: a material, read round by round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.counter import ORDER, uniforms
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.rows import Rows
from memenvs.games.streams import STREAMS, Streams, interleave, owners, rounds
from memenvs.games.vector_game import Infos, Observations, VectorGame
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.materials.library import Source

Credit = Literal["team", "individual"]
CREDITS: tuple[Credit, ...] = ("team", "individual")


class SharedWriters(VectorGame):
    """B episodes of n writers over one memory of S slots.

    Args:
        material, settings: as for ``MemorizationEnv``; claims arrive in streams.
        writers: n, number of agents ``writer_0`` to ``writer_{n-1}``.
        streams: what is dealt out to them: claims by ``"source"``, by ``"group"``, or in
            ``"turns"``.
        credit: ``"team"`` pays every writer what was settled in the round; ``"individual"`` pays
            it what would have been lost without the claims of its own stream.
        num_envs, autoreset, max_cycles: as for ``VectorGame``.

    All writers see the memory as it was when the round began, and (``others``) which slots hold
    claims of other streams than their own; they write in an order that is drawn anew for each
    round. A write into the free slot goes to the next free one where another writer was there
    first. A write or clear of a slot that changed hands in this round, and a write that no longer
    fits, are passes: they are counted in ``conflicts``, and are not illegal. Every decision counts
    for the schedule of settlements. A writer that no stream is left for leaves in the first step.
    One writer alone plays the memorization environment.
    """

    def __init__(
        self,
        material: Source | Sequence[Material],
        *,
        writers: int = 2,
        streams: Streams = "source",
        credit: Credit = "team",
        num_envs: int = 1,
        autoreset: bool = True,
        max_cycles: int | None = None,
        **settings: Any,
    ) -> None:
        if writers < 1:
            raise ValueError(f"writers={writers!r} is not a positive integer")
        for name, given, known in (("streams", streams, STREAMS), ("credit", credit, CREDITS)):
            if given not in known:
                raise ValueError(f"{name}={given!r} is unknown; choose from {', '.join(known)}")
        single = MemorizationEnv(material, **settings)
        if single.rules.access != "stream" or single.rules.disclosure != "settled":
            raise ValueError(
                "shared writers read streams, and learn of queries by settlement: leave access and "
                "disclosure as they are"
            )
        self.possible_agents = tuple(f"writer_{number}" for number in range(writers))
        assert isinstance(single.observation_space, spaces.Dict)
        # Objects of their own: each agent's space is seeded by itself.
        self.observation_spaces = {name: _space(single, writers) for name in self.possible_agents}
        self.action_spaces = {name: _actions(single) for name in self.possible_agents}
        self.streams: Streams = streams
        self._individual = credit == "individual"
        arranged = single.materials.arranged(partial(interleave, writers=writers, streams=streams))
        super().__init__(
            single, arranged, num_envs=num_envs, autoreset=autoreset, max_cycles=max_cycles
        )
        limit = single.layout.limits.claims
        self._never = limit + 1
        # (B, R + 1, n) claims by round; the last round of all has none.
        self._rounds = np.full((num_envs, limit + 1, writers), self._never)
        self._owner = np.full((num_envs, limit + 2), -1)  # (B, L)
        self._round = np.zeros(num_envs, dtype=np.int64)
        self._lengths = np.zeros((num_envs, writers), dtype=np.int64)
        self._episode_keys = np.zeros(num_envs, dtype=np.uint64)
        self.conflicts = np.zeros((num_envs, writers), dtype=np.int64)
        self._masks = np.zeros((num_envs, writers, _width(single)), dtype=np.int8)

    def deal(self, part: Rows, rows: IntArray, keys: NDArray[np.uint64]) -> None:
        """Begin episodes: deal out the claims."""
        self.batch.begin(part, rows, keys)
        self._round[part.at] = 0
        self._episode_keys[part.at] = keys
        self.conflicts[part.at] = 0
        self._rounds[part.at] = self._never
        self._owner[part.at] = -1
        for number, row in zip(part.numbers.tolist(), rows.tolist(), strict=True):
            owner, table = self._bank.worked_out(row, self._deal)
            self._owner[number, : len(owner)] = owner
            self._rounds[number, : len(table)] = np.where(table < 0, self._never, table)
            self._lengths[number] = (table >= 0).sum(axis=0)

    def play(self, part: Rows, actions: Mapping[str, NDArray[Any]]) -> dict[str, FloatArray]:
        """Let the writers of a round decide one after another; settle what is due."""
        batch, writers = self.batch, len(self.possible_agents)
        chosen = np.stack([np.asarray(actions[name]) for name in self.possible_agents], axis=1)
        everyone = np.arange(self.num_envs)
        begun = batch.memory.claims.copy()  # (S, B) as the writers saw it
        draws = uniforms(
            self._episode_keys[:, None],
            ORDER,
            self._round[:, None] * writers + np.arange(writers),
        )
        order = draws.argsort(axis=1)
        rewards = np.zeros((self.num_envs, writers))
        for place in range(writers):
            writer = order[:, place]
            claims = self._rounds[everyone, self._round, writer]
            acting = batch.part((claims != self._never).nonzero()[0])
            if not acting.size:
                continue
            batch.observer.consider(acting, claims[acting.at])
            taken = self._resolve(acting, writer[acting.at], chosen, begun)
            batch.act(acting, taken)
            rewards[acting.at] += self._advance(acting)
        self._round += 1
        return {name: rewards[:, place] for place, name in enumerate(self.possible_agents)}

    def live(self) -> dict[str, BoolArray]:
        """Say whose streams go on."""
        left = self._round[:, None] < self._lengths
        return {name: left[:, place] for place, name in enumerate(self.possible_agents)}

    def observe(self) -> Observations:
        """Show each writer its claim, beside the memory that all of them see."""
        batch = self.batch
        found: Observations = {}
        for place, name in enumerate(self.possible_agents):
            claims = self._rounds[np.arange(self.num_envs), self._round, place]
            batch.observer.consider(self.all, claims)
            found[name] = batch.observer.copy(self.all)
            if len(self.possible_agents) > 1:
                found[name]["others"] = self._others(place)
            if self.rules.action == "priority":
                self._masks[:, place] = 1
                continue
            mask = found[name]["action_mask"]
            finished = claims == self._never
            mask[finished] = 0
            mask[finished, self.actions.PASS] = 1
            self._masks[:, place] = mask
        return found

    def masks(self) -> dict[str, NDArray[np.int8]]:
        """Legal actions, as the writers last saw them."""
        return {
            name: self._masks[:, place].copy() for place, name in enumerate(self.possible_agents)
        }

    def _others(self, writer: int) -> NDArray[np.int8]:
        """Mark the slots that hold a claim of another stream than a writer's: ``(B, S)``."""
        owner = np.take_along_axis(self._owner, self.batch.memory.claims.T, axis=1)
        return np.asarray((owner >= 0) & (owner != writer), dtype=np.int8)

    def _ends(self, ended: Rows) -> Infos:
        """Tell each writer of its conflicts, too."""
        infos = super()._ends(ended)
        for place, name in enumerate(self.possible_agents):
            counts = np.zeros(self.num_envs, dtype=np.int64)
            counts[ended.at] = self.conflicts[ended.at, place]
            infos[name]["conflicts"] = counts
        return infos

    def _deal(self, material: Material) -> tuple[IntArray, IntArray]:
        writers = len(self.possible_agents)
        owner = owners(material, writers, self.streams)
        return owner, rounds(owner, writers)

    def _resolve(
        self, part: Rows, writer: IntArray, chosen: NDArray[Any], begun: IntArray
    ) -> NDArray[Any]:
        """Turn what writers chose when the round began into what can be done now: ``(n, ...)``."""
        wanted = chosen[part.numbers, writer]
        if self.rules.action == "priority":
            self._count_illegal(part, writer, np.isfinite(wanted).all(axis=1))
            return wanted
        actions, capacity = self.actions, self.rules.capacity
        wanted = wanted.astype(np.int64)
        known = (wanted >= 0) & (wanted < actions.n)
        legal = known & (self._masks[part.numbers, writer, np.where(known, wanted, 0)] > 0)
        if not legal.all():
            self._refuse(part, writer, legal, wanted)
        wanted = np.where(legal, wanted, actions.PASS)
        slot = (wanted - 1) % capacity
        now = self.batch.memory.claims[slot, part.numbers]
        touched = (wanted != actions.PASS) & (now != begun[slot, part.numbers])
        # Who wanted the free slot takes the next one; every other slot that changed hands is lost.
        writes = (wanted >= actions.first_write) & (wanted < actions.first_write + capacity)
        free = ~self.batch.memory.occupied[:, part.at]
        moves = touched & writes & (begun[slot, part.numbers] == self._never) & free.any(axis=0)
        wanted = np.where(moves, actions.first_write + free.argmax(axis=0), wanted)
        mask = self.batch.buffers.mask[part.at]
        possible = mask[np.arange(part.size), wanted] > 0
        lost = (touched & ~moves) | ~possible
        np.add.at(self.conflicts, (part.numbers[lost], writer[lost]), 1)
        return np.where(lost, actions.PASS, wanted)

    def _refuse(self, part: Rows, writer: IntArray, legal: BoolArray, wanted: IntArray) -> None:
        if self.rules.strict:
            place = int((~legal).argmax())
            name = self.possible_agents[int(writer[place])]
            raise ValueError(
                f"{name}: {self.actions.name(int(wanted[place]))} is illegal here; the legal ones "
                "stand in action_mask"
            )
        self._count_illegal(part, writer, legal)

    def _count_illegal(self, part: Rows, writer: IntArray, legal: BoolArray) -> None:
        for place, name in enumerate(self.possible_agents):
            self.illegal[name][part.numbers[~legal & (writer == place)]] += 1

    def _advance(self, part: Rows) -> FloatArray:
        """Count a decision and settle; gives what each writer earns ``(n, writers)``."""
        batch, writers = self.batch, len(self.possible_agents)
        drawn = batch.account.drawn[part.at].copy()
        earned = batch.advance(part)
        if not self._individual:
            return np.repeat(earned[:, None], writers, axis=1)
        added = np.zeros((part.size, writers))
        count = batch.account.drawn[part.at] - drawn
        for number in np.unique(count[count > 0]).tolist():
            settled = (count == number).nonzero()[0]
            each = batch.part(part.numbers[settled])
            for place in range(writers):
                lost = self._without(each, place, drawn[settled], number)
                added[settled, place] = earned[settled] - lost
        return added

    def _without(self, part: Rows, writer: int, drawn: IntArray, count: int) -> FloatArray:
        """Give what the last ``count`` queries would have paid without a writer's claims."""
        batch = self.batch
        bitmap = np.where(self._owner == writer, np.uint8(0), batch.memory.bitmap)
        if self.rules.settlement == "expected":
            return np.asarray(count * batch.account.masses(part, bitmap[part.at]).utility)
        batch.account.drawn[part.at] = drawn
        answers = batch.account.settle(part, count, bitmap)
        return np.asarray(answers.answered.sum(axis=1), dtype=np.float64)


def _width(single: MemorizationEnv) -> int:
    return 1 if single.rules.action == "priority" else single.actions.n


def _space(single: MemorizationEnv, writers: int) -> spaces.Dict:
    slots = single.rules.capacity
    alone = single.layout.space(slots, _width(single)).spaces
    others = {"others": spaces.MultiBinary(slots)} if writers > 1 else {}
    return spaces.Dict({**alone, **others})


def _actions(single: MemorizationEnv) -> spaces.Space[Any]:
    if single.rules.action == "priority":
        return spaces.Box(-1.0, 1.0, (1,))
    return spaces.Discrete(single.actions.n)
