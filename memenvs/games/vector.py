"""What the games of several agents share: a batch of episodes, stepped in array operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.buffers import Part
from memenvs.envs.memorization.batch.state import Batch
from memenvs.envs.memorization.env import MemorizationEnv
from memenvs.envs.memorization.keys import Keys
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material

Observations = dict[str, dict[str, NDArray[Any]]]  # by agent: arrays (B, ...)
Values = dict[str, NDArray[Any]]  # by agent: (B,)
Infos = dict[str, dict[str, NDArray[Any]]]


class VectorGame(ABC):
    """B episodes of a game; every agent that is alive acts in each step.

    Args:
        single: the memorization environment by whose rules claims are written and settled.
        num_envs: B, number of episodes.
        autoreset: begin an episode anew in the step that ends it (``final_*`` in the infos then
            hold what it ended with); else ``reset`` has to be called.
        max_cycles: steps after which an episode is truncated, unless it ends with them.

    Everything is by agent: observations are dictionaries of arrays ``(B, ...)`` with the agent's
    ``action_mask``, rewards and flags are ``(B,)``. An agent that finished before the others is
    terminated and goes on seeing the memory, no claim and a mask of its first action alone; what it
    is told to do is ignored. It earns what its side earns, so that learning credits it to the end.
    """

    render_mode = None  # a batch is not rendered
    possible_agents: tuple[str, ...]
    observation_spaces: dict[str, spaces.Dict]
    action_spaces: dict[str, spaces.Space[Any]]

    def __init__(
        self,
        single: MemorizationEnv,
        materials: Materials,
        *,
        num_envs: int,
        autoreset: bool,
        max_cycles: int | None,
    ) -> None:
        for name, number in (("num_envs", num_envs), ("max_cycles", max_cycles)):
            if number is not None and number < 1:
                raise ValueError(f"{name}={number!r} is not a positive integer")
        self.num_envs = num_envs
        self.autoreset = autoreset
        self.max_cycles = max_cycles
        self.materials = materials
        self.rules: Rules = single.rules
        self.layout, self.actions = single.layout, single.actions
        self.all = Part.of(np.arange(num_envs), num_envs)
        self.elapsed = np.zeros(num_envs, dtype=np.int64)
        self.illegal: dict[str, IntArray] = {}  # (B,) actions that broke the mask, by agent
        self._bank = Bank(materials, self.layout, self.rules.disclosure, num_envs)
        self._keys = Keys(num_envs)
        self._bank_rows = np.zeros(num_envs, dtype=np.int64)  # (B,) of each episode's material
        self._batch: Batch | None = None
        self._over = np.zeros(num_envs, dtype=bool)  # episodes that ended and were not reset
        self._live = dict.fromkeys(self.possible_agents, np.zeros(num_envs, dtype=bool))

    @abstractmethod
    def begin(self, part: Part, rows: IntArray, keys: NDArray[np.uint64]) -> None:
        """Begin episodes with materials of the bank."""

    @abstractmethod
    def play(self, part: Part, actions: Mapping[str, NDArray[Any]]) -> dict[str, FloatArray]:
        """Take one step in some episodes; ``actions`` and the rewards are ``(n, ...)``."""

    @abstractmethod
    def live(self) -> dict[str, BoolArray]:
        """Say which agents still have something to do: ``(B,)`` each."""

    @abstractmethod
    def observe(self) -> Observations:
        """Give what every agent sees, as the caller's own arrays ``(B, ...)``."""

    @abstractmethod
    def masks(self) -> dict[str, NDArray[np.int8]]:
        """Legal actions of every agent ``(B, n)``; never none."""

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observations, Infos]:
        """Begin all episodes; ``seed`` s seeds episode i with s + i.

        ``options["material"]`` is a material or its number, for all, or a sequence for each.
        """
        self._keys.seed(seed, np.ones(self.num_envs, dtype=bool))
        self._begin(self.all, self._wanted((options or {}).get("material")))
        self._live = {name: np.ones(self.num_envs, bool) for name in self.possible_agents}
        return self.observe(), self._infos()

    def step(
        self, actions: Mapping[str, NDArray[Any]]
    ) -> tuple[Observations, Values, Values, Values, Infos]:
        """Let every agent act; gives observations, rewards, terminated, truncated and infos.

        Raises ``RuntimeError`` where an episode is over and was not reset, and ``ValueError`` for
        actions that are missing or of another shape.
        """
        if self._over.any():
            raise RuntimeError("an episode is over; call reset()")
        actions = {name: self._action(name, actions) for name in self.possible_agents}
        before = self._live
        rewards = self.play(self.all, actions)
        self.elapsed += 1
        after = self.live()
        terminated = {name: before[name] & ~after[name] for name in self.possible_agents}
        over = ~np.logical_or.reduce(list(after.values()))
        late = np.zeros(self.num_envs, dtype=bool)
        if self.max_cycles is not None:
            late = (self.elapsed >= self.max_cycles) & ~over
        truncated = {name: after[name] & late for name in self.possible_agents}
        self._live = {name: after[name] & ~late for name in self.possible_agents}
        self._over = over | late
        infos: Infos = {}
        ended = self._over.nonzero()[0]
        if len(ended):
            infos = self._final_infos()
            if self.autoreset:
                last = self.observe()
                for name in self.possible_agents:
                    infos[name] |= {f"final_{key}": array for key, array in last[name].items()}
                fresh = self._over.copy()
                self._begin(self.batch.part(ended))
                self._live = {name: alive | fresh for name, alive in self._live.items()}
        observations = self.observe()
        for name, info in self._infos().items():
            infos[name] = infos.get(name, {}) | info
        return observations, rewards, terminated, truncated, infos

    def legal(self, name: str, actions: IntArray) -> BoolArray:
        """Say which actions of an agent ``(B,)`` are legal, and count the others.

        Raises ``ValueError`` that names the first of them where the rules are strict.
        """
        mask = self.masks()[name]
        known = (actions >= 0) & (actions < mask.shape[1])
        legal = known & (mask[np.arange(self.num_envs), np.where(known, actions, 0)] > 0)
        if self.rules.strict and not legal.all():
            raise ValueError(
                f"{name}: action {int(actions[(~legal).argmax()])} is illegal here; the legal "
                "ones stand in action_mask"
            )
        self.illegal[name] += ~legal
        return np.asarray(legal)

    @property
    def batch(self) -> Batch:
        """The running episodes; raises ``RuntimeError`` before the first reset."""
        if self._batch is None:
            raise RuntimeError("no episode has begun; call reset()")
        return self._batch

    @property
    def alive(self) -> dict[str, BoolArray]:
        """Agents that did not finish: ``(B,)`` each; all of them at first, as nobody yet acted."""
        return self._live

    @property
    def over(self) -> BoolArray:
        """Episodes that ended and were not reset: ``(B,)``."""
        return self._over

    def material(self, episode: int) -> Material:
        """Give the material of an episode; for oracles and evaluation, not for policies."""
        batch = self.batch
        return batch.bank.material(int(batch.account.row[episode]))

    def describe(self, episode: int) -> list[str]:
        """Say in lines of text what an episode is like, truth included."""
        material, batch = self.material(episode), self.batch
        decision, last = int(batch.decision[episode]), int(batch.decisions[episode])
        lines = [f"{material.name}: {decision} of {last} claims decided about"]
        for slot, claim in enumerate(batch.memory.claims[:, episode].tolist()):
            held = "empty" if claim == batch.never else self.words(episode, claim)
            lines.append(f"slot {slot}: {held}")
        settled, right = int(batch.settled[episode]), int(batch.answered[episode])
        return [*lines, f"answered {right} of {settled} settled queries"]

    def words(self, episode: int, claim: int) -> str:
        """Name a claim, and whether it is true."""
        record = self.material(episode).claims[claim]
        return f"{record.text or record.id} (truth {float(record.truth):g})"

    def make_batch(self, bank: Bank) -> Batch:
        """Make the arrays of the episodes, once the bank holds a first material."""
        return Batch(self.rules, self.actions, self.layout, bank, self.num_envs)

    def _begin(self, part: Part, wanted: Sequence[int | Material] | None = None) -> None:
        keys = self._keys.take(part)
        busy = np.delete(self._bank_rows, part.numbers)
        rows = self._bank.draw(keys, busy) if wanted is None else self._bank.give(wanted, busy)
        self._bank_rows[part.at] = rows
        if self._batch is None:
            self._batch = self.make_batch(self._bank)
            self.illegal = {
                name: np.zeros(self.num_envs, dtype=np.int64) for name in self.possible_agents
            }
        for counts in self.illegal.values():
            counts[part.at] = 0
        self.elapsed[part.at] = 0
        self._over[part.at] = False
        self.begin(part, rows, keys)

    def _action(self, name: str, actions: Mapping[str, Any]) -> NDArray[Any]:
        """Give the actions of an agent: ``(B, ...)``."""
        if name not in actions:
            raise ValueError(f"no actions were given for {name}")
        space = self.action_spaces[name]
        found, shape = np.asarray(actions[name]), (self.num_envs, *(space.shape or ()))
        if found.shape != shape:
            raise ValueError(f"{name}: actions have shape {found.shape}, not {shape}")
        return found if space.shape else found.astype(np.int64)

    def _wanted(self, material: Any) -> list[int | Material] | None:
        if material is None:
            return None
        if isinstance(material, Material) or np.ndim(material) == 0:
            material = [material] * self.num_envs
        if len(material) != self.num_envs:
            raise ValueError(
                f"{len(material)} materials were given for {self.num_envs} environments"
            )
        return [
            self.materials.arrange(each)
            if isinstance(each, Material)
            else self.materials.place(each)
            for each in material
        ]

    def _infos(self) -> Infos:
        masks = self.masks()
        return {
            name: {"action_mask": masks[name], "illegal_action": self.illegal[name].copy()}
            for name in self.possible_agents
        }

    def _final_infos(self) -> Infos:
        """Utilities of the memories of episodes that are over: ``(B,)`` for every agent.

        ``answered`` is the rightly answered share of what was settled.
        """
        part = self.batch.part(self._over.nonzero()[0])
        masses = self.batch.masses(part)
        values = {
            "coverage": masses.coverage,
            "precision": masses.precision,
            "water_inflation": masses.coverage - masses.precision,
            "size": self.batch.memory.count[part.at],
            "utility": masses.utility,
            "settled": self.batch.earned[part.at],
            "answered": self.batch.answered[part.at] / np.maximum(self.batch.settled[part.at], 1),
        }
        final: dict[str, NDArray[Any]] = {"final": self._over.copy()}
        for key, found in values.items():
            final[key] = np.zeros(self.num_envs)
            final[key][part.at] = found
        return {
            name: {**final, "final_illegal_action": self.illegal[name].copy()}
            for name in self.possible_agents
        }
