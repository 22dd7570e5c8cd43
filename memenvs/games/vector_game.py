"""What the games of several agents share: a batch of episodes, stepped in array operations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.envs.arguments import read_actions
from memenvs.envs.family import GAME
from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.state import Batch
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.rows import Rows
from memenvs.envs.seeds import Seeds
from memenvs.envs.shell import Shell
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material

Observations = dict[str, dict[str, NDArray[Any]]]  # by agent: arrays (B, ...)
Values = dict[str, NDArray[Any]]  # by agent: (B,)
Infos = dict[str, dict[str, NDArray[Any]]]


class VectorGame(Shell):
    """B episodes of a game; every agent that is alive acts in each step.

    Args:
        single: the memorization environment by whose rules claims are written and settled.
        num_envs: B, number of episodes.
        autoreset: begin an episode anew in the step that ends it (``final_*`` in the infos then
            hold what it ended with); else ``reset`` has to be called.
        max_cycles: steps after which an episode is truncated, unless it ends with them.

    ``reset`` has the options ``"material"``, a material or its number, for all or a sequence of one
    for each, and ``"reset_mask"`` ``(B,)``, which begins some episodes anew; others raise
    ``ValueError``. Everything is by agent: observations are dictionaries of arrays ``(B, ...)``
    with the agent's ``action_mask``, rewards and flags are ``(B,)``. An agent that finished before
    the others is terminated and goes on seeing the memory, no claim and a mask of its first action
    alone; what it is told to do is ignored. It earns what its side earns, so that learning credits
    it to the end.
    Infos have the same keys from the reset to the end: what an episode ends with is zero before,
    and ``final`` ``(B,)`` says where it is there.
    """

    family = GAME
    limit_name = "max_cycles"

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
        self.open(num_envs, max_cycles)
        self.autoreset = autoreset
        self.materials = materials
        self.rules: Rules = single.rules
        self.layout, self.actions = single.layout, single.actions
        self.illegal: dict[str, IntArray] = {}  # (B,) actions that broke the mask, by agent
        self._bank = Bank(materials, self.layout, self.rules.disclosure, num_envs)
        self._bank_rows = np.zeros(num_envs, dtype=np.int64)  # (B,) of each episode's material
        self._batch: Batch | None = None
        self._live = dict.fromkeys(self.possible_agents, np.zeros(num_envs, dtype=bool))
        self._batched = {
            name: batch_space(space, num_envs) for name, space in self.action_spaces.items()
        }

    @abstractmethod
    def deal(self, part: Rows, rows: IntArray, keys: NDArray[np.uint64]) -> None:
        """Begin episodes with materials of the bank."""

    @abstractmethod
    def play(self, part: Rows, actions: Mapping[str, NDArray[Any]]) -> dict[str, FloatArray]:
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
        self, *, seed: Seeds = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin all episodes, or some; ``seed`` s seeds episode i with s + i."""
        rows = self.begin_chosen(seed, options)
        self._revive(rows)
        observations = self.observe()
        infos, now = self._ends(self.rows(np.zeros(0, dtype=np.int64))), self._now()
        return observations, {name: infos[name] | now[name] for name in self.possible_agents}

    def step(
        self, actions: Mapping[str, NDArray[Any]]
    ) -> tuple[Observations, Values, Values, Values, Infos]:
        """Let every agent act; gives observations, rewards, terminated, truncated and infos.

        Raises ``RuntimeError`` where an episode is over and was not reset, and ``ValueError`` for
        actions that are missing, or of another shape or type.
        """
        self.check_begun()
        if self.done.any():
            raise RuntimeError("an episode is over; call reset()")
        actions = {name: self._action(name, actions) for name in self.possible_agents}
        before = self._live
        rewards = self.play(self.all, actions)
        self.elapsed += 1
        after = self.live()
        terminated = {name: before[name] & ~after[name] for name in self.possible_agents}
        over = ~np.logical_or.reduce(list(after.values()))
        late = self.late() & ~over
        truncated = {name: after[name] & late for name in self.possible_agents}
        self._live = {name: after[name] & ~late for name in self.possible_agents}
        self.done = over | late
        ended = self.rows(self.done.nonzero()[0])
        last: Observations = {}
        if ended.size and self.autoreset:
            last = self.observe()
        infos = self._ends(ended)
        if last:
            self.begin_rows(ended)
            self._revive(ended)
        observations = self.observe()
        for name, now in self._now().items():
            seen = {f"final_{key}": array for key, array in last.get(name, {}).items()}
            infos[name] |= seen | now
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
        """Agents that did not finish: ``(B,)`` each; at first all of them."""
        return self._live

    @property
    def over(self) -> BoolArray:
        """Episodes that ended and were not reset: ``(B,)``."""
        return self.done

    @property
    def max_cycles(self) -> int | None:
        """Steps after which an episode is truncated."""
        return self._limit

    @max_cycles.setter
    def max_cycles(self, steps: int | None) -> None:
        self._limit = steps

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

    def check_instance(self, given: Any) -> int | Material:
        """Give a material that fits, in the order in which it is read, or the number of one."""
        if not isinstance(given, Material):
            return self.materials.place(given)
        arranged = self.materials.arrange(given)
        self.materials.prepare(arranged, self.layout)
        return arranged

    def begin(self, rows: Rows, keys: NDArray[np.uint64], wanted: Sequence[Any] | None) -> None:
        """Begin episodes with materials that are wanted or drawn."""
        busy = np.delete(self._bank_rows, rows.numbers)
        places = self._bank.draw(keys, busy, wanted)
        self._bank_rows[rows.at] = places
        if self._batch is None:
            self._batch = self.make_batch(self._bank)
            self.illegal = {
                name: np.zeros(self.num_envs, dtype=np.int64) for name in self.possible_agents
            }
        for counts in self.illegal.values():
            counts[rows.at] = 0
        self.deal(rows, places, keys)

    def finals(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """Utilities of memories, and the rightly answered share of what was settled: ``(n,)``."""
        batch, at = self.batch, rows.at
        return batch.finals(rows) | {
            "answered": batch.answered[at] / np.maximum(batch.settled[at], 1)
        }

    def _revive(self, rows: Rows) -> None:
        """Mark every agent of some episodes as active, at their beginning."""
        for name, alive in self._live.items():
            self._live[name] = alive.copy()
            self._live[name][rows.at] = True

    def _action(self, name: str, actions: Mapping[str, Any]) -> NDArray[Any]:
        """Give the actions of an agent: ``(B, ...)``."""
        if name not in actions:
            raise ValueError(f"no actions were given for {name}")
        try:
            found = read_actions(actions[name], self._batched[name])
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return found if self.action_spaces[name].shape else found.astype(np.int64)

    def _ends(self, ended: Rows) -> Infos:
        """Give what the episodes ended with that did, zeros for the others."""
        finals = self.spread_finals(ended)
        final = np.zeros(self.num_envs, dtype=bool)
        final[ended.at] = True
        return {
            name: {
                **{key: values.copy() for key, values in finals.items()},
                "final": final.copy(),
                "final_illegal_action": self.illegal[name] * final,
            }
            for name in self.possible_agents
        }

    def _now(self) -> Infos:
        """Give what the infos say of the step that comes; after ``observe``."""
        told: Infos = {name: {"illegal_action": n.copy()} for name, n in self.illegal.items()}
        for name, mask in self.masks().items():
            if self.numbered(name):
                told[name]["action_mask"] = mask
        return told

    def numbered(self, name: str) -> bool:
        """Whether an agent's actions are numbered, and so have a mask that is shown."""
        return isinstance(self.action_spaces[name], spaces.Discrete)
